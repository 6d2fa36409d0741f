"""Numbers as values, never as binary floats: ``5``, ``5.0`` and ``5e0`` are one number.

A number is kept in a canonical spelling (``-12e-1``: sign, digits without outer zeros, exponent), so that equal values
are equal strings. Strings are safe dictionary keys whatever is submitted: nothing here needs time that grows with an
exponent, and hashes of chosen strings cannot be made to collide.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from itertools import islice, pairwise
from typing import Final

from okn_benchmark.scoring.settings import MOST_DIGITS, Guard, Settings, shown

_NUMBER: Final = re.compile(r"([+-]?)(?:([0-9]++)(?:\.([0-9]*+))?|\.([0-9]++))(?:[eE]([+-]?[0-9]{1,4}))?")
_PLAIN: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?")
_NAMED: Final = {"nan": "NaN", "inf": "INF", "+inf": "INF", "-inf": "-INF"}
_PART: Final = 4_096
_LAST_BIT: Final = Decimal("1e-12")

# Forty digits are more than any comparison here can tell apart, and bound the work on a longer number. No exponent
# leaves this range, and nothing traps.
ARITHMETIC: Final = Context(prec=40, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def canonical(text: str) -> str | None:
    """The canonical spelling of a number, or None for text that is no number."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, bare, exponent = match.groups()
    fraction = bare or fraction or ""
    digits = ((whole or "") + fraction).lstrip("0")
    if not digits:
        return "0"
    significant = digits.rstrip("0")
    scale = int(exponent or 0) - len(fraction) + len(digits) - len(significant)
    return f"{'-' if sign == '-' else ''}{significant}e{scale}"


def plain_number(text: str) -> str | None:
    """The same for a string literal, where a leading zero, a plus or an exponent makes it an identifier."""
    return canonical(text) if _PLAIN.fullmatch(text) else None


def named_number(text: str) -> str | None:
    """``NaN``, ``INF`` or ``-INF``, for the engines that print them in another case; None for anything else."""
    return _NAMED.get(text.lower()) if len(text) <= 4 else None


def is_integral(number: str) -> bool:
    """Whether a canonical number is whole."""
    return "e-" not in number


def rounded(number: str, digits: int) -> str:
    """The canonical number at so many significant digits, ties to even. Works on the text: there may be millions."""
    start, end = number.startswith("-"), number.find("e")
    if end - start <= digits:
        return number
    head, beyond = number[start : start + digits], number[start + digits]
    # A canonical number ends in no zero, so a five with anything behind it is more than half.
    up = beyond > "5" or (beyond == "5" and (end > start + digits + 1 or head[-1] in "13579"))
    kept = str(int(head) + 1) if up else head
    significant = kept.rstrip("0")
    scale = int(number[end + 1 :]) + end - start - digits + len(kept) - len(significant)
    return f"{number[:start]}{significant}e{scale}"


def value_of(text: str) -> Decimal | None:
    """The value to forty digits, for comparisons by distance; None for text that is no number."""
    number = canonical(text)
    return None if number is None else ARITHMETIC.create_decimal(number)


class NumberRule:
    """How one reference column reads numbers: snapping and rounding, or the guard that withdrew them.

    Args:
        column: the name of the column, for the guard.
        numbers: gives each number, canonical, and whether its type is one that engines print differently (decimal,
            float, double).
        settings: digits and tolerance.
    """

    def __init__(self, column: str, numbers: Callable[[], Iterable[tuple[str, bool]]], settings: Settings) -> None:
        self._numbers = numbers
        self._precision = settings.significant_digits
        self._tolerance = Decimal(str(settings.numeric_rel_tol))
        self._known = _Known(digits=self._precision, exact=False, fractions=False, steps=(), whole=())
        tight = self._tight()
        self.guard = None if tight is None else _snapping_guard(column, *tight)

    def _tight(self) -> tuple[str, str] | None:
        """Two numbers too close to snap between. In a crowded column a part of it shows that."""
        for size in (_PART, None):
            taken = list(islice(self._numbers(), size))
            seen = set(taken)
            if any(tolerant and not is_integral(number) for number, tolerant in seen):
                tight = _first_tight_pair(_by_value({number for number, _ in seen})[0], self._tolerance)
                if tight is not None:
                    return tight
            if len(taken) < _PART:
                return None
        return None

    def prepare(self, numbers: Iterable[tuple[str, bool]]) -> None:
        """Take in every number of the column, before the first is read."""
        seen = set(numbers)
        fractions = [number for number, tolerant in seen if tolerant and not is_integral(number)]
        digits, steps = self._precision, list[tuple[Decimal, str]]()
        if self.guard is not None:
            digits = _separating_digits(*_by_value({number for number, _ in seen}), digits)
        else:
            steps = sorted((ARITHMETIC.create_decimal(number), number) for number in fractions)
        self._known = _Known(
            digits=digits,
            exact=any(not tolerant for _, tolerant in seen),
            fractions=bool(fractions),
            steps=steps,
            whole=sorted(
                (ARITHMETIC.create_decimal(number), number)
                for number, tolerant in seen
                if tolerant and is_integral(number)
            ),
        )

    def key(self, number: str, *, tolerant: bool) -> str:
        """The class of a reference number: exact, whole though printed as a decimal, or rounded."""
        if not tolerant:
            return "i" + number
        return "d" + number if is_integral(number) else "r" + rounded(number, self._known.digits)

    def keys(self, text: str) -> Sequence[str]:
        """The classes a candidate may stand for, whether the column has them or not; none for what is no number."""
        number = canonical(text)
        if number is None:
            return ()
        known = self._known
        keys = ["i" + number] if known.exact else []
        if known.fractions:
            keys.append("r" + rounded(self._snapped(number, known), known.digits))
        if known.whole:
            near = number if is_integral(number) else self._near(number, known.whole, _LAST_BIT)
            keys += ["d" + near] if near is not None else []
        return keys

    def _snapped(self, number: str, known: "_Known") -> str:
        return (self._near(number, known.steps, self._tolerance) or number) if known.steps else number

    def _near(self, number: str, steps: Sequence[tuple[Decimal, str]], tolerance: Decimal) -> str | None:
        """The one number of the column that a candidate is near to."""
        value = ARITHMETIC.create_decimal(number)
        near = _nearest(steps, value)
        return near if near is not None and self._within(value, near, tolerance) else None

    def _within(self, value: Decimal, near: str, tolerance: Decimal) -> bool:
        target = ARITHMETIC.create_decimal(near)
        reach = ARITHMETIC.multiply(tolerance, target.copy_abs()) if target else _LAST_BIT
        return ARITHMETIC.subtract(value, target).copy_abs() <= reach


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    digits: int
    exact: bool
    """Whether any number compares by value alone."""
    fractions: bool
    """Whether any compares by rounding."""
    steps: Sequence[tuple[Decimal, str]]
    """What decimals snap to; empty under the guard."""
    whole: Sequence[tuple[Decimal, str]]
    """Whole numbers of a type that engines print a last bit off."""


