"""Planning: how many questions and repeats a study needs, from an assumed difficulty or from a root's own rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.report import read_report
from okn_benchmark.stats.paired import smallest_significant
from okn_benchmark.stats.power import ALPHA, POWER, Plan, design_power, mcnemar_size

QUESTIONS = (12, 24, 36, 60, 100)
REPEATS = (1, 3, 5, 10)
LARGEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Power per design. ``rates`` names where question difficulty came from."""

    difference: float
    power: float
    rates: str
    designs: tuple[Plan, ...]
    smallest_exact: int
    smallest_mid_p: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """Questions for McNemar's test with each asked once per arm."""

    discordant: float
    net: float
    power: float
    questions: int


def plan(
    difference: float,
    *,
    questions: Sequence[int] = QUESTIONS,
    repeats: Sequence[int] = REPEATS,
    root: Path | None = None,
    condition: str | None = None,
    beta: tuple[float, float] = (2.0, 1.0),
    power: float = POWER,
    studies: int = 600,
) -> Planned:
    """Simulated power of the sign-flip test for every design.

    Raises:
        InputError: a design or difference that means nothing, or a root without the condition.
    """
    if not 0 < difference < 1:
        raise InputError(
            f"A difference of {difference:g} is not a difference between two rates; give one such as 0.15."
        )
    if min(*questions, *repeats, 1) < 1:
        raise InputError("Questions and repeats are whole numbers from 1 up.")
    if max(questions) * max(repeats) > LARGEST:
        raise InputError(f"A design of more than {LARGEST:,} attempts per arm is not simulated; its power is near one.")
    if not 0 < power < 1:
        raise InputError(f"A power of {power:g} cannot be reached for; give one between 0 and 1, such as 0.8.")
    if condition is not None and root is None:
        raise InputError("--condition picks one of a runs root; say which root with --root.")
    rates, words = _rates(root, condition) if root is not None else (None, f"Beta({beta[0]:g}, {beta[1]:g})")
    try:
        designs = tuple(
            design_power(q, r, difference, difficulty=rates or beta, observed=rates is not None, studies=studies)
            for q in questions
            for r in repeats
        )
    except ValueError as error:
        raise InputError(f"{words}: {error}.", hint="Ask for a smaller difference.") from error
    return Planned(
        difference=difference,
        power=power,
        rates=words,
        designs=designs,
        smallest_exact=smallest_significant(alpha=ALPHA),
        smallest_mid_p=smallest_significant(mid_p=True, alpha=ALPHA),
    )


def size(discordant: float, net: float, power: float = POWER) -> Sized:
    """The classical size for one attempt per question and arm.

    Raises:
        InputError: shares that contradict each other.
    """
    try:
        return Sized(discordant=discordant, net=net, power=power, questions=mcnemar_size(discordant, net, power=power))
    except ValueError as error:
        raise InputError(f"That is {error}.", hint="The net difference is at most the discordant share.") from error


def _rates(root: Path, condition: str | None) -> tuple[list[float], str]:
    view = read_report(root).view
    names = [row.about.name for row in view.conditions]
    if condition is None and len(names) == 1:
        condition = names[0]
    if condition not in names:
        asked = "none was chosen" if condition is None else f"there is no {condition!r}"
        raise InputError(
            f"{root} has {len(names)} conditions and {asked}.", hint=f"Add --condition with one of: {', '.join(names)}."
        )
    found = [
        row for q in view.questions for row in q.rows if row.condition == condition and row.exact and not row.apart
    ]
    if not found:
        raise InputError(f"{condition} of {root} measured nothing to plan from.")
    return [sum(row.exact) / len(row.exact) for row in found], f"{len(found)} questions of {condition}"
