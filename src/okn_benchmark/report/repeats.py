"""pass@k and pass^k over questions, with intervals that hold at the ends of the scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from okn_benchmark.stats.bootstrap import bca_mean
from okn_benchmark.stats.intervals import Interval, wilson
from okn_benchmark.stats.passk import pass_at_k, pass_hat_k


@dataclass(frozen=True, slots=True, kw_only=True)
class PassK:
    """pass@k and pass^k, averaged over the questions with at least ``k`` measured attempts."""

    k: int
    questions: int
    at_least_one: float
    at_least_one_interval: Interval | None
    all_right: float
    all_right_interval: Interval | None


def passes(questions: Sequence[Sequence[bool]]) -> tuple[PassK, ...]:
    """For every k from 2 to the most attempts a question has; ``questions`` are lists of exact or not."""
    deepest = max(map(len, questions), default=0)
    return tuple(_pass_k(questions, k) for k in range(2, deepest + 1))


def _pass_k(questions: Sequence[Sequence[bool]], k: int) -> PassK:
    deep = [(len(exact), sum(exact)) for exact in questions if len(exact) >= k]
    some = [value for n, c in deep if (value := pass_at_k(n, c, k)) is not None]
    every = [value for n, c in deep if (value := pass_hat_k(n, c, k)) is not None]
    return PassK(
        k=k,
        questions=len(deep),
        at_least_one=fmean(some),
        at_least_one_interval=share_interval(some),
        all_right=fmean(every),
        all_right_interval=share_interval(every),
    )


def share_interval(values: Sequence[float]) -> Interval:
    """Of a mean of shares: a bootstrap of questions, or Wilson at the edge, where a bootstrap sees no spread."""
    mean = fmean(values)
    found = bca_mean(values) if 0 < mean < 1 else None
    return found or wilson(mean, len(values))
