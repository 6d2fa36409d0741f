"""Row by row: which rows of an answer match, which are extra, which the key has besides, and which nearly match."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.scoring.answer import Answer, Malformed
from okn_benchmark.scoring.cells import NOTHING, lexical
from okn_benchmark.scoring.compare import Comparison, Key, Tier, columns_of, compare
from okn_benchmark.scoring.rows import Reading, readings
from okn_benchmark.scoring.settings import Settings
from okn_benchmark.scoring.verdict import read_for
from okn_benchmark.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRow:
    """A row and where it stands on either side, from 1; None where it has no place. Cells are texts."""

    cells: tuple[str, ...]
    key_row: int | None = None
    answer_row: int | None = None

    def to_json(self) -> JsonObject:
        """The fields by name."""
        return {"key_row": self.key_row, "answer_row": self.answer_row, "cells": list(self.cells)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A row that would match but for one cell."""

    key_row: int
    answer_row: int
    column: str
    expected: str
    submitted: str
    cells: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """The fields by name."""
        return {
            "key_row": self.key_row,
            "answer_row": self.answer_row,
            "column": self.column,
            "expected": self.expected,
            "submitted": self.submitted,
            "cells": list(self.cells),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Counts of every row; of each sort at most ``limit`` rows are listed. A near miss is neither missing nor extra.

    ``columns``: for each column of the key the header it was read from; None where none was.
    """

    columns: tuple[tuple[str, str | None], ...]
    matched_count: int = 0
    missing_count: int = 0
    extra_count: int = 0
    near_count: int = 0
    matched: tuple[ExplainedRow, ...] = ()
    missing: tuple[ExplainedRow, ...] = ()
    extra: tuple[ExplainedRow, ...] = ()
    near: tuple[NearMiss, ...] = ()

    def to_json(self) -> JsonObject:
        """Counts and rows by sort."""
        return {
            "columns": [{"key": key, "answer": answer} for key, answer in self.columns],
            "matched": {"count": self.matched_count, "rows": [row.to_json() for row in self.matched]},
            "near": {"count": self.near_count, "rows": [row.to_json() for row in self.near]},
            "missing": {"count": self.missing_count, "rows": [row.to_json() for row in self.missing]},
            "extra": {"count": self.extra_count, "rows": [row.to_json() for row in self.extra]},
        }


def explain(
    reference: Table, submitted: bytes | None, settings: Settings | None = None, limit: int = 20
) -> Explanation:
    """Explain a submission in the normalized tier. Where none can be read, every row of the key is missing."""
    key = Key(reference, settings or Settings())
    answer = None if submitted is None else read_for(reference, submitted)
    if answer is None or isinstance(answer, Malformed):
        answer = Answer(columns=(), rows=[])
    comparison = compare(key, columns_of(answer))
    pairs = _pairs(comparison)
    used = set(pairs.values())
    missing = [row for row in range(len(reference)) if row not in used]
    extra = [row for row in range(len(answer.rows)) if row not in pairs]
    near = list(_near(comparison.normalized, missing, extra))
    nearly_key, nearly_answer = {row for row, _, _ in near}, {row for _, row, _ in near}
    texts = _Texts(reference, answer, comparison.normalized)
    missing = [row for row in missing if row not in nearly_key]
    extra = [row for row in extra if row not in nearly_answer]
    return Explanation(
        columns=texts.columns(),
        matched_count=len(pairs),
        missing_count=len(missing),
        extra_count=len(extra),
        near_count=len(near),
        matched=tuple(texts.explained(want, have) for have, want in list(pairs.items())[:limit]),
        missing=tuple(texts.explained(row, None) for row in missing[:limit]),
        extra=tuple(texts.explained(None, row) for row in extra[:limit]),
        near=tuple(texts.near(*miss) for miss in near[:limit]),
    )


def _pairs(comparison: Comparison) -> dict[int, int]:
    """Each matching row of the answer → its row of the key. Rows with one reading choose first."""
    codes, columns = comparison.normalized.codes, comparison.normalized.columns
    if comparison.normalized.ordered:
        return {row: row for row in range(comparison.answer_rows)}
    if codes is None:
        return {}
    if not columns:
        return {row: row for row in range(comparison.normalized.matched)}
    places: dict[Reading, deque[int]] = defaultdict(deque)
    for row, classes in enumerate(zip(*(column.classes for column in columns), strict=True)):
        places[classes].append(row)
    rows = list(enumerate(zip(*codes, strict=True)))
    several = [column.several for column in columns]
    pairs = {}
    for row, coded in sorted(rows, key=lambda item: min(item[1]) < NOTHING):
        if NOTHING not in coded:
            free = next((reading for reading in readings(coded, several) if places.get(reading)), None)
            if free is not None:
                pairs[row] = places[free].popleft()
    return dict(sorted(pairs.items()))


def _near(tier: Tier, missing: Sequence[int], extra: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(key row, answer row, column) that differ in this column alone, each row once. One column has no near misses."""
    width = len(tier.columns)
    if tier.codes is None or width < 2:
        return
    places: dict[tuple[int, Reading], deque[int]] = defaultdict(deque)
    for row in missing:
        classes = tuple(column.classes[row] for column in tier.columns)
        for at in range(width):
            places[at, _without(classes, at)].append(row)
    taken: set[int] = set()
    for row in extra:
        coded = tuple(codes[row] for codes in tier.codes)
        if coded.count(NOTHING) > 1:
            continue
        for at in range(width):
            free = places.get((at, _without(coded, at)))
            while free and free[0] in taken:
                free.popleft()
            if free:
                taken.add(free[0])
                yield free[0], row, at
                break


def _without(row: Reading, at: int) -> Reading:
    return (*row[:at], *row[at + 1 :])


@dataclass(frozen=True, slots=True)
class _Texts:
    """The rows of both sides as texts, in the key's column order where an order was found."""

    reference: Table
    answer: Answer
    tier: Tier

    def columns(self) -> tuple[tuple[str, str | None], ...]:
        order = self.tier.order
        found = [None] * len(self.reference.columns) if order is None else [self.answer.columns[at] for at in order]
        return tuple(zip(self.reference.columns, found, strict=True))

    def explained(self, want: int | None, have: int | None) -> ExplainedRow:
        return ExplainedRow(
            cells=self._key(want) if have is None and want is not None else self._given(have or 0),
            key_row=None if want is None else want + 1,
            answer_row=None if have is None else have + 1,
        )

    def near(self, want: int, have: int, at: int) -> NearMiss:
        given = self._given(have)
        return NearMiss(
            key_row=want + 1,
            answer_row=have + 1,
            column=self.reference.columns[at],
            expected=self._key(want)[at],
            submitted=given[at],
            cells=given,
        )

    def _key(self, row: int) -> tuple[str, ...]:
        return tuple(map(lexical, self.reference.rows[row]))

    def _given(self, row: int) -> tuple[str, ...]:
        cells = self.answer.rows[row]
        return cells if self.tier.order is None else tuple(cells[at] for at in self.tier.order)
