"""An arm as a TOML file: read key by key, so that a typo is an error and never a change that did not happen."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from okn_benchmark.errors import InputError
from okn_benchmark.interventions.arm import (
    DEFAULT_FAULT,
    DEFAULT_MARKER,
    DERIVATIONS,
    DOCUMENTATION,
    EVERY_TOOL,
    EXPECT,
    FAULT_KINDS,
    FORMS,
    INSTRUCTIONS,
    AddedColumn,
    Arm,
    Faults,
    Latency,
    OutputLimit,
    ResultRule,
)
from okn_benchmark.interventions.json_fields import check_path

T = TypeVar("T")
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*", re.ASCII)
_SUBMIT: Final = "submit_csv"
_LONGEST_S: Final = 3600.0


def load_arm(path: Path) -> Arm:
    """The arm in a file, with the instructions it points to.

    Raises:
        InputError: no such file, not TOML, or something in it that cannot be meant; names the file and the key.
    """
    text = _text(path, f"The arm file {path}", "Give the path of a TOML file with --arm; examples are in arms/.")
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The arm file {path} is not valid TOML: {error}.") from error

    def beside(name: str) -> str:
        return _text(path.parent / name, f"{path}: instructions_file {name}", "The path is relative to the arm file.")

    return read_arm(value, str(path), beside)


def _text(path: Path, what: str, hint: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{what} is not UTF-8 text (byte {error.start}).") from error


def read_arm(value: Mapping[str, Any], source: str, beside: Callable[[str], str] | None = None) -> Arm:
    """The arm in a parsed table. ``beside`` gives the text of a file named in it. Raises InputError."""
    table = _Table(value, source)
    name = table.text("name")
    if not _NAME.fullmatch(name) or name.endswith("_"):
        raise InputError(
            f"{source}: name {name!r} cannot be part of a folder name.",
            hint="Use letters, digits, dots, dashes and single underscores.",
        )
    instructions = table.one_of("instructions", INSTRUCTIONS, "forward")
    file = table.opt_text("instructions_file")
    if (instructions == "file") != (file is not None):
        raise InputError(f'{source}: instructions = "file" and instructions_file belong together.')
    without = table.texts("without_tools")
    if _SUBMIT in without:
        raise InputError(f"{source}: {_SUBMIT} cannot be withheld: without it an episode has no place for its answer.")
    made = Arm(
        name=name,
        about=table.opt_text("about") or "",
        without_tools=tuple(sorted(set(without))),
        documentation=table.one_of("documentation", DOCUMENTATION, "full"),
        instructions=instructions,
        instructions_text=None if file is None or beside is None else beside(file),
        output=table.opt_table("output", _read_output),
        results=tuple(table.tables("results", _read_rule)),
        latency=table.opt_table("latency", _read_latency),
        faults=table.opt_table("faults", _read_faults),
        seed=table.whole("seed", 0),
    )
    table.done()
    return made


def _read_output(table: "_Table") -> OutputLimit:
    characters = table.whole("characters")
    marker = table.opt_text("marker") or DEFAULT_MARKER
    if characters < 2 * len(marker):
        # The marker is part of what the agent reads, and counts.
        raise InputError(f"{table.at}: characters must be at least {2 * len(marker)}, twice the marker.")
    if "{shown}" not in marker or "{total}" not in marker:
        raise InputError(f"{table.at}: marker must hold {{shown}} and {{total}}, so that a cut result says so.")
    return OutputLimit(characters=characters, marker=marker)


def _read_rule(table: "_Table") -> ResultRule:
    rule = ResultRule(
        tool=table.text("tool"),
        form=table.one_of("form", FORMS, "auto"),
        at=table.opt_text("at"),
        keep=table.texts("keep"),
        drop=table.texts("drop"),
        rename=table.texts_by_name("rename"),
        add=tuple(table.tables("add", _read_column)),
        fields=table.texts("fields"),
        rows=table.whole("rows") if table.has("rows") else None,
        expect=table.one_of("expect", EXPECT, "present"),
    )
    _check_rule(rule, table.at)
    return rule


def _check_rule(rule: ResultRule, at: str) -> None:
    if not rule.name:
        raise InputError(f"{at} changes nothing.", hint="Give keep, drop, rename, add, fields or rows.")
    if rule.keep and rule.drop:
        raise InputError(f"{at}: keep and drop say the same thing twice; give one of the two.")
    if rule.tool == _SUBMIT:
        raise InputError(f"{at}: {_SUBMIT} is the harness's own tool and stays as it is.")
    if rule.rows is not None and rule.rows < 1:
        raise InputError(f"{at}: rows must be above zero.")
    if rule.fields and (rule.form not in ("auto", "json") or rule.name != "fields" or rule.at):
        raise InputError(f"{at}: fields stand alone in their rule; give another rule for the same tool.")
    new = [*rule.rename.values(), *(added.name for added in rule.add)]
    if len(set(new)) < len(new) or set(new) & {*rule.rename, *rule.drop}:
        # Such a rule would do something else when it meets its own output.
        raise InputError(f"{at}: a new column name is used twice, or is also a name to drop or rename.")
    for path in [*rule.fields, *([rule.at] if rule.at else [])]:
        check_path(path, at)


def _read_column(table: "_Table") -> AddedColumn:
    made = AddedColumn(
        name=table.text("name"),
        rule=table.one_of("rule", DERIVATIONS, None),
        of=table.opt_text("of"),
        value=table.opt_text("value"),
        after=table.opt_text("after"),
    )
    if (made.value is not None) != (made.rule == "constant") or (made.of is None) != (made.rule == "constant"):
        raise InputError(f"{table.at}: a constant takes value, every other rule takes of.")
    return made


def _read_latency(table: "_Table") -> Latency:
    low, high = table.number("low_s"), table.number("high_s")
    if not 0 <= low <= high <= _LONGEST_S:
        raise InputError(f"{table.at}: low_s and high_s are seconds, 0 to {_LONGEST_S:g}, the lower one first.")
    return Latency(rate=table.rate(), low_s=low, high_s=high)


def _read_faults(table: "_Table") -> Faults:
    kind, text = table.one_of("kind", FAULT_KINDS, "error"), table.opt_text("text") or DEFAULT_FAULT
    return Faults(rate=table.rate(), kind=kind, text=text)


def tools_named(arm: Arm) -> Iterable[str]:
    """Every tool an arm names: a server without one of them makes the arm a typo."""
    return dict.fromkeys([*arm.without_tools, *(rule.tool for rule in arm.results if rule.tool != EVERY_TOOL)])


class _Table:
    """One TOML table; a key nobody read is an error."""

    def __init__(self, value: Mapping[str, Any], at: str) -> None:
        self.value, self.at = value, at
        self._seen: set[str] = set()

    def has(self, key: str) -> bool:
        return key in self.value

    def _take(self, key: str, kinds: tuple[type, ...], what: str) -> Any:
        self._seen.add(key)
        found = self.value.get(key)
        if found is not None and (not isinstance(found, kinds) or isinstance(found, bool)):
            raise InputError(f"{self.at}: {key} must be {what}.")
        return found

    def _needed(self, key: str, found: T | None) -> T:
        if found is None:
            raise InputError(f"{self.at}: {key} is missing.")
        return found

    def text(self, key: str) -> str:
        return self._needed(key, self.opt_text(key) or None)

    def opt_text(self, key: str) -> str | None:
        found: str | None = self._take(key, (str,), "a string")
        return found

    def whole(self, key: str, default: int | None = None) -> int:
        found: int | None = self._take(key, (int,), "a whole number")
        return self._needed(key, default if found is None else found)

    def number(self, key: str) -> float:
        return float(self._needed(key, self._take(key, (int, float), "a number")))

    def rate(self) -> float:
        found = self.number("rate")
        if not 0 <= found <= 1:
            raise InputError(f"{self.at}: rate is a share of the calls, 0 to 1.")
        return found

    def one_of(self, key: str, allowed: tuple[T, ...], default: T | None) -> T:
        found = self._needed(key, self._take(key, (str,), "a string") or default)
        for word in allowed:
            if word == found:
                return word
        raise InputError(f"{self.at}: {key} is {found!r}.", hint=f"It is one of {', '.join(map(str, allowed))}.")

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._take(key, (list,), "a list of strings") or []
        if not all(isinstance(item, str) and item for item in found):
            raise InputError(f"{self.at}: {key} must be a list of strings, none of them empty.")
        return tuple(found)

    def texts_by_name(self, key: str) -> dict[str, str]:
        found = self._take(key, (dict,), "a table of strings") or {}
        if not all(isinstance(item, str) and item for item in found.values()):
            raise InputError(f"{self.at}: {key} must be a table of strings.")
        return dict(found)

    def opt_table(self, key: str, read: Callable[["_Table"], T]) -> T | None:
        found = self._take(key, (dict,), "a table")
        return None if found is None else self._read(found, f"{self.at}: [{key}]", read)

    def tables(self, key: str, read: Callable[["_Table"], T]) -> list[T]:
        found = self._take(key, (list,), "a list of tables") or []
        if not all(isinstance(item, dict) for item in found):
            raise InputError(f"{self.at}: {key} must be a list of tables.")
        return [self._read(item, f"{self.at}: {key}[{n}]", read) for n, item in enumerate(found)]

    def _read(self, value: Mapping[str, Any], at: str, read: Callable[["_Table"], T]) -> T:
        inner = _Table(value, at)
        made = read(inner)
        inner.done()
        return made

    def done(self) -> None:
        unknown = sorted(set(self.value) - self._seen)
        if unknown:
            raise InputError(
                f"{self.at}: unknown key {', '.join(unknown)}.", hint=f"Known here: {', '.join(sorted(self._seen))}."
            )
