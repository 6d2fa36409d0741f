"""Two arms on the same questions: the unit is the question, the difference is paired.

Tests on pooled attempts reject far too often when single questions differ between arms, so they are not offered for
a claim about questions like these; the stratified one here answers for this corpus alone, and is labelled so.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from okn_benchmark.stats.quantiles import chi_square_1_tail, normal_two_sided, t_two_sided

EXACT_LIMIT = 12
DRAWS = 9_999
SEED = 20_250_301
_SAME = 1e-9  # differences of averages of thirds: equal sums may differ in the last bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A p-value with the counts it rests on.

    ``better`` and ``worse`` count questions (or pairs) on either side; ``draws`` and ``seed`` are None where the
    null distribution was enumerated.
    """

    __test__ = False  # pytest: not a test class

    p: float
    better: int
    worse: int
    same: int
    method: str
    draws: int | None = None
    seed: int | None = None


def sign_flip(differences: Sequence[float], *, draws: int = DRAWS, seed: int = SEED) -> Test:
    """Two-sided sign-flip test of a zero mean: enumerated up to 12 differences that are not zero, else drawn."""
    moved = [d for d in differences if abs(d) > _SAME]
    better = sum(d > 0 for d in moved)
    counts = {"better": better, "worse": len(moved) - better, "same": len(differences) - len(moved)}
    if len(moved) <= EXACT_LIMIT:
        return Test(p=_flip_all(moved), method="sign-flip, exact", **counts)
    p = _flip_some(moved, draws, seed)
    return Test(p=p, method=f"sign-flip, {draws:,} draws", draws=draws, seed=seed, **counts)


def _flip_all(moved: Sequence[float]) -> float:
    if not moved:
        return 1.0
    observed = abs(math.fsum(moved)) - _SAME
    # The first sign is fixed: flipping every sign gives the same absolute sum.
    sums = (moved[0] + sum(s * d for s, d in zip(signs, moved[1:], strict=True)) for signs in _signs(len(moved) - 1))
    return sum(abs(total) >= observed for total in sums) / (1 << (len(moved) - 1))


def _signs(count: int) -> Iterator[tuple[int, ...]]:
    return product((1, -1), repeat=count)


def _flip_some(moved: Sequence[float], draws: int, seed: int) -> float:
    source = random.Random(seed)  # noqa: S311 -- a reproducible null distribution, not a secret
    observed = abs(math.fsum(moved)) - _SAME
    total, count = math.fsum(moved), len(moved)
    extreme = 0
    for _ in range(draws):
        bits = source.getrandbits(count)
        flipped = math.fsum(d for place, d in enumerate(moved) if bits >> place & 1)
        extreme += abs(total - 2 * flipped) >= observed
    return (extreme + 1) / (draws + 1)


def sign_flip_whole(differences: Sequence[int]) -> float:
    """The exact two-sided sign-flip p of whole-numbered differences, for any number of them.

    The counts of all sign patterns by their sum are the coefficients of a product of ``1 + x^(2|d|)``; one big
    integer holds them, a fixed number of bits each. Power simulations run this thousands of times.
    """
    sizes = [abs(d) for d in differences if d]
    if not sizes:
        return 1.0
    width = len(sizes) + 1
    packed = 1
    for size in sizes:
        packed += packed << (size * width)
    reach, total = sum(sizes), abs(sum(differences))
    # A subset of sum s, flipped, leaves reach - 2s; both tails are mirror images.
    mask, extreme = (1 << width) - 1, 0
    for subset in range((reach - total) // 2 + 1):
        extreme += packed >> (subset * width) & mask
    both = 2 * extreme if total else 1 << len(sizes)
    return min(1.0, both / (1 << len(sizes)))


def sign_flip_limit(differences: Sequence[float]) -> float:
    """What the sign-flip p tends to with many differences: their sum is normal under random signs."""
    size = math.sqrt(math.fsum(d * d for d in differences))
    return normal_two_sided(math.fsum(differences) / size) if size else 1.0


def mcnemar(better: int, worse: int, same: int = 0, *, mid_p: bool = False) -> Test:
    """McNemar's conditional test on one pair per question: the exact two-sided p, or its mid-p."""
    n, smaller = better + worse, min(better, worse)
    p, method = 1.0, "McNemar, mid-p" if mid_p else "McNemar, exact"
    if n:
        whole = 1 << (n - 1)
        tail = sum(math.comb(n, k) for k in range(smaller + 1))
        p = min(1.0, tail / whole)
        if mid_p:
            p = (tail / whole if better != worse else 1.0) - math.comb(n, smaller) / (2 * whole)
    return Test(p=p, better=better, worse=worse, same=same, method=method)


def smallest_significant(*, mid_p: bool = False, alpha: float = 0.05) -> int:
    """How many discordant questions, all one way, McNemar's test needs before it can fall below ``alpha``."""
    count = 1
    while mcnemar(count, 0, mid_p=mid_p).p >= alpha:
        count += 1
    return count


def smallest_possible_p(moved: int) -> float:
    """The least two-sided sign-flip p that ``moved`` differences allow: every one pointing the same way."""
    return 1.0 if moved == 0 else 2.0 ** (1 - moved)


def paired_t(differences: Sequence[float]) -> float | None:
    """Student's two-sided p for a zero mean; None without spread or with fewer than two differences."""
    if len(differences) < 2 or (spread := stdev(differences)) == 0:
        return None
    return t_two_sided(fmean(differences) / (spread / math.sqrt(len(differences))), len(differences) - 1)


def equivalence(differences: Sequence[float], margin: float) -> float | None:
    """Two one-sided t tests against ``±margin``: the larger p; None where nothing can be said.

    Raises:
        ValueError: a margin that is not positive.
    """
    if margin <= 0:
        raise ValueError(f"a margin of {margin}")
    if len(differences) < 2:
        return None
    spread = stdev(differences) / math.sqrt(len(differences))
    inside = margin - abs(fmean(differences))
    if spread == 0:
        return 0.0 if inside > 0 else 1.0
    half = t_two_sided(inside / spread, len(differences) - 1) / 2
    return half if inside > 0 else 1 - half


def stratified(arms: Sequence[tuple[Sequence[bool], Sequence[bool]]]) -> Test | None:
    """Cochran-Mantel-Haenszel over questions, without correction: a statement about these questions only.

    Each item is one question's attempts in either arm. None when no question separates right from wrong.
    """
    excess = variance = 0.0
    better = worse = same = 0
    for first, second in arms:
        n, right = len(first) + len(second), sum(first) + sum(second)
        if not first or not second:
            continue
        gap = sum(first) * len(second) - sum(second) * len(first)
        better, worse, same = better + (gap > 0), worse + (gap < 0), same + (gap == 0)
        excess += sum(first) - len(first) * right / n
        variance += len(first) * len(second) * right * (n - right) / (n * n * (n - 1))
    if variance == 0:
        return None
    p = chi_square_1_tail(excess * excess / variance)
    return Test(p=p, better=better, worse=worse, same=same, method="CMH by question")
