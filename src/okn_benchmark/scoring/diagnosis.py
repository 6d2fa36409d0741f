"""Why a wrong answer is wrong: each label is a repair that was tried and judged again.

Never changes a score. All labels that apply are listed in the order of the contract; reports count the first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.scoring.answer import Answer
from okn_benchmark.scoring.cells import NOTHING, Classes, Column, KeyColumn
from okn_benchmark.scoring.compare import Comparison, Key, tier
from okn_benchmark.scoring.readings import Readings
from okn_benchmark.scoring.relaxed import Nearest, by_local_name, without_case
from okn_benchmark.scoring.rows import Codes, merged, overlap
from okn_benchmark.scoring.search import Pair, Search
from okn_benchmark.scoring.units import factors, scaled
from okn_benchmark.table import Cell, Table

LABELS: Final = (
    "no_submission", "malformed", "empty", "extra_columns", "missing_columns", "order_only", "truncated", "duplicates",
    "subset", "superset", "iri_form", "case", "rounding", "units", "swapped_cells", "disjoint",
)  # fmt: skip
"""Every label, in the order in which they are listed and counted."""

_LOOSER: Final = tuple(Decimal(text) for text in ("0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"))
_MOST_SLIPS: Final = 64  # pairs of columns tried for a factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Labels in the order of the contract, and for some of them what the repair was."""

    labels: tuple[str, ...] = ()
    details: Mapping[str, JsonObject] = field(default_factory=dict)


def diagnose(key: Key, answer: Answer, comparison: Comparison) -> Diagnosis:
    """Diagnose a readable answer."""
    normalized = comparison.normalized
    if comparison.exact(normalized):
        return Diagnosis(labels=() if normalized.ordered else ("order_only",))
    if not comparison.answer_rows:
        return Diagnosis(labels=("empty",))
    found = list(_Repairs(key, answer, comparison).labels())
    return Diagnosis(
        labels=tuple(label for label, _ in found), details={label: detail for label, detail in found if detail}
    )


