"""Tables in JSON: SPARQL results, lists of objects, and a header beside rows. Changed in place, never written anew."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from okn_benchmark.interventions.grid import Added, Cell, Grid, Plan, arranged
from okn_benchmark.interventions.json_text import Item, Opened, changed_at, opened, quoted, value_of

_HEADERS: Final = ("columns", "header", "headers", "fields", "vars")
_BODIES: Final = ("rows", "data", "values")
_OPENING: Final = 64


@dataclass(frozen=True, slots=True)
class SparqlGrid:
    """W3C SPARQL results: names under ``head.vars``, rows under ``results.bindings``."""

    outer: Opened
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def height(self) -> int:
        """How many bindings."""
        return len(self.rows)

    def cells(self, column: str) -> list[Cell]:
        """Values of a variable; unbound says nothing."""
        found = [row.get(column) for row in self.rows]
        return [Cell(None) if c is None else Cell(str(c.get("value")), c.get("type") == "uri") for c in found]

    def written(self, plan: Plan) -> str:
        """See ``Grid``."""
        terms = [
            replace(a, cells=[None if c is None else f'{{"type":"literal","value":{quoted(c)}}}' for c in a.cells])
            for a in plan.added
        ]
        cut = plan.rows is not None and plan.rows < self.height
        text = stated(self.outer, plan.rows or 0, self.height).text if cut else self.outer.text
        text = changed_at(text, ("head", "vars"), lambda names: _names_written(names, self.columns, plan)) or text
        done = changed_at(text, ("results", "bindings"), lambda rows: _records_written(rows, plan, terms))
        return done or text


@dataclass(frozen=True, slots=True)
class RecordGrid:
    """A list of objects; the columns are their keys in order of appearance."""

    text: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]

    @property
    def height(self) -> int:
        """How many objects."""
        return len(self.rows)

    def cells(self, column: str) -> list[Cell]:
        """Values of a key; absent and null say nothing."""
        return [_cell(row.get(column)) for row in self.rows]

    def written(self, plan: Plan) -> str:
        """See ``Grid``. How many rows there were has no place in a bare list: who holds the list states it."""
        values = [replace(a, cells=["null" if c is None else quoted(c) for c in a.cells]) for a in plan.added]
        return _records_written(self.text, plan, values) or self.text


@dataclass(frozen=True, slots=True)
class SplitGrid:
    """An object with a list of names and a list of rows, each a list."""

    outer: Opened
    header: str
    body: str
    columns: tuple[str, ...]
    rows: tuple[list[Any], ...]

    @property
    def height(self) -> int:
        """How many rows."""
        return len(self.rows)

    def cells(self, column: str) -> list[Cell]:
        """One column; null says nothing."""
        place = self.columns.index(column)
        return [_cell(row[place]) for row in self.rows]

    def written(self, plan: Plan) -> str:
        """See ``Grid``."""
        cut = plan.rows is not None and plan.rows < self.height
        outer = stated(self.outer, plan.rows or 0, self.height) if cut else self.outer
        text = outer.text
        text = changed_at(text, (self.header,), lambda names: _names_written(names, self.columns, plan)) or text
        return changed_at(text, (self.body,), lambda rows: _rows_written(rows, self.columns, plan)) or text


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return Cell(value)
    return Cell(json.dumps(value, ensure_ascii=False))


def grid_of(text: str) -> Grid | None:
    """The table that the JSON value in ``text`` is, if it is one."""
    if text[:_OPENING].lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = value_of(text)
    except (ValueError, RecursionError):
        return None
    outer = opened(text)
    if outer is None:
        return None
    if isinstance(value, list):
        return _records(text, value)
    return _sparql(outer, value) or _split(outer, value)


def _records(text: str, value: list[Any]) -> RecordGrid | None:
    if not value or not all(isinstance(row, dict) for row in value):
        return None
    columns = tuple(dict.fromkeys(name for row in value for name in row))
    return RecordGrid(text, columns, tuple(value)) if columns else None


def _sparql(outer: Opened, value: dict[str, Any]) -> SparqlGrid | None:
    head, results = value.get("head"), value.get("results")
    names = head.get("vars") if isinstance(head, dict) else None
    rows = results.get("bindings") if isinstance(results, dict) else None
    if not _all_texts(names) or not isinstance(rows, list):
        return None
    if not all(isinstance(row, dict) and all(isinstance(c, dict) for c in row.values()) for row in rows):
        return None
    return SparqlGrid(outer, tuple(names), tuple(rows))


def _split(outer: Opened, value: dict[str, Any]) -> SplitGrid | None:
    for header in _HEADERS:
        for body in _BODIES:
            names, rows = value.get(header), value.get(body)
            if not _all_texts(names) or not isinstance(rows, list):
                continue
            if all(isinstance(row, list) and len(row) == len(names) for row in rows):
                return SplitGrid(outer, header, body, tuple(names), tuple(rows))
    return None


def _all_texts(names: Any) -> TypeGuard[list[str]]:
    return isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)


def stated(outer: Opened, shown: int, total: int) -> Opened:
    """With how many rows are shown and how many there are, at the end of the object."""
    told = [outer.member_like("showing", str(shown)), outer.member_like("total", str(total))]
    return outer.holding([*(i for i in outer.items if i.name not in ("showing", "total")), *told])


def _names_written(text: str, columns: Sequence[str], plan: Plan) -> str | None:
    outer = opened(text)
    if outer is None:
        return None
    return _in_order(outer, arranged(columns, plan), columns, plan, lambda added: quoted(added.name)).text


def _rows_written(text: str, columns: Sequence[str], plan: Plan) -> str | None:
    outer = opened(text)
    if outer is None:
        return None
    order = arranged(columns, plan)
    unnamed = _for_cells(plan)
    kept = outer.items if plan.rows is None else outer.items[: plan.rows]
    out = []
    for number, item in enumerate(kept):
        row = opened(item.value)
        if row is None:
            return None

        def cell(added: Added, number: int = number) -> str:
            found = added.cells[number]
            return "null" if found is None else quoted(found)

        out.append(replace(item, value=_in_order(row, order, columns, unnamed, cell).text))
    return outer.holding(out).text


def _for_cells(plan: Plan) -> Plan:
    """A plan for cells, which have no names to change."""
    return replace(plan, renamed={})


def _in_order(outer: Opened, order: Sequence[int | Added], columns: Sequence[str], plan: Plan, cell: Any) -> Opened:
    items: list[Item] = []
    for entry in order:
        if isinstance(entry, Added):
            items.append(outer.member_like("", cell(entry)))
        else:
            new = plan.renamed.get(columns[entry])
            item = outer.items[entry]
            items.append(item if new is None else replace(item, value=quoted(new)))
    return outer.holding(items)


def _records_written(text: str, plan: Plan, added: Sequence[Added]) -> str | None:
    outer = opened(text)
    if outer is None:
        return None
    kept = outer.items if plan.rows is None else outer.items[: plan.rows]
    out = []
    for number, item in enumerate(kept):
        row = opened(item.value)
        if row is None:
            return None
        out.append(replace(item, value=_record_written(row, number, plan, added)))
    return outer.holding(out).text


def _record_written(row: Opened, number: int, plan: Plan, added: Sequence[Added]) -> str:
    """One object: a new member stands behind its neighbour, or last where this object lacks the neighbour."""
    items: list[Item] = []
    placed = set()
    for item in row.items:
        items.append(item)
        near = [new for new in added if new.after == item.name]
        placed |= {new.name for new in near}
        items += _members(row, near, number)
    items += _members(row, [new for new in added if new.name not in placed], number)
    kept = [item for item in items if item.name not in plan.dropped]
    renamed = [
        replace(i, key=quoted(plan.renamed[i.name]), name=plan.renamed[i.name]) if i.name in plan.renamed else i
        for i in kept
    ]
    return row.holding(renamed).text


def _members(row: Opened, added: Sequence[Added], number: int) -> list[Item]:
    return [row.member_like(new.name, value) for new in added if (value := new.cells[number]) is not None]
