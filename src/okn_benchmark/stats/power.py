"""What a study could find: the smallest difference it would notice, and how large to make the next one.

The simulations assume independent attempts within a question. They show direction and size, not a guarantee.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from okn_benchmark.stats.paired import SEED, sign_flip_limit, sign_flip_whole
from okn_benchmark.stats.quantiles import normal_quantile

POWER = 0.80
ALPHA = 0.05
STUDIES = 200
EXACT_QUESTIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest mean difference found with at least ``power``; None where no difference would be.

    ``power_at_most`` is the power against the largest difference these rates have room for.
    """

    difference: float | None
    power: float
    power_at_most: float
    questions: int
    repeats: int
    studies: int
    seed: int


@lru_cache(maxsize=256)
def detectable(
    rates: tuple[float, ...], repeats: int, *, power: float = POWER, alpha: float = ALPHA, studies: int = STUDIES
) -> Detectable:
    """Simulate the sign-flip test against an arm in which every question moves alike from its observed rate.

    They move towards the side with more room and stop at 0 or 1, so the difference is the mean that is left of it.
    """
    rng = random.Random(SEED)  # noqa: S311 -- a reproducible simulation, not a secret
    sign = -1 if sum(rates) >= len(rates) / 2 else 1

    def moved(step: int) -> list[float]:
        return [min(1.0, max(0.0, rate + sign * step / 100)) for rate in rates]

    def found(step: int) -> float:
        others = moved(step)
        return sum(_study(rates, others, repeats, rng) < alpha for _ in range(studies)) / studies

    at_most = found(100) if len(rates) > 1 else 0.0
    step = _first(range(1, 101), lambda s: found(s) >= power) if at_most >= power else None
    difference = None if step is None else abs(sum(moved(step)) - sum(rates)) / len(rates)
    return Detectable(
        difference=difference,
        power=power,
        power_at_most=at_most,
        questions=len(rates),
        repeats=repeats,
        studies=studies,
        seed=SEED,
    )


def _study(rates: Sequence[float], others: Sequence[float], repeats: int, rng: random.Random) -> float:
    both = zip(rates, others, strict=True)
    gaps = [_right(other, repeats, rng) - _right(rate, repeats, rng) for rate, other in both]
    # The exact count grows with the square of the questions, and its limit is reached long before.
    return sign_flip_whole(gaps) if len(gaps) <= EXACT_QUESTIONS else sign_flip_limit(gaps)


def _right(rate: float, repeats: int, rng: random.Random) -> int:
    return sum(rng.random() < rate for _ in range(repeats))


def _first(steps: Sequence[int], enough: Callable[[int], bool]) -> int:
    """The least step that is enough; ``enough`` is taken to grow, as power does, and the last step to be enough."""
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(steps[middle]) else (middle + 1, high)
    return steps[low]


def mcnemar_size(discordant: float, net: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """Questions, each asked once per arm, for McNemar's test: ``discordant`` share, ``net`` difference.

    Raises:
        ValueError: a net difference that the discordant share cannot hold.
    """
    if not 0 < abs(net) <= discordant <= 1:
        raise ValueError(f"a net difference of {net} in a discordant share of {discordant}")
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    root = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - net * net)
    return math.ceil(root * root / (net * net) - 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The power of one design against one difference."""

    questions: int
    repeats: int
    episodes: int
    power: float
    studies: int


def design_power(
    questions: int,
    repeats: int,
    difference: float,
    *,
    difficulty: tuple[float, float] | Sequence[float] = (2.0, 1.0),
    observed: bool = False,
    alpha: float = ALPHA,
    studies: int = 500,
    seed: int = SEED,
) -> Plan:
    """The power of the sign-flip test at ``questions`` x ``repeats`` per arm, by simulation.

    ``difficulty`` is a Beta distribution's two shapes, or with ``observed`` a list of rates to draw from. Half the
    questions move, twice as far; ``difference`` is the mean that results.

    Raises:
        ValueError: the rates have no room for the difference.
    """
    rng = random.Random(seed)  # noqa: S311 -- a reproducible simulation, not a secret
    if observed:
        rates = [[rng.choice(difficulty) for _ in range(questions)] for _ in range(studies)]
    else:
        rates = [[rng.betavariate(*difficulty) for _ in range(questions)] for _ in range(studies)]
    moved = [_half(questions, rng) for _ in range(studies)]
    shift = _shift(rates, moved, difference)
    hits = 0
    for study, half in zip(rates, moved, strict=True):
        others = [min(1.0, max(0.0, r + shift)) if m else r for r, m in zip(study, half, strict=True)]
        hits += _study(study, others, repeats, rng) < alpha
    return Plan(
        questions=questions,
        repeats=repeats,
        episodes=2 * questions * repeats,
        power=hits / studies,
        studies=studies,
    )


def _half(questions: int, rng: random.Random) -> list[bool]:
    """Every second question, in an order of its own."""
    places = [place % 2 == 0 for place in range(questions)]
    rng.shuffle(places)
    return places


def _shift(rates: Sequence[Sequence[float]], moved: Sequence[Sequence[bool]], difference: float) -> float:
    """How far half the questions must move for this mean difference: rates stop at 0 and 1, so it is looked for."""
    flat = [rate for study in rates for rate in study]
    sign = -1 if sum(flat) >= len(flat) / 2 else 1
    moving = [r for study, half in zip(rates, moved, strict=True) for r, m in zip(study, half, strict=True) if m]

    def reached(shift: float) -> float:
        return sum(abs(min(1.0, max(0.0, rate + sign * shift)) - rate) for rate in moving) / len(flat)

    if reached(1.0) < difference:
        raise ValueError(f"these rates have no room for a mean difference of {difference}")
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < difference else (low, middle)
    return sign * high
