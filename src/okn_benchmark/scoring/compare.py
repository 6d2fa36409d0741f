"""A key and a readable answer side by side, once per tier."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from okn_benchmark.scoring.answer import Answer
from okn_benchmark.scoring.cells import Column
from okn_benchmark.scoring.columns import Assignment, assign, by_name
from okn_benchmark.scoring.key_column import KeyColumn, StrictColumn
from okn_benchmark.scoring.readings import Order, Readings
from okn_benchmark.scoring.rows import Codes, is_ordered, overlap
from okn_benchmark.scoring.settings import Guard, Settings
from okn_benchmark.table import Table


@dataclass(slots=True)
class Key:
    """A reference table prepared for judging: do it once, judge many answers against it."""

    table: Table
    settings: Settings
    _normalized: list[KeyColumn] | None = None
    _strict: list[StrictColumn] | None = None

    @property
    def normalized(self) -> list[KeyColumn]:
        """The columns of the normalized tier."""
        if self._normalized is None:
            cells = list(zip(*self.table.rows, strict=True)) or [()] * len(self.table.columns)
            named = zip(self.table.columns, cells, strict=True)
            self._normalized = [KeyColumn(name, column, self.settings) for name, column in named]
        return self._normalized

    @property
    def strict(self) -> list[StrictColumn]:
        """The columns of the strict tier."""
        if self._strict is None:
            self._strict = [StrictColumn(self.table.column(index)) for index in range(len(self.table.columns))]
        return self._strict

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Rules that stand down on this key whatever the answer."""
        return tuple(guard for column in self.normalized for guard in column.guards)


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


def compare(key: Key, answer: Answer) -> Comparison:
    """Compare an answer with a key in both tiers."""
    texts = columns_of(answer)
    strict = _identical(key, answer, texts) or tier(key.strict, key.table, answer, texts)
    if strict.ordered and strict.order is not None:  # what is equal text by text is equal by any rule
        normalized = replace(strict, columns=key.normalized, codes=None)
    else:
        seeds = (strict.order,) if strict.order is not None and strict.matched else ()
        normalized = tier(key.normalized, key.table, answer, texts, seeds)
    return Comparison(
        strict=strict,
        normalized=normalized,
        key_rows=len(key.table),
        answer_rows=len(answer.rows),
        texts=texts,
    )


def _identical(key: Key, answer: Answer, texts: Sequence[Sequence[str]]) -> Tier | None:
    """The strict tier of an answer that repeats the key text by text under its names; no cell is numbered for it."""
    named = by_name(key.table.columns, answer.columns)
    if named is None or not answer.rows or len(answer.rows) != len(key.table):
        return None
    if any(column.texts != list(texts[at]) for column, at in zip(key.strict, named, strict=True)):
        return None
    return Tier(columns=key.strict, matched=len(answer.rows), ordered=True, order=named)


def columns_of(answer: Answer) -> list[tuple[str, ...]]:
    """The answer's cells by column."""
    return list(zip(*answer.rows, strict=True)) if answer.rows else [()] * len(answer.columns)


def tier(
    columns: Sequence[Column],
    table: Table,
    answer: Answer,
    texts: Sequence[Sequence[str]],
    seeds: Sequence[Order] = (),
) -> Tier:
    """Compare in one tier: by name where the names are the key's, else under the best assignment."""
    wanted, given = len(table), len(answer.rows)
    if not wanted or not given or len(texts) != len(columns):
        return Tier(columns=columns, matched=0, ordered=wanted == given == 0)
    if not columns:
        return Tier(columns=columns, matched=min(wanted, given), ordered=wanted == given, order=(), codes=())
    readings = Readings(columns, texts)
    named = by_name(table.columns, answer.columns)
    if named is None:
        chosen = assign(readings, seeds)
    else:
        chosen = Assignment(order=named, matched=overlap(columns, readings.under(named)))
    codes = readings.under(chosen.order)
    return Tier(
        columns=columns,
        matched=chosen.matched,
        ordered=chosen.matched == wanted == given and is_ordered(columns, codes),
        order=chosen.order,
        codes=codes,
        exhausted=chosen.exhausted,
    )
