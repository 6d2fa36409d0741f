"""What one success costs: a mean cost over a mean rate, with questions resampled for its interval. Plain Python."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from okn_benchmark.stats.bootstrap import RESAMPLES
from okn_benchmark.stats.intervals import CONFIDENCE
from okn_benchmark.stats.paired import SEED

FEWEST = 3
"""Below this many questions a resampling says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSuccess:
    """``value`` None: nothing succeeded, so no amount was enough. ``high`` None: resamples without a success occur."""

    value: float | None
    questions: int
    low: float | None
    high: float | None
    method: str


def per_success(
    pairs: Sequence[tuple[float, float]], *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> PerSuccess | None:
    """``pairs`` are (mean cost, share right) of each question; None over nothing.

    The ratio of the two means, not a mean of ratios: a question nobody answered costs what it costs and yields
    nothing. Percentiles of resampled questions, with a fixed seed.
    """
    if not pairs:
        return None
    value, count = _ratio(pairs), len(pairs)
    if count < FEWEST:
        return PerSuccess(value=_finite(value), questions=count, low=None, high=None, method="too few questions")
    source = random.Random(SEED)  # noqa: S311 -- a reproducible resampling, not a secret
    ratios = sorted(_ratio(source.choices(pairs, k=count)) for _ in range(resamples))
    tail = (1 - confidence) / 2
    low, high = ratios[math.floor(tail * (resamples - 1))], ratios[math.ceil((1 - tail) * (resamples - 1))]
    return PerSuccess(
        value=_finite(value),
        questions=count,
        low=_finite(low),
        high=_finite(high),
        method=f"percentiles of {resamples:,} resampled sets of questions",
    )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    rate = fmean(share for _, share in pairs)
    return fmean(cost for cost, _ in pairs) / rate if rate > 0 else math.inf


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
