"""Intervals of one arm: a share of questions, and a rate over repeated attempts.

Attempts of one question resemble each other, so pooling them makes an interval too narrow. The interval here is
Wilson's on the *effective* number of attempts, which a one-way analysis of variance over the questions tells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from okn_benchmark.stats.quantiles import normal_quantile, t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A closed range and how it was made."""

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    """A rate over attempts grouped by question.

    ``value`` is the mean over questions of each question's own mean; ``effective`` the number of independent
    attempts that would tell as much.
    """

    value: float
    questions: int
    attempts: int
    hits: int
    icc: float
    effective: float
    interval: Interval


def wilson(share: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of ``share`` seen over ``n`` trials; ``n`` need not be whole.

    Raises:
        ValueError: no trials, or a share outside 0 to 1.
    """
    if n <= 0 or not -1e-12 <= share <= 1 + 1e-12:
        raise ValueError(f"a share of {share} over {n} trials")
    z2 = normal_quantile((1 + confidence) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * max(share * (1 - share), 0.0) / n + z2 * z2 / (4 * n * n)) / (1 + z2 / n)
    # At 0 and 1 the bound is the end of the scale itself; rounding must not leave 1e-17 there.
    low = 0.0 if share <= 0 else max(0.0, centre - half)
    high = 1.0 if share >= 1 else min(1.0, centre + half)
    return Interval(low=low, high=high, method="wilson")


def wilson_count(hits: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval of ``hits`` in ``n``."""
    return wilson(hits / n, n, confidence)


def intraclass(groups: Sequence[Sequence[float]]) -> float:
    """How alike attempts of one question are, 0 to 1: one-way ANOVA, unequal group sizes allowed.

    1 when every question is unanimous, since nothing then says that another attempt would tell more. 0 where it
    cannot matter (no question has two attempts).
    """
    groups = [group for group in groups if group]
    total, count = sum(map(len, groups)), len(groups)
    if all(len(group) == 1 for group in groups):
        return 0.0
    means = [fmean(group) for group in groups]
    within_sum = sum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
    if within_sum <= 1e-12 or count == 1:
        return 1.0
    grand = sum(map(sum, groups)) / total
    between = sum(len(g) * (mean - grand) ** 2 for g, mean in zip(groups, means, strict=True)) / (count - 1)
    within = within_sum / (total - count)
    size = (total - sum(len(g) ** 2 for g in groups) / total) / (count - 1)
    icc = (between - within) / (between + (size - 1) * within)
    return min(1.0, max(0.0, icc))


def effective_n(sizes: Sequence[int], icc: float) -> float:
    """Independent attempts that ``sizes`` attempts per question are worth at this intraclass correlation."""
    return sum(size / (1 + (size - 1) * icc) for size in sizes if size)


def clustered(groups: Sequence[Sequence[bool]], confidence: float = CONFIDENCE) -> Clustered | None:
    """The rate over questions with Wilson's interval on the effective number of attempts; None over nothing."""
    numeric = [[float(value) for value in group] for group in groups if group]
    if not numeric:
        return None
    value = fmean(fmean(group) for group in numeric)
    icc = intraclass(numeric)
    effective = effective_n([len(group) for group in numeric], icc)
    found = wilson(value, effective, confidence)
    return Clustered(
        value=value,
        questions=len(numeric),
        attempts=sum(map(len, numeric)),
        hits=round(sum(map(sum, numeric))),
        icc=icc,
        effective=effective,
        interval=Interval(low=found.low, high=found.high, method="wilson on effective n"),
    )


def mean_interval(
    values: Sequence[float], confidence: float = CONFIDENCE, within: tuple[float, float] = (-math.inf, math.inf)
) -> Interval | None:
    """Student's interval of a mean; None where the values show no spread: it would claim to know the mean exactly.

    ``within`` is what the mean can be at all: a share lies in 0 to 1, a difference of two in −1 to 1.
    """
    if len(values) < 2 or max(values) - min(values) < 1e-12:
        return None
    half = t_quantile((1 + confidence) / 2, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    centre = fmean(values)
    return Interval(low=max(within[0], centre - half), high=min(within[1], centre + half), method="t on question means")


def geometric_ratio(
    pairs: Sequence[tuple[float, float]], confidence: float = CONFIDENCE
) -> tuple[float, Interval | None] | None:
    """Geometric mean of ``a / b`` over pairs, with Student's interval on the log scale.

    Pairs with a value that is not positive have no logarithm and are left out; None when none is left.
    """
    logs = [math.log(a / b) for a, b in pairs if a > 0 and b > 0]
    if not logs:
        return None
    found = mean_interval(logs, confidence)
    if found is None:
        return math.exp(logs[0]), None
    return math.exp(fmean(logs)), Interval(low=math.exp(found.low), high=math.exp(found.high), method="t on log ratios")
