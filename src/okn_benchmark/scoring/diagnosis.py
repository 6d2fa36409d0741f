"""Why a wrong answer is wrong: each label is a repair that was tried and judged again.

Never changes a score. All labels that apply are listed in the order of the contract; reports count the first.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import islice, product
from typing import Any, Final, TypeAlias

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.scoring.cells import NOTHING, Classes, Column
from okn_benchmark.scoring.columns import by_name
from okn_benchmark.scoring.compare import Comparison, Given, Key, tier
from okn_benchmark.scoring.key_column import KeyColumn
from okn_benchmark.scoring.readings import Order, Readings
from okn_benchmark.scoring.relaxed import Nearest, by_local_name, without_case
from okn_benchmark.scoring.rows import Codes, merged, overlap
from okn_benchmark.scoring.search import Pair, Search
from okn_benchmark.scoring.units import AS_MEASURED, factors, given_values, key_values, scaled
from okn_benchmark.table import Cell, Table

LABELS: Final = (
    "no_submission", "malformed", "empty", "extra_columns", "missing_columns", "order_only", "truncated", "duplicates",
    "subset", "superset", "iri_form", "case", "rounding", "units", "swapped_cells", "disjoint",
)  # fmt: skip
"""Every label, in the order in which they are listed and counted."""

_LOOSER: Final = tuple(Decimal(text) for text in ("0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"))
_Loosen: TypeAlias = Callable[[KeyColumn, Sequence[Cell]], Column]
_TRIED: Final = 4  # rows looked at before a search
_MOST_SLIPS: Final = 64  # pairs of columns tried for a factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Labels in the order of the contract, and for some of them what the repair was."""

    labels: tuple[str, ...] = ()
    details: Mapping[str, JsonObject] = field(default_factory=dict)


def diagnose(key: Key, header: tuple[str, ...], comparison: Comparison) -> Diagnosis:
    """Diagnose a readable answer with these names of columns."""
    normalized = comparison.normalized
    if comparison.exact(normalized):
        return Diagnosis(labels=() if normalized.ordered else ("order_only",))
    if not comparison.answer_rows:
        return Diagnosis(labels=("empty",))
    found = list(_Repairs(key, header, comparison).labels())
    return Diagnosis(
        labels=tuple(label for label, _ in found), details={label: detail for label, detail in found if detail}
    )


@dataclass(frozen=True, slots=True)
class _Repairs:
    key: Key
    header: tuple[str, ...]
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
        wanted, given = self.key.table.columns, self.header
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
        named = _shared_names(self.key.table.columns, self.header)
        narrow = min(len(self.key.table.columns), len(self.header))
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
        if self._exact(by_local_name):
            yield "iri_form", {}
        if self._exact(without_case):
            yield "case", {}
        tolerance = self._tolerance()
        if tolerance is not None:
            yield "rounding", {"rel_tol": float(tolerance)}
        slip = next(self._slips(), None)
        if slip is not None:
            yield "units", slip
        if self._pooled():
            yield "swapped_cells", {}

    def _exact(self, loosen: _Loosen) -> bool:
        """Whether every row matches when columns are read more loosely."""
        order = self._order()
        if order is None:
            return self._search([loosen(*pair) for pair in self._columns_with_cells()], self.seen.texts)
        given = self.seen.normalized.codes or ()
        failing = [want for want, codes in enumerate(given) if NOTHING in codes] or range(len(given))
        columns: list[Column] = list(self.key.normalized)
        known = {(want, have): list(given[want]) for want, have in enumerate(order) if want not in failing}
        for want, pair in enumerate(self._columns_with_cells()):
            if want in failing:
                columns[want] = loosen(*pair)
                first = given[want].index(NOTHING) if NOTHING in given[want] else 0
                if columns[want].read([self.seen.texts[order[want]][first]]) == [NOTHING]:
                    return False
        return Readings(columns, self.seen.texts, known).reaches(order, self.seen.key_rows)

    def _search(self, columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> bool:
        """The same where no order of columns is known: a few rows are looked at before all are."""
        some = range(0, self.seen.answer_rows, max(1, self.seen.answer_rows // _TRIED))
        if not all(_readable(columns, [column[row] for column in texts]) for row in some):
            return False
        given = Given(columns=self.header, texts=texts, count=self.seen.answer_rows)
        return tier(columns, self.key.table, given).matched == self.seen.key_rows

    def _order(self) -> Order | None:
        """The order of columns to keep; None where names say nothing and no row matched, so that none is known."""
        named = by_name(self.key.table.columns, self.header)
        return self.seen.normalized.order if named is not None or self.seen.normalized.matched else None

    def _columns_with_cells(self) -> Iterator[tuple[KeyColumn, Sequence[Cell]]]:
        return zip(self.key.normalized, self.key.cells, strict=True)

    def _tolerance(self) -> Decimal | None:
        """The smallest looser tolerance that makes the answer exact."""

        def fits(tolerance: Decimal) -> bool:
            return self._exact(lambda column, cells: Nearest(column, cells, tolerance))

        return next(filter(fits, _LOOSER)) if fits(_LOOSER[-1]) else None

    def _slips(self) -> Iterator[dict[str, Any]]:
        """The column and the factor that repair the answer."""
        texts, order = self.seen.texts, self._order()
        cells = self.key.cells
        pairs = product(range(len(cells)), range(len(texts))) if order is None else enumerate(order)
        given = self.seen.normalized.codes or ()
        failing = {want for want, codes in enumerate(given) if NOTHING in codes} if order is not None else set()
        wanted, found = cache(lambda at: key_values(cells[at])), cache(lambda at: given_values(texts[at]))
        for want, have in islice(pairs, _MOST_SLIPS):
            if failing and failing != {want}:
                continue  # what cannot be read in another column no factor for this one mends
            for factor in factors(wanted(want) or (), found(have) or ()):
                columns: list[Column] = list(self.key.normalized)
                columns[want] = Nearest(self.key.normalized[want], cells[want], AS_MEASURED)
                repaired = [scaled(column, factor) if at == have else column for at, column in enumerate(texts)]
                if self._repaired(columns, repaired, order):
                    yield {"column": self.header[have], "factor": float(factor)}

    def _repaired(self, columns: Sequence[Column], texts: Sequence[Sequence[str]], order: Order | None) -> bool:
        if order is None:
            return self._search(columns, texts)
        return Readings(columns, texts).reaches(order, self.seen.key_rows)

    def _pooled(self) -> bool:
        """Exact if each row were a bag of cells, whatever the columns."""
        width = len(self.key.table.columns)
        for codes, column in zip(self.seen.normalized.codes or (), self._order() or (), strict=False):
            if NOTHING in codes and not _readable(self.key.normalized, [self.seen.texts[column][codes.index(NOTHING)]]):
                return False
        pool = Table(("cell",), tuple((cell,) for row in self.key.table.rows for cell in row))
        pooled = Key(pool, self.key.settings).normalized[0]
        codes = pooled.read([text for row in zip(*self.seen.texts, strict=True) for text in row])
        if NOTHING in codes:
            return False
        return _bags(merged(pooled.classes, pooled.several), width) == _bags(merged(codes, pooled.several), width)


@dataclass(frozen=True, slots=True)
class _Fixed:
    classes: list[int]
    several: Sequence[tuple[int, ...]]


def _readable(columns: Sequence[Column], texts: Sequence[str]) -> bool:
    """Whether each text is known to one of the columns at least."""
    return all(any(column.read([text]) != [NOTHING] for column in columns) for text in texts)


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
