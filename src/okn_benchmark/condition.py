"""What a condition is called: a folder name made of the settings, the same on every machine."""

import re
from collections.abc import Iterable
from typing import Final

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import digest
from okn_benchmark.launch import Level

LONGEST: Final = 120
_PART: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*", re.ASCII)
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


def condition_name(
    *,
    level: Level,
    kg_hint: str,
    server: str | None = None,
    withheld: Iterable[str] = (),
    strict: bool = False,
    arm: str | None = None,
    label: str | None = None,
) -> str:
    """``<server>-<level>__<kg-named|kg-not-named>``, then whatever else was set, in one fixed order.

    The control has no server in its name: it is the same control for all of them.

    Raises:
        InputError: a server, arm or label that cannot stand in a folder name, or one too long for it.
    """
    start = level if level == "sparql-only" else f"{_checked(server or '', 'server name')}-{level}"
    before = [start, "kg-named" if kg_hint == "tags" else "kg-not-named"]
    after = ["strict"] if strict else []
    after += [f"arm-{_checked(arm, 'arm name')}"] if arm is not None else []
    after += [_checked(label, "--label")] if label is not None else []
    tools = sorted(set(withheld))
    if not tools:
        return _bounded("__".join([*before, *after]))
    spelled = "__".join([*before, f"without-{'+'.join(tools)}", *after])
    if len(spelled) <= LONGEST and all(_TOOL.fullmatch(tool) for tool in tools):
        return spelled
    # Tool names are the server's own text: too many, or one that is no file name, and a digest stands for them.
    return _bounded("__".join([*before, f"without-{digest(tools)[:12]}", *after]))


def _checked(part: str, what: str) -> str:
    if not _PART.fullmatch(part) or part.endswith("_"):
        raise InputError(
            f"The {what} {part!r} cannot be part of a folder name.",
            hint="Use letters, digits, dots, dashes and single underscores, beginning with a letter or a digit.",
        )
    return part


def _bounded(name: str) -> str:
    if len(name) > LONGEST:
        raise InputError(
            f"The condition name {name} has {len(name)} characters; {LONGEST} is the most a folder gets.",
            hint="Choose a shorter --label, arm name or server name.",
        )
    return name
