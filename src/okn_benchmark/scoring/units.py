"""A slip of units: one constant factor between a numeric column of the answer and one of the key."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal, localcontext
from typing import Final

from okn_benchmark.scoring.number import ARITHMETIC, value_of
from okn_benchmark.table import Cell

AS_MEASURED: Final = Decimal("0.001")
"""How far a scaled number may be from the key's: a factor found from printed numbers is no better than they are."""

_SMALLEST: Final = Decimal("1e-30")
_LARGEST: Final = Decimal("1e30")
_KNOWN: Final = frozenset(
    Decimal(text)
    for text in (
        "2.54", "7", "12", "24", "30", "52", "60", "100", "365", "365.25", "1024", "3600", "86400", "0.3048",
        "1.609344", "0.45359237", "4.184", "2.58998811", "4046.8564224", "0.40468564224", "1048576",
    )
)  # fmt: skip


def key_values(cells: Sequence[Cell]) -> list[Decimal] | None:
    """The numbers of a reference column in order; None where a cell is none, or all are unbound."""
    return _sorted(cell.value if cell.kind == "literal" else "" for cell in cells if cell is not None)


def given_values(texts: Sequence[str]) -> list[Decimal] | None:
    """The same of a submitted column."""
    return _sorted(text for text in texts if text)


def factors(want: Sequence[Decimal], have: Sequence[Decimal]) -> Iterator[Decimal]:
    """The factors, at most two, that may take the numbers of a submitted column to those of a reference column.

    Where fewer than two different values speak for a factor, it must be one that people convert with.
    """
    if len(want) != len(have):
        return
    for sign, other in ((1, have), (-1, [value.copy_negate() for value in reversed(have)])):
        with localcontext(ARITHMETIC):
            factor = _factor(want, other)
        if factor is not None and sign * factor != 1:
            yield sign * factor


def scaled(texts: Sequence[str], factor: Decimal) -> list[str]:
    """The texts with every number multiplied; the rest as it was."""
    return [_times(text, factor) for text in texts]


def _sorted(texts: Iterable[str]) -> list[Decimal] | None:
    """The values in order; None when a text is no number, or there is none."""
    values = []
    for text in texts:
        value = value_of(text)
        if value is None:
            return None
        values.append(value)
    return sorted(values) or None


def _times(text: str, factor: Decimal) -> str:
    value = value_of(text)
    return text if value is None else str(ARITHMETIC.multiply(value, factor))


def _factor(want: Sequence[Decimal], have: Sequence[Decimal]) -> Decimal | None:
    """The positive factor between two sorted columns, as a round number where it is nearly one."""
    pairs = [(w, h) for w, h in zip(want, have, strict=True) if w or h]
    if not pairs or any(not w or not h for w, h in pairs):
        return None
    largest = max(pairs, key=lambda pair: abs(pair[0]))
    ratio = largest[0] / largest[1]
    if not _SMALLEST < ratio < _LARGEST or any(abs(w / h / ratio - 1) > AS_MEASURED for w, h in pairs):
        return None
    round_ratio = _rounded(ratio)
    if len(set(want) - {Decimal(0)}) < 2 and not _is_conversion(round_ratio):
        return None
    return round_ratio


def _rounded(ratio: Decimal) -> Decimal:
    """The factor in as few digits as keep it the same, up or down."""
    for known in _KNOWN:
        for candidate in (known, 1 / known):
            if abs(ratio / candidate - 1) < Decimal("1e-4"):
                return candidate
    for digits in range(1, 6):
        candidate = Context(prec=digits, traps=[]).plus(ratio)
        if abs(ratio / candidate - 1) < Decimal("1e-6"):
            return candidate
    return ratio


def _is_conversion(ratio: Decimal) -> bool:
    return ratio.normalize().as_tuple().digits == (1,) or any(ratio in {known, 1 / known} for known in _KNOWN)
