"""Normal and Student quantiles from ``math`` alone: importing scipy would take longer than a whole report."""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()


def normal_quantile(probability: float) -> float:
    """The z with ``P(Z <= z) == probability``."""
    return _NORMAL.inv_cdf(probability)


def normal_cdf(z: float) -> float:
    """``P(Z <= z)``."""
    return _NORMAL.cdf(z)


def normal_two_sided(z: float) -> float:
    """``P(|Z| >= |z|)``; keeps its precision far out in the tail."""
    return math.erfc(abs(z) / math.sqrt(2))


def chi_square_1_tail(x: float) -> float:
    """``P(X >= x)`` for one degree of freedom."""
    return math.erfc(math.sqrt(max(x, 0.0) / 2))


def t_two_sided(t: float, df: int) -> float:
    """``P(|T| >= |t|)`` for whole degrees of freedom.

    The finite trigonometric series of Abramowitz and Stegun, 26.7.3 and 26.7.4: exact, no iteration.

    Raises:
        ValueError: fewer than one degree of freedom.
    """
    if df < 1:
        raise ValueError(f"{df} degrees of freedom")
    if math.isinf(t):
        return 0.0
    theta = math.atan2(abs(t), math.sqrt(df))
    sine, cosine = math.sin(theta), math.cos(theta)
    if df % 2:
        term, total = cosine, 0.0
        for step in range(1, (df - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * step) / (2 * step + 1)
        inside = 2 / math.pi * (theta + sine * total)
    else:
        term, total = 1.0, 0.0
        for step in range(1, df // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * step - 1) / (2 * step)
        inside = sine * total
    return min(1.0, max(0.0, 1.0 - inside))


@lru_cache(maxsize=512)
def t_quantile(probability: float, df: int) -> float:
    """The t with ``P(T <= t) == probability``, for ``0 < probability < 1``; by bisection to 1e-12 relative."""
    if not 0 < probability < 1:
        raise ValueError(f"{probability} is not inside (0, 1)")
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    both_tails = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while t_two_sided(high, df) > both_tails:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_two_sided(middle, df) > both_tails else (low, middle)
    return high