@dataclass(frozen=True, slots=True)
class _Repairs:
    key: Key
    answer: Answer
    seen: Comparison

    def labels(self) -> Iterator[tuple[str, JsonObject]]:
        """Each label that applies, with its detail."""
        yield from self._columns()
        yield from self._rows()
        if self.seen.key_rows == self.seen.answer_rows and self.seen.normalized.codes:
            yield from self._cells()
        if self.seen.key_rows and not self.seen.normalized.matched:
            yield "disjoint", {}

    def _columns(self) -> Iterator[tuple[str, JsonObject]]:
        wanted, given = self.key.table.columns, self.answer.columns
        if len(wanted) == len(given) or not wanted or self.seen.key_rows != self.seen.answer_rows:
            return
        pairs = self._paired()
        if pairs is None:
            return
        used = {have for _, have in pairs}
        answered = {want for want, _ in pairs}
        if len(given) > len(wanted):
            yield "extra_columns", {"columns": [name for at, name in enumerate(given) if at not in used]}
        else:
            yield "missing_columns", {"columns": [name for at, name in enumerate(wanted) if at not in answered]}

    def _paired(self) -> Sequence[Pair] | None:
        """Pairs of columns under which every row matches, equal names first."""
        readings = Readings(self.key.normalized, self.seen.texts)
        named = _shared_names(self.key.table.columns, self.answer.columns)
        narrow = min(len(self.key.table.columns), len(self.answer.columns))
        if len(named) == narrow:
            columns = [self.key.normalized[want] for want, _ in named]
            codes = [readings.codes(*pair) for pair in named]
            if overlap(columns, codes) == self.seen.key_rows:
                return named
        search = Search(readings=readings, best=self.seen.key_rows - 1, goal=self.seen.key_rows)
        search.run()
        return search.pairs

    def _rows(self) -> Iterator[tuple[str, JsonObject]]:
        key_rows, answer_rows = self.seen.key_rows, self.seen.answer_rows
        normalized = self.seen.normalized
        contained = normalized.matched == answer_rows < key_rows
        if normalized.codes is not None and contained:
            prefix = [_Fixed(column.classes[:answer_rows], column.several) for column in normalized.columns]
            if overlap(prefix, normalized.codes) == answer_rows:
                yield "truncated", {"rows": answer_rows}
        if normalized.codes is not None and _same_set(normalized.columns, normalized.codes):
            yield "duplicates", {}
        if contained:
            yield "subset", {"missing": key_rows - answer_rows}
        if normalized.matched == key_rows < answer_rows and (normalized.codes is not None or not key_rows):
            yield "superset", {"extra": answer_rows - key_rows}

    def _cells(self) -> Iterator[tuple[str, JsonObject]]:
        cells = list(zip(*self.key.table.rows, strict=True))
        named = list(zip(self.key.normalized, cells, strict=True))
        if self._exact([by_local_name(column, own) for column, own in named]):
            yield "iri_form", {}
        if self._exact([without_case(column, own) for column, own in named]):
            yield "case", {}
        tolerance = self._tolerance(named)
        if tolerance is not None:
            yield "rounding", {"rel_tol": float(tolerance)}
        slip = self._slip(cells)
        if slip is not None:
            yield "units", slip
        if self._pooled():
            yield "swapped_cells", {}

    def _exact(self, columns: Sequence[Column], texts: Sequence[Sequence[str]] | None = None) -> bool:
        found = tier(columns, self.key.table, self.answer, self.seen.texts if texts is None else texts)
        return found.matched == self.seen.key_rows == self.seen.answer_rows

    def _tolerance(self, named: Sequence[tuple[KeyColumn, Sequence[Cell]]]) -> Decimal | None:
        """The smallest looser tolerance that makes the answer exact."""

        def fits(tolerance: Decimal) -> bool:
            return self._exact([Nearest(column, own, tolerance) for column, own in named])

        if not fits(_LOOSER[-1]):
            return None
        return next(tolerance for tolerance in _LOOSER if fits(tolerance))

    def _slip(self, cells: Sequence[Sequence[Cell]]) -> JsonObject | None:
        """The column and the factor that repair the answer."""
        return next(islice(self._slips(cells), 1), None)

    def _slips(self, cells: Sequence[Sequence[Cell]]) -> Iterator[dict[str, Any]]:
        texts = self.seen.texts
        pairs = ((want, have) for want in range(len(cells)) for have in range(len(texts)))
        for want, have in islice(pairs, _MOST_SLIPS):
            for factor in factors(cells[want], texts[have]):
                repaired = [scaled(column, factor) if at == have else column for at, column in enumerate(texts)]
                if self._exact(self.key.normalized, repaired):
                    yield {"column": self.answer.columns[have], "factor": float(factor)}

    def _pooled(self) -> bool:
        """Exact if each row were a bag of cells, whatever the columns."""
        width = len(self.key.table.columns)
        pool = Table(("cell",), tuple((cell,) for row in self.key.table.rows for cell in row))
        column = Key(pool, self.key.settings).normalized[0]
        codes = column.read([text for row in self.answer.rows for text in row])
        if NOTHING in codes:
            return False
        return _bags(merged(column.classes, column.several), width) == _bags(merged(codes, column.several), width)


@dataclass(frozen=True, slots=True)
class _Fixed:
    classes: list[int]
    several: Sequence[tuple[int, ...]]


def _bags(codes: Sequence[int], width: int) -> list[list[int]]:
    return sorted(sorted(codes[at : at + width]) for at in range(0, len(codes), width))


def _same_set(columns: Sequence[Classes], codes: Codes) -> bool:
    """Whether both sides hold the same distinct rows."""
    if any(NOTHING in column for column in codes):
        return False
    given = [merged(own, column.several) for column, own in zip(columns, codes, strict=True)]
    wanted = [merged(column.classes, column.several) for column in columns]
    return set(zip(*given, strict=True)) == set(zip(*wanted, strict=True))


def _shared_names(wanted: Sequence[str], given: Sequence[str]) -> list[Pair]:
    """Columns with one name on both sides, each name once."""
    names, have = ([name.removeprefix("?") for name in side] for side in (wanted, given))
    once = {name for side in (names, have) for name, count in Counter(side).items() if count == 1}
    at = {name: index for index, name in enumerate(have)}
    return [(index, at[name]) for index, name in enumerate(names) if name in once and name in at]