def _snapping_guard(column: str, low: str, high: str) -> Guard:
    return Guard(
        guard="snapping",
        column=column,
        reason=f"{_readable(low)} and {_readable(high)} lie closer than twice the tolerance, so decimals are not "
        "snapped here; as many digits decide as tell the column's values apart.",
    )


def _nearest(steps: Sequence[tuple[Decimal, str]], value: Decimal) -> str | None:
    """The step nearest to a value; None when two are equally near."""
    at = bisect_left(steps, (value, ""))
    around = [steps[index] for index in (at - 1, at) if 0 <= index < len(steps)]
    if len(around) < 2:
        return around[0][1] if around else None
    below, above = (ARITHMETIC.subtract(value, step).copy_abs() for step, _ in around)
    if below == above:
        return None
    return around[0][1] if below < above else around[1][1]


def _by_value(numbers: Iterable[str]) -> tuple[list[str], list[float] | None]:
    """Sorted by value, with their floats; those are None where two share one, or one is out of a float's range."""
    floats = {number: float(number) for number in numbers}
    values = set(floats.values())
    zero = floats.get("0") == 0.0
    if len(values) < len(floats) or float("inf") in values or -float("inf") in values or (0.0 in values and not zero):
        return sorted(floats, key=Decimal), None
    ordered = sorted(floats, key=floats.__getitem__)
    return ordered, [floats[number] for number in ordered]


def _first_tight_pair(ordered: Sequence[str], tolerance: Decimal) -> tuple[str, str] | None:
    """Two neighbours closer than twice the tolerance, at least one of them not whole.

    Neighbours are enough: what lies between two numbers is nearer to both.
    """
    reach = ARITHMETIC.multiply(Decimal(2), tolerance)
    for low, high in pairwise(ordered):
        if is_integral(low) and is_integral(high):
            continue
        a, b = ARITHMETIC.create_decimal(low), ARITHMETIC.create_decimal(high)
        if ARITHMETIC.subtract(b, a) < ARITHMETIC.multiply(reach, max(a.copy_abs(), b.copy_abs())):
            return low, high
    return None


def _separating_digits(ordered: Sequence[str], floats: Sequence[float] | None, at_least: int) -> int:
    """The fewest digits, from ``at_least`` to 17, at which no two neighbours round to the same.

    Numbers further apart than one unit of the last digit cannot, so few pairs are looked at.
    """
    gaps = [0.0] * (len(ordered) - 1)
    if floats is not None:
        gaps = [(high - low) / max(abs(low), abs(high)) for low, high in pairwise(floats)]
    closest = gaps.index(min(gaps))
    close: Sequence[int] = range(len(gaps))
    for digits in range(at_least, MOST_DIGITS):
        if rounded(ordered[closest], digits) == rounded(ordered[closest + 1], digits):
            continue
        unit = _unit(digits)
        close = [at for at in close if gaps[at] <= unit]
        if all(rounded(ordered[at], digits) != rounded(ordered[at + 1], digits) for at in close):
            return digits
    return MOST_DIGITS


def _unit(digits: int) -> float:
    """Relative to a number, the most that one unit of its last digit can be, and a little more for the floats' sake."""
    return 1.01 * 10.0 ** (1 - digits)


def _readable(number: str) -> str:
    """A canonical number as people write it."""
    value = ARITHMETIC.create_decimal(number)
    return shown(f"{value:f}" if -20 < value.adjusted() < 20 else str(value))
