"""Columns that read more than the contract allows: what a diagnosis tries in place of a reference column."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from decimal import Decimal

from okn_benchmark.scoring.cells import NOTHING, lexical, plain_text
from okn_benchmark.scoring.iri import folded, local_name
from okn_benchmark.scoring.key_column import KeyColumn
from okn_benchmark.scoring.number import ARITHMETIC, value_of
from okn_benchmark.table import Cell


class Relaxed:
    """A reference column whose classes are merged by a looser key, and which tries looser keys on what it cannot read.

    Args:
        base: the column of the normalized tier.
        cells: its reference cells.
        loose: the looser keys of a reference cell; cells with the same first key become one class.
        tries: the looser keys a submitted text may have.
    """

    def __init__(
        self,
        base: KeyColumn,
        cells: Sequence[Cell],
        loose: Callable[[Cell], Sequence[str]],
        tries: Callable[[str], Sequence[str]],
    ) -> None:
        self._base = base
        self._tries = tries
        self._keys: dict[str, int] = {}
        self._merged: dict[int, int] = {}
        for cell, number in dict(zip(cells, base.classes, strict=True)).items():
            keys = loose(cell)
            merged = self._keys.setdefault(keys[0], number) if keys else number
            merged = self._merged.setdefault(number, merged)
            for key in keys:
                self._keys.setdefault(key, merged)
        self.classes = [self._merged[number] for number in base.classes]
        self.mixed = base.mixed

    @property
    def several(self) -> Sequence[tuple[int, ...]]:
        """The several classes of the column beneath, merged."""
        return [tuple({self._merged[code] for code in codes}) for codes in self._base.several]

    def read(self, texts: Sequence[str]) -> list[int]:
        """The merged class of each text."""
        return [self._one(text, code) for text, code in zip(texts, self._base.read(texts), strict=True)]

    def _one(self, text: str, code: int) -> int:
        if code != NOTHING:
            return code if code < NOTHING else self._merged[code]
        return next((self._keys[key] for key in self._tries(text) if key in self._keys), NOTHING)


def by_local_name(base: KeyColumn, cells: Sequence[Cell]) -> Relaxed:
    """IRIs by their local names alone."""
    return Relaxed(base, cells, _iri_name, _local_tries)


def without_case(base: KeyColumn, cells: Sequence[Cell]) -> Relaxed:
    """Strings without regard to case; IRIs too, whole or by local name."""
    return Relaxed(base, cells, _caseless, _caseless_tries)


def _iri_name(cell: Cell) -> Sequence[str]:
    return (local_name(cell.value),) if cell is not None and cell.kind == "uri" else ()


def _local_tries(text: str) -> Sequence[str]:
    name = local_name(folded(text))
    prefix, colon, local = name.partition(":")
    return (name, f"{prefix}_{local}", local) if colon else (name,)


def _caseless(cell: Cell) -> Sequence[str]:
    if cell is None:
        return ()
    if cell.kind == "uri":
        return "<" + folded(cell.value).casefold(), "/" + local_name(cell.value).casefold()
    return (plain_text(lexical(cell)).casefold(),)


def _caseless_tries(text: str) -> Sequence[str]:
    whole = folded(text).casefold()
    if "://" in whole:
        return plain_text(text).casefold(), "<" + whole
    return plain_text(text).casefold(), *("/" + name for name in _local_tries(whole)[:2])


class Nearest:
    """A reference column that takes any number for the nearest one it has, within a relative tolerance."""

    def __init__(self, base: KeyColumn, cells: Sequence[Cell], rel_tol: Decimal) -> None:
        self._base = base
        self._rel_tol = rel_tol
        self.classes = base.classes
        self.several = base.several
        self.mixed = base.mixed
        steps = {
            value: code
            for cell, code in dict(zip(cells, base.classes, strict=True)).items()
            if cell is not None and cell.kind == "literal" and (value := value_of(cell.value)) is not None
        }
        self._steps = sorted(steps.items())

    def read(self, texts: Sequence[str]) -> list[int]:
        """The class of each text, or of the nearest number."""
        return [self._one(text, code) for text, code in zip(texts, self._base.read(texts), strict=True)]

    def _one(self, text: str, code: int) -> int:
        value = value_of(text) if code == NOTHING else None
        return code if value is None else self._nearest(value)

    def _nearest(self, value: Decimal) -> int:
        at = bisect_left(self._steps, (value, 0))
        around = [
            (ARITHMETIC.subtract(value, step).copy_abs(), step, code)
            for step, code in self._steps[max(0, at - 1) : at + 1]
        ]
        if not around:
            return NOTHING
        distance, step, code = min(around)
        return code if distance <= ARITHMETIC.multiply(self._rel_tol, step.copy_abs()) else NOTHING
