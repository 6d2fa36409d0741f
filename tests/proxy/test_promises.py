"""Each promise has a test and each test names a promise."""

import importlib
import pkgutil
import re

import tests.faults
import tests.proxy
from tests.proxy.promises import CLAIMED, PROMISES

PACKAGES = (tests.proxy, tests.faults)


def _test_modules() -> list[str]:
    found = []
    for package in PACKAGES:
        found += [f"{package.__name__}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    return [name for name in found if name.rpartition(".")[2].startswith("test_")]


def test_every_promise_has_a_test() -> None:
    for name in _test_modules():
        importlib.import_module(name)
    assert sorted(set(PROMISES) - set(CLAIMED)) == []


def test_every_test_names_a_promise() -> None:
    silent = []
    for name in _test_modules():
        module = importlib.import_module(name)
        for attribute, value in vars(module).items():
            if attribute.startswith("test_") and callable(value) and name != __name__:
                silent += [] if vars(value).get("promises") else [f"{name}.{attribute}"]
    assert silent == []


def test_a_promise_is_one_sentence() -> None:
    for name, sentence in PROMISES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert sentence.endswith(".")
        assert ". " not in sentence
