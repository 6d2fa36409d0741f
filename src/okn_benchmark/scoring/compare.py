"""A key and a readable answer side by side, once per tier."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from okn_benchmark.scoring.answer import LAST, Answer, records
from okn_benchmark.scoring.cells import Column
from okn_benchmark.scoring.columns import Assignment, assign, by_name
from okn_benchmark.scoring.key_column import KeyColumn, StrictColumn
from okn_benchmark.scoring.readings import Order, Readings
from okn_benchmark.scoring.rows import Codes, is_ordered, overlap
from okn_benchmark.scoring.settings import Guard, Settings
from okn_benchmark.table import Cell, Table


@dataclass(slots=True)
class Key:
    """A reference table prepared for judging: do it once, judge many answers against it."""

    table: Table
    settings: Settings
    _cells: list[list[Cell]] | None = None
    _normalized: list[KeyColumn] | None = None
    _strict: list[StrictColumn] | None = None

    @property
    def cells(self) -> list[list[Cell]]:
        """The key by columns."""
        if self._cells is None:
            self._cells = [list(self.table.column(at)) for at in range(len(self.table.columns))]
        return self._cells

    @property
    def normalized(self) -> list[KeyColumn]:
        """The columns of the normalized tier."""
        if self._normalized is None:
            named = zip(self.table.columns, self.cells, strict=True)
            self._normalized = [KeyColumn(name, column, self.settings) for name, column in named]
        return self._normalized

    @property
    def strict(self) -> list[StrictColumn]:
        """The columns of the strict tier."""
        if self._strict is None:
            self._strict = list(map(StrictColumn, self.cells))
        return self._strict

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Rules that stand down on this key whatever the answer."""
        return tuple(guard for column in self.normalized for guard in column.guards)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A readable answer by columns; ``count`` is how many rows it has."""

    columns: tuple[str, ...]
    texts: Sequence[Sequence[str]]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One tier of a comparison.

    ``order`` is None when widths differ. ``codes`` are the answer's cells under ``order``; None too where the answer is
    the key, row by row.
    """

    columns: Sequence[Column]
    matched: int
    ordered: bool
    order: Order | None = None
    codes: Codes | None = None
    exhausted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both tiers, and the answer's columns as they were submitted."""

    strict: Tier
    normalized: Tier
    key_rows: int
    answer_rows: int
    texts: Sequence[Sequence[str]] = field(default=())

    def exact(self, tier: Tier) -> bool:
        """Whether the rows are the same multiset."""
        return tier.matched == self.key_rows == self.answer_rows


def columns_of(answer: Answer) -> Given:
    """An answer by columns."""
    # Column after column: zip(*rows) would take a million arguments.
    texts = [[row[at] for row in answer.rows] for at in range(len(answer.columns))]
    return Given(columns=answer.columns, texts=texts, count=len(answer.rows))


def repeats(key: Key, submitted: bytes) -> Comparison | None:
    """The comparison of a submission that is the key text by text, in order and under its names; None for any other.

    Most right answers are. They are read along the key and nothing of them is kept.
    """
    try:
        found = records(submitted)
        order = by_name(key.table.columns, next(found, ()))
        if order is None or not order:
            return None
        place = {have: want for want, have in enumerate(order)}
        wanted = zip(*(key.strict[place[have]].texts for have in range(len(order))), strict=True)
        if any(tuple(given or ()) != want for given, want in zip_longest(found, chain(wanted, (LAST,)))):
            return None
    except (UnicodeDecodeError, csv.Error):
        return None
    count = len(key.table)
    strict = Tier(columns=key.strict, matched=count, ordered=True, order=order)
    return Comparison(
        strict=strict, normalized=replace(strict, columns=key.normalized), key_rows=count, answer_rows=count
    )


def compare(key: Key, given: Given) -> Comparison:
    """Compare an answer with a key in both tiers."""
    strict = tier(key.strict, key.table, given)
    if strict.ordered and strict.order is not None:  # what is equal text by text is equal by any rule
        normalized = replace(strict, columns=key.normalized, codes=None)
    else:
        seeds = (strict.order,) if strict.order is not None and strict.matched else ()
        normalized = tier(key.normalized, key.table, given, seeds)
    return Comparison(
        strict=strict, normalized=normalized, key_rows=len(key.table), answer_rows=given.count, texts=given.texts
    )


def tier(columns: Sequence[Column], table: Table, given: Given, seeds: Sequence[Order] = ()) -> Tier:
    """Compare in one tier: by name where the names are the key's, else under the best assignment."""
    wanted = len(table)
    if not wanted or not given.count or len(given.texts) != len(columns):
        return Tier(columns=columns, matched=0, ordered=wanted == given.count == 0)
    if not columns:
        return Tier(
            columns=columns, matched=min(wanted, given.count), ordered=wanted == given.count, order=(), codes=()
        )
    readings = Readings(columns, given.texts)
    named = by_name(table.columns, given.columns)
    if named is None:
        chosen = assign(readings, seeds)
    else:
        chosen = Assignment(order=named, matched=overlap(columns, readings.under(named)))
    codes = readings.under(chosen.order)
    return Tier(
        columns=columns,
        matched=chosen.matched,
        ordered=chosen.matched == wanted == given.count and is_ordered(columns, codes),
        order=chosen.order,
        codes=codes,
        exhausted=chosen.exhausted,
    )
