"""A second reading of a payload, by other means than the one that changes it: what was due, and what had to stay.

It knows tables through ``json`` and ``csv`` alone and writes nothing. The manipulation check rests on it, so it shares
no code with ``shaping``.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from okn_benchmark.interventions.arm import ResultRule
from okn_benchmark.interventions.json_fields import matches

_SHOWING: Final = re.compile(r"\r?\nshowing \d+ of total \d+ rows\r?\n")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_PARAGRAPHS: Final = 200
_DEEPEST: Final = 5
_STATED: Final = ("showing", "total")


@dataclass(frozen=True, slots=True)
class Seen:
    """``due``: the rule has something to do here. ``rest``: everything the rule has no business with.

    ``marks``: how each paragraph of plain text was read; a changed payload is held to the same reading, since a table
    that has one column left no longer says what separates its columns.
    """

    due: bool
    rest: Any
    marks: tuple[str, ...] = ()


def seen(payload: Any, rule: ResultRule, marks: Sequence[str] | None = None) -> Seen:
    """Read one payload (a text, or a JSON value) with a rule in mind; ``marks``: as another payload was read."""
    if rule.fields:
        return _by_fields(payload, rule)
    eye = _Eye(rule, marks)
    if rule.at:
        value = _opened(payload) if isinstance(payload, str) else payload
        if not isinstance(value, dict | list):
            return Seen(due=False, rest=payload)
        whole: Any = value
        for steps in matches(value, rule.at):
            whole = _put(whole, steps, eye.table)
        rest = eye.unstated(whole)
    else:
        rest = eye.look(payload, 0)
    return Seen(due=eye.due, rest=rest, marks=tuple(eye.marks))


def _opened(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _by_fields(payload: Any, rule: ResultRule) -> Seen:
    value = _opened(payload) if isinstance(payload, str) else payload
    if not isinstance(value, dict | list):
        return Seen(due=False, rest=payload)
    found = [steps for path in rule.fields for steps in matches(value, path)]
    if not found:
        return Seen(due=False, rest=value)
    outer = [s for s in dict.fromkeys(found) if not any(s[: len(o)] == o and s != o for o in found)]
    kept = [_get(value, steps) for steps in outer]
    return Seen(_leaves(value) > sum(map(_leaves, kept)), kept)


def _get(value: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        value = value[step]
    return value


def _put(value: Any, steps: Sequence[str | int], change: Any) -> Any:
    if not steps:
        return change(value)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[steps[0]] = _put(value[steps[0]], steps[1:], change)
    return copy


def _leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values())) or 1
    return (sum(map(_leaves, value)) or 1) if isinstance(value, list) else 1


class _Eye:
    """Walks one payload; remembers whether it met work."""

    def __init__(self, rule: ResultRule, given: Sequence[str] | None) -> None:
        self.rule = rule
        self.due = False
        self.marks: list[str] = []
        self._given = given
        self._new = {*rule.rename.values(), *(added.name for added in rule.add)}
        self._touched = {*rule.drop, *rule.rename, *self._new}

    def look(self, value: Any, depth: int) -> Any:
        """``value`` without what the rule may change."""
        if isinstance(value, str):
            return self._text(value, depth)
        if self._is_table(value):
            return self.table(value)
        if isinstance(value, dict) and depth <= _DEEPEST:
            return self.unstated({key: self.look(item, depth + 1) for key, item in value.items()})
        return value

    def unstated(self, value: Any) -> Any:
        """Without the two members that state a cut."""
        if self.rule.rows is None or not isinstance(value, dict) or not set(_STATED) <= set(value):
            return value
        bare = {key: item for key, item in value.items() if key not in _STATED}
        # A bare list has no place to state anything, so it was put into an object.
        return bare["rows"] if set(bare) == {"rows"} else bare

    def _text(self, text: str, depth: int) -> Any:
        if self.rule.form in ("auto", "json") and isinstance(value := _opened(text), dict | list):
            return self.look(value, depth + 1)
        return text if self.rule.form == "json" else self._plain(text)

    def _plain(self, text: str) -> Any:
        """Every paragraph, as rows where it is a table: the same reading before and after."""
        text = _SHOWING.sub("", text) if self.rule.rows is not None else text
        lines: list[str] = _LINE.findall(text)
        out: list[Any] = []
        at = 0
        for _ in range(_PARAGRAPHS):
            if at >= len(lines):
                break
            rows, used, is_table = self._paragraph(lines, at)
            if rows:
                self.due = self.due or (is_table and self._busy(rows[0], len(rows) - 1))
                out.append(list(self._stripped(rows[0], rows[1:])))
                at += used
            begin = at
            while at < len(lines) and lines[at].strip(" \t\r\n"):
                at += 1
            at += 1
            out.append("".join(lines[begin:at]))
        return [*out, "".join(lines[at:])]

    def _paragraph(self, lines: Sequence[str], at: int) -> tuple[list[list[str]], int, bool]:
        """Rows, how many lines they take, and whether they are a table: any text has one column."""
        told = len(self.marks)
        if self._given is not None:
            mark = self._given[told] if told < len(self._given) else ""
            self.marks.append(mark)
            return (*(_read(lines, at, mark) if mark else ([], 0)), True)
        for mark in self._marks():
            rows, used = _read(lines, at, mark)
            if rows and (len(rows[0]) > 1 or self.rule.form != "auto" or mark == "|"):
                self.marks.append(mark)
                return rows, used, True
        self.marks.append("")
        return [], 0, False

    def _marks(self) -> tuple[str, ...]:
        nameless = not (self.rule.drop or self.rule.keep or self.rule.rename or any(a.of for a in self.rule.add))
        marks = {"csv": (",",), "tsv": ("\t",), "markdown": ("|",), "auto": ("|",) if nameless else ("|", "\t", ",")}
        return marks.get(self.rule.form, ())

    def _is_table(self, value: Any) -> bool:
        return _columns_of(value) is not None

    def table(self, value: Any) -> Any:
        """A table without the columns in question and without the rows that go."""
        value = self.unstated(value)
        found = _columns_of(value)
        if found is None:
            return value
        columns, count = found
        self.due = self.due or self._busy(columns, count)
        gone = self._gone(columns)
        rows = self.rule.rows
        if isinstance(value, list):
            return [_without(row, gone) for row in value[:rows]]
        if "head" in value:
            head = {**value["head"], "vars": [name for name in columns if name not in gone]}
            bindings = [_without(row, gone) for row in value["results"]["bindings"][:rows]]
            return {**value, "head": head, "results": {**value["results"], "bindings": bindings}}
        header, body = _split_keys(value)
        places = [n for n, name in enumerate(columns) if name not in gone]
        cells = [[row[n] for n in places] for row in value[body][:rows]]
        return {**value, header: [columns[n] for n in places], body: cells}

    def _busy(self, columns: Sequence[str], rows: int) -> bool:
        names, rule = set(columns), self.rule
        kept = {*rule.keep, *self._new}
        return bool(
            names & set(rule.drop)
            or (names & set(rule.keep) and names - kept)
            or any(old in names and new not in names for old, new in rule.rename.items())
            or any(a.name not in names and (a.of is None or a.of in names) for a in rule.add)
            or (rule.rows is not None and rows > rule.rows)
        )

    def _gone(self, columns: Sequence[str]) -> set[str]:
        if self.rule.keep:
            return {name for name in columns if name not in self.rule.keep} | self._touched
        return self._touched

    def _stripped(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Any]:
        gone = self._gone(columns)
        places = [n for n, name in enumerate(columns) if name not in gone]
        for row in [columns, *rows[: self.rule.rows]]:
            yield [row[n] for n in places]


def _without(row: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in gone}


def _columns_of(value: Any) -> tuple[list[str], int] | None:
    """Names and number of rows of a JSON value that is a table."""
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return list(dict.fromkeys(key for row in value for key in row)), len(value)
    if not isinstance(value, dict):
        return None
    head, results = value.get("head"), value.get("results")
    if isinstance(head, dict) and isinstance(results, dict) and isinstance(head.get("vars"), list):
        rows = results.get("bindings")
        return ([str(v) for v in head["vars"]], len(rows)) if isinstance(rows, list) and head["vars"] else None
    header, body = _split_keys(value)
    return (list(value[header]), len(value[body])) if header else None


def _split_keys(value: Mapping[str, Any]) -> tuple[str, str]:
    for header in ("columns", "header", "headers", "fields", "vars"):
        names = value.get(header)
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            continue
        for body in ("rows", "data", "values"):
            rows = value.get(body)
            if isinstance(rows, list) and all(isinstance(r, list) and len(r) == len(names) for r in rows):
                return header, body
    return "", ""


def _read(lines: Sequence[str], at: int, mark: str) -> tuple[list[list[str]], int]:
    """Rows of one width from line ``at`` on, and how many lines they take; nothing where it is no table."""
    if mark == "|":
        return _read_pipes(lines, at)
    csv.field_size_limit(sys.maxsize)  # one limit for the whole process, as the reader of answers has it
    reader = csv.reader(islice(lines, at, None), delimiter=mark, strict=True)
    rows: list[list[str]] = []
    used = 0
    try:
        for row in reader:
            if not row:
                break
            if rows and len(row) != len(rows[0]):
                return [], 0
            rows.append(row)
            used = reader.line_num
    except csv.Error:
        return [], 0
    return (rows, used) if rows and all(name.strip() for name in rows[0]) else ([], 0)


def _read_pipes(lines: Sequence[str], at: int) -> tuple[list[list[str]], int]:
    rows = []
    for line in islice(lines, at, None):
        if not line.startswith("|") or len(line.strip()) < 2 or not line.rstrip().endswith("|"):
            break
        cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
        rows.append([cell.strip().replace("\\|", "|") for cell in cells])
    even = len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows)
    if not even or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
        return [], 0
    return [rows[0], *rows[2:]], len(rows)
