"""``declared.toml`` in a runs root: what a study said before it ran. Whatever it does not name is exploratory.

hypotheses = ["the route tools raise exact answers"]
declared = ["tools", "ablation"]      # kinds of comparison that form the declared families
primary = "exact"
margin = 0.05                         # for two one-sided tests
blocked_gap = 0.10                    # arms whose blocked shares differ by more are not compared
stop_rule = "three attempts of every question, no looking in between"
"""

import tomllib
from typing import Any, Final, get_args

from okn_benchmark.errors import InputError
from okn_benchmark.report.contrasts import BLOCKED_GAP, Kind
from okn_benchmark.report.view import Declared
from okn_benchmark.runs.layout import RunsRoot

FILE: Final = "declared.toml"
_KEYS: Final = {"hypotheses", "declared", "primary", "margin", "blocked_gap", "stop_rule"}


def read_declared(root: RunsRoot) -> Declared:
    """The declaration of a root; an empty one where there is no file.

    Raises:
        InputError: it is not TOML, has an unknown key, or a value of the wrong kind.
    """
    path = root.path / FILE
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Declared()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    unknown = sorted(set(value) - _KEYS)
    if unknown:
        raise InputError(f"{path}: unknown key {unknown[0]!r}.", hint=f"Known keys: {', '.join(sorted(_KEYS))}.")
    kinds = _texts(value, "declared", str(path))
    strange = [kind for kind in kinds if kind not in get_args(Kind)]
    if strange:
        raise InputError(
            f"{path}: {strange[0]!r} is no kind of comparison.", hint=f"One of {', '.join(get_args(Kind))}."
        )
    return Declared(
        hypotheses=_texts(value, "hypotheses", str(path)),
        kinds=kinds,
        primary=_text(value, "primary", str(path)),
        stop_rule=_text(value, "stop_rule", str(path)),
        margin=_share(value, "margin", str(path)),
        blocked_gap=BLOCKED_GAP if (gap := _share(value, "blocked_gap", str(path))) is None else gap,
        source=FILE,
    )


def _texts(value: dict[str, Any], key: str, source: str) -> tuple[str, ...]:
    found = value.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f"{source}: {key} has to be a list of strings.")
    return tuple(found)


def _text(value: dict[str, Any], key: str, source: str) -> str | None:
    found = value.get(key)
    if found is not None and not isinstance(found, str):
        raise InputError(f"{source}: {key} has to be a string.")
    return found


def _share(value: dict[str, Any], key: str, source: str) -> float | None:
    found = value.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= 1:
        raise InputError(f"{source}: {key} has to be a number above 0 and at most 1.")
    return float(found)
