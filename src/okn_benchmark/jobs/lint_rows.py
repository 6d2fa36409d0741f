"""What can be said of a record from its rows: ties, gaps, text that sorts like numbers, caps. Pure over tables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Final

from okn_benchmark.corpus.record import Record
from okn_benchmark.jobs.lint import Finding, Level
from okn_benchmark.reference.drift import row_digest
from okn_benchmark.scoring.iri import local_name
from okn_benchmark.sparql.results import csv_text
from okn_benchmark.sparql.shape import Shape, shape
from okn_benchmark.table import Row, Table

HOST_CLIP_CHARS: Final = 50_000
"""A tool result longer than this reaches the agent as a file name and a beginning."""
CAPS: Final = frozenset({100, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000})
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def lint_rows(record: Record, first: Table, second: Table, beyond: Table | None) -> Iterator[Finding]:
    """``first`` and ``second`` are the key asked twice; ``beyond`` the same with one row more than its LIMIT."""

    def found(code: str, level: Level, message: str) -> Finding:
        return Finding(file=record.path_name, code=code, level=level, message=message)

    outline = shape(record.query)
    if not first.rows and not record.empty:
        yield found("no-rows", "error", "the key returns no rows; mend it, or declare '#+ empty: true'")
    if first.rows and record.empty:
        yield found("rows-though-empty", "error", f"the key returns {len(first)} rows, though it is declared empty")
    for code, level, message in (*_repeats(first, second, outline), *_cells(first), *_size(first, outline)):
        yield found(code, level, message)
    if outline is not None:
        for code, level, message in (*_sort_keys(first, outline), *_ties(first, beyond, outline)):
            yield found(code, level, message)


_Parts = Iterator[tuple[str, Level, str]]


def _repeats(first: Table, second: Table, outline: Shape | None) -> _Parts:
    one, two = [row_digest(row) for row in first.rows], [row_digest(row) for row in second.rows]
    if Counter(one) != Counter(two):
        yield "unstable-rows", "error", "asked twice, the key returned different rows"
    elif one != two:
        ordered = outline is not None and bool(outline.order)
        level: Level = "error" if ordered else "warning"
        yield "unstable-order", level, "asked twice, the key returned its rows in another order"
    copies = sum(count - 1 for count in Counter(one).values())
    if copies:
        rows = "1 row repeats" if copies == 1 else f"{copies} rows repeat"
        yield "duplicate-rows", "warning", f"{rows} another; say in the summary that repeats count, or add DISTINCT"


def _cells(table: Table) -> _Parts:
    for index, name in enumerate(table.columns):
        cells = list(table.column(index))
        if any(cell is not None and cell.kind == "bnode" for cell in cells):
            yield "blank-node", "error", f"?{name} returns blank nodes, whose labels no answer can repeat"
        unbound = sum(cell is None for cell in cells)
        if cells and unbound == len(cells):
            yield "unbound-column", "error", f"?{name} is unbound in every row"
        elif unbound:
            yield "unbound-cells", "warning", f"?{name} is unbound in {unbound} of {len(cells)} rows"
        iris = {cell.value for cell in cells if cell is not None and cell.kind == "uri"}
        shared = [short for short, count in Counter(map(local_name, iris)).items() if count > 1]
        if shared:
            message = f"different IRIs of ?{name} end alike ({shared[0]}), so short forms cannot be accepted there"
            yield "local-names-merge", "warning", message


def _size(table: Table, outline: Shape | None) -> _Parts:
    length = len(csv_text(table))
    if length > HOST_CLIP_CHARS:
        message = f"the table has {length:,} characters as CSV, and a host clips results above {HOST_CLIP_CHARS:,}"
        yield "too-long", "warning", message
    if len(table) in CAPS and (outline is None or outline.limit != len(table)):
        yield "round-count", "warning", f"exactly {len(table):,} rows came back, which looks like a cap of the server"


def _sort_keys(table: Table, outline: Shape) -> _Parts:
    for name in outline.order_columns():
        cells = list(table.column(table.columns.index(name))) if name in table.columns else []
        if any(cell is None for cell in cells) and any(cell is not None for cell in cells):
            yield "unbound-sort-key", "warning", f"rows are sorted by ?{name}, which is unbound in some"
        plain = {c.value for c in cells if c is not None and c.kind == "literal" and not c.datatype and not c.language}
        numbers = sorted(value for value in plain if _NUMBER.fullmatch(value))
        if len(numbers) > 1 and numbers != sorted(numbers, key=Decimal):
            message = f"?{name} is sorted as text, but holds numbers: {numbers[0]!r} comes before {numbers[1]!r}"
            yield "numeric-string-key", "error", message


def _ties(table: Table, beyond: Table | None, outline: Shape) -> _Parts:
    if not outline.order or not all(key.bare for key in outline.order):
        return  # an expression cannot be recomputed from the columns
    names = [key.variables[0] for key in outline.order]
    if not all(name in table.columns for name in names):
        return
    indexes = [table.columns.index(name) for name in names]
    tied = [(a, b) for a, b in pairwise(table.rows) if a != b and _keys(a, indexes) == _keys(b, indexes)]
    if tied:
        level: Level = "warning" if outline.limit is None else "error"
        at = ", ".join(cell.value if cell else "unbound" for cell in _keys(tied[0][0], indexes))
        yield "tied-rows", level, f"{len(tied)} neighbouring rows share every sort key (first: {at[:120]})"
    if beyond is not None and 0 < len(table) < len(beyond):
        last, next_one = table.rows[-1], beyond.rows[len(table)]
        if last != next_one and _keys(last, indexes) == _keys(next_one, indexes):
            yield "tie-at-cut", "error", "the row after the last one has the same sort keys, so the cut is arbitrary"


def _keys(row: Row, indexes: Sequence[int]) -> Row:
    return tuple(row[index] for index in indexes)


def lint_traps(record: Record, key: Table, traps: Mapping[str, Table]) -> Iterator[Finding]:
    """A trap has to be wrong, and no two traps the same."""
    from okn_benchmark.scoring.verdict import judge

    for name, table in traps.items():
        if judge(key, csv_text(table).encode()).exact:
            message = f"trap '{name}' gives the right answer here, so it catches nobody"
            yield Finding(file=record.path_name, code="trap-is-right", level="error", message=message)
    for (one, first), (two, second) in combinations(traps.items(), 2):
        if judge(first, csv_text(second).encode()).exact:
            message = f"traps '{one}' and '{two}' give the same answer"
            yield Finding(file=record.path_name, code="traps-alike", level="warning", message=message)
