"""A slip in the name of an option or a command: the program says which word it does not know and what it may have been.

Every command and every option is tried; none of them runs.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from okn_benchmark.cli.app import build

APP = build()


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it."""
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, one in below.items():
        yield from commands(one, (*path, name))


# ``proxy`` is another program's command line.
COMMANDS = [(path, one) for path, one in commands(typer.main.get_command(APP)) if path != ("proxy",)]
OPTIONS = [
    (path, option)
    for path, one in COMMANDS
    for parameter in one.params
    for option in parameter.opts
    if option.startswith("--")
]


def told(*argv: str) -> tuple[int, str]:
    """Exit code and what was said, without frames and line ends."""
    done = CliRunner().invoke(APP, argv)
    return done.exit_code, " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(("path", "option"), OPTIONS, ids=[" ".join((*path, option)) for path, option in OPTIONS])
def test_an_option_with_a_slip(path: tuple[str, ...], option: str) -> None:
    slip = option[:-1] + ("x" if option[-1] != "x" else "y")
    code, said = told(*path, slip)
    assert code == 2
    assert f"No such option: {slip}" in said
    assert option in said


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_short_help(path: tuple[str, ...]) -> None:
    code, said = told(*path, "-h")
    assert code == 0
    assert f"Usage: okn-benchmark {' '.join(path)}" in said


@pytest.mark.parametrize("path", [path for path, _ in COMMANDS], ids=" ".join)
def test_a_command_with_a_slip(path: tuple[str, ...]) -> None:
    slip = path[-1][0] + path[-1][2:]
    code, said = told(*path[:-1], slip)
    assert code == 2
    assert f"No such command '{slip}'" in said
    assert path[-1] in said
