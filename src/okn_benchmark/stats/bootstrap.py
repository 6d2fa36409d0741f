"""A bootstrap of questions with the BCa correction, in plain Python and with a fixed seed."""

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import fmean

from okn_benchmark.stats.intervals import CONFIDENCE, Interval
from okn_benchmark.stats.paired import SEED
from okn_benchmark.stats.quantiles import normal_cdf, normal_quantile

RESAMPLES = 1_999
FEWEST = 5


def bca_mean(
    values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, confidence: float = CONFIDENCE
) -> Interval | None:
    """The bias-corrected and accelerated interval of a mean; None without spread or with fewer than five values.

    At the edge of a scale resamples look alike and the interval is far too narrow: callers use Wilson there.
    """
    n = len(values)
    if n < FEWEST or max(values) - min(values) < 1e-12:
        return None
    values = sorted(values)  # the interval must not depend on the order of the questions
    source = random.Random(seed)  # noqa: S311 -- a reproducible resampling, not a secret
    means = sorted(math.fsum(source.choices(values, k=n)) / n for _ in range(resamples))
    mean = fmean(values)
    # Ties count half: means of few distinct values are lumpy.
    below = (bisect_left(means, mean - 1e-12) + bisect_right(means, mean + 1e-12)) / (2 * resamples)
    bias = normal_quantile(min(max(below, 0.5 / resamples), 1 - 0.5 / resamples))
    skew = _acceleration(values, mean)
    low, high = (_corrected(bias, skew, q) for q in ((1 - confidence) / 2, (1 + confidence) / 2))
    return Interval(low=_at(means, low), high=_at(means, high), method=f"BCa, {resamples:,} resamples")


def _acceleration(values: Sequence[float], mean: float) -> float:
    # Leaving one value out moves the mean by a fixed share of its distance, so the jackknife needs no loop of loops.
    cubes = math.fsum((value - mean) ** 3 for value in values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return cubes / (6 * squares * math.sqrt(squares))


def _corrected(bias: float, skew: float, probability: float) -> float:
    z = bias + normal_quantile(probability)
    return normal_cdf(bias + z / (1 - skew * z))


def _at(ordered: Sequence[float], probability: float) -> float:
    place = probability * (len(ordered) - 1)
    low = min(int(place), len(ordered) - 2)
    return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])
