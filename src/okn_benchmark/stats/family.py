"""Several comparisons at once: Holm for a declared family, Benjamini-Hochberg for a screen, max-T for one baseline."""

import math
import random
from collections.abc import Sequence

from okn_benchmark.stats.paired import DRAWS, SEED


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order; each may be held against alpha itself."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """False-discovery adjusted p-values in the given order, for an exploratory screen."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted, lowest, count = [1.0] * len(p_values), 1.0, len(p_values)
    for rank, index in enumerate(order):
        lowest = min(lowest, p_values[index] * count / (count - rank))
        adjusted[index] = lowest
    return adjusted


def max_t(contrasts: Sequence[Sequence[float]], *, draws: int = DRAWS, seed: int = SEED) -> list[float]:
    """Adjusted p-values of contrasts that share questions: one sign per question flips all of them together.

    Contrasts against one baseline move together; this uses that where Holm cannot. Every contrast is the list of
    its differences, question by question in the same order.

    Raises:
        ValueError: contrasts over different numbers of questions.
    """
    if not contrasts or not contrasts[0]:
        return [1.0] * len(contrasts)
    questions = len(contrasts[0])
    if any(len(contrast) != questions for contrast in contrasts):
        raise ValueError("contrasts over different questions")
    observed = [_statistic(contrast) for contrast in contrasts]
    source = random.Random(seed)  # noqa: S311 -- a reproducible null distribution, not a secret
    reached = [0] * len(contrasts)
    for _ in range(draws):
        bits = source.getrandbits(questions)
        highest = max(_statistic(contrast, bits) for contrast in contrasts)
        for index, value in enumerate(observed):
            reached[index] += highest >= value - 1e-9
    return [(count + 1) / (draws + 1) for count in reached]


def _statistic(contrast: Sequence[float], flips: int = 0) -> float:
    # The sum of squares does not change with the signs, so this is monotone in |t| within a contrast.
    size = math.sqrt(sum(d * d for d in contrast))
    if size == 0:
        return 0.0
    return abs(sum(-d if flips >> place & 1 else d for place, d in enumerate(contrast))) / size
