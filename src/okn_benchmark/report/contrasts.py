"""Which two arms are subtracted, and what the difference carries. Only inside one corpus and tier."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, Literal, TypeAlias

from okn_benchmark.report.bounds import apart_shares, bounds
from okn_benchmark.report.clusters import Graphs, over_groups
from okn_benchmark.report.tally import MEASURES, ConditionRow, QuestionRow
from okn_benchmark.stats.bootstrap import bca_mean
from okn_benchmark.stats.family import holm
from okn_benchmark.stats.intervals import Interval, geometric_ratio, mean_interval
from okn_benchmark.stats.paired import (
    Test,
    equivalence,
    mcnemar,
    sign_flip,
    smallest_possible_p,
    smallest_significant,
    stratified,
)
from okn_benchmark.stats.power import ALPHA, STUDIES, Detectable, detectable

Kind: TypeAlias = Literal["tools", "hint", "ablation", "arm", "crossing", "asked"]
BLOCKED_GAP: Final = 0.10
"""A comparison is withheld where the arms' blocked shares lie further apart, unless the root declares another limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Geometric mean of left ÷ right over questions that tell both; ``left`` and ``right`` are the two plain means."""

    measure: str
    questions: int
    left: float
    right: float
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A mean paired difference over questions; ``differences`` by record, in the order of the report."""

    value: float
    left: float
    right: float
    interval: Interval | None
    bootstrap: Interval | None
    test: Test
    differences: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One comparison. ``exact`` and ``f1`` are None where a side is missing; ``missing`` then says which.

    ``withheld`` gives the reason where both sides are there and the difference is still not shown.
    """

    kind: Kind
    title: str
    left: str | None
    right: str | None
    missing: str | None = None
    withheld: str | None = None
    questions: int = 0
    dropped: Mapping[str, str]
    exact: Effect | None = None
    f1: Effect | None = None
    holm_p: float | None = None
    family: int = 1
    corpus_only: Test | None = None
    once: tuple[Test, Test] | None = None
    """With one attempt per question: McNemar's mid-p and the exact test beside it."""
    could_not: str | None = None
    detectable: Detectable | None = None
    worst: float | None = None
    best: float | None = None
    groups: int = 0
    """Groups of its questions that share no graph; 0 where the graphs are not known."""
    over_groups: Test | None = None
    equivalence_p: float | None = None
    margin: float | None = None
    ratios: tuple[Ratio, ...] = ()
    notes: tuple[str, ...] = ()


Rows: TypeAlias = Mapping[str, QuestionRow]


def contrast(
    kind: Kind,
    title: str,
    left: ConditionRow,
    right: ConditionRow,
    rows: tuple[Rows, Rows],
    *,
    blocked_gap: float = BLOCKED_GAP,
    margin: float | None = None,
    apart: Mapping[str, str] | None = None,
    graphs: Graphs | None = None,
) -> Contrast:
    """Left minus right over the questions measured in both. ``apart`` names records that are not the same question."""
    shared, dropped = paired_records(*rows)
    if apart:
        dropped |= {record: apart[record] for record in shared if record in apart}
        shared = [record for record in shared if record not in apart]
    made = Contrast(
        kind=kind, title=title, left=left.about.name, right=right.about.name, questions=len(shared), dropped=dropped
    )
    if gates := [side.about.name for side in (left, right) if side.refused is not None]:
        return replace(made, withheld=f"gate failed: the manipulation check of {' and of '.join(gates)}")
    if left.about.scope != right.about.scope:
        return replace(made, withheld="the two sides differ in corpus or tier")
    if unlike := apart_shares((left, right), blocked_gap):
        return replace(made, withheld=unlike)
    if not shared:
        return replace(made, missing="no question was measured on both sides")
    pairs = {record: (rows[0][record], rows[1][record]) for record in shared}
    exact = effect({r: (_mean(a.exact), _mean(b.exact)) for r, (a, b) in pairs.items()})
    once = all(len(a.exact) == len(b.exact) == 1 for a, b in pairs.values())
    moved = exact.test.better + exact.test.worse
    outer = bounds(rows, (1, -1))
    grouped, over = over_groups(exact.differences, graphs or {})
    return replace(
        made,
        groups=grouped,
        over_groups=over,
        exact=exact,
        f1=effect({r: (_mean(a.f1), _mean(b.f1)) for r, (a, b) in pairs.items()}),
        corpus_only=None if once else stratified([(a.exact, b.exact) for a, b in pairs.values()]),
        once=_mcnemar_pair(exact.test) if once else None,
        could_not=could_not(moved, once=once),
        detectable=_detectable(pairs),
        worst=None if outer is None else outer[0],
        best=None if outer is None else outer[1],
        equivalence_p=None if margin is None else equivalence(list(exact.differences.values()), margin),
        margin=margin,
        ratios=tuple(_ratios(pairs)),
        notes=tuple(contrast_notes(left, right)),
    )


def effect(pairs: Mapping[str, tuple[float, float]], largest: float = 1.0) -> Effect:
    """The mean difference of question means with its intervals and test; ``largest`` is what it can be at most."""
    differences = {record: a - b for record, (a, b) in pairs.items()}
    values = list(differences.values())
    return Effect(
        value=fmean(values),
        left=fmean(a for a, _ in pairs.values()),
        right=fmean(b for _, b in pairs.values()),
        interval=mean_interval(values, within=(-largest, largest)),
        bootstrap=bca_mean(values),
        test=sign_flip(values),
        differences=differences,
    )


def paired_records(left: Rows, right: Rows) -> tuple[list[str], dict[str, str]]:
    """Records measured on both sides, and why each other one was dropped."""
    shared, dropped = [], {}
    for record in dict.fromkeys([*left, *right]):
        why = [_why(side.get(record)) for side in (left, right)]
        if any(why):
            dropped[record] = _sided(*why)
        else:
            shared.append(record)
    return shared, dropped


def could_not(moved: int, *, once: bool) -> str | None:
    """The sentence for a comparison with too few differing questions to reach p < .05, or None."""
    needed = smallest_significant(mid_p=True) if once else smallest_significant()
    least = smallest_possible_p(moved)
    if moved >= needed and (once or least < ALPHA):
        return None
    test = "McNemar's mid-p" if once else "the sign-flip test"
    return (
        f"this comparison could not have been significant: {moved} of its questions differ, "
        f"and {test} needs at least {needed}, all one way, for p < {ALPHA}"
    )


def with_families(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Holm's adjustment inside each kind: the comparisons of one kind are one family."""
    out = list(contrasts)
    for kind in dict.fromkeys(c.kind for c in contrasts):
        places = [i for i, c in enumerate(out) if c.kind == kind and c.exact is not None]
        adjusted = holm([e.test.p for i in places if (e := out[i].exact) is not None])
        for place, p in zip(places, adjusted, strict=True):
            out[place] = replace(out[place], holm_p=p, family=len(places))
    return out


def _mcnemar_pair(test: Test) -> tuple[Test, Test]:
    counts = (test.better, test.worse, test.same)
    return mcnemar(*counts, mid_p=True), mcnemar(*counts)


def _detectable(pairs: Mapping[str, tuple[QuestionRow, QuestionRow]]) -> Detectable:
    repeats = Counter(len(b.exact) for _, b in pairs.values()).most_common(1)[0][0]
    # Fewer simulated studies where each is large: a report is read, not waited for.
    studies = max(80, min(STUDIES, 40_000 // len(pairs)))
    return detectable(tuple(sorted(_mean(b.exact) for _, b in pairs.values())), repeats, studies=studies)


def _ratios(pairs: Mapping[str, tuple[QuestionRow, QuestionRow]]) -> list[Ratio]:
    out = []
    for measure in ("wall_s", "server_s", "tokens_in", "tokens_out", "cost_usd"):
        assert measure in MEASURES
        values = [(a.measures[measure].value, b.measures[measure].value) for a, b in pairs.values()]
        both = [(a, b) for a, b in values if a is not None and b is not None and a > 0 and b > 0]
        found = geometric_ratio(both)
        if found is not None:
            left, right = fmean(a for a, _ in both), fmean(b for _, b in both)
            out.append(
                Ratio(measure=measure, questions=len(both), left=left, right=right, value=found[0], interval=found[1])
            )
    return out


def _named(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]) -> str:
    """The settings two sides do not share, each with both values."""
    one, two = dict(left), dict(right)
    differing = [key for key in dict.fromkeys([*one, *two]) if one.get(key) != two.get(key)]
    return ", ".join(f"{key} ({one.get(key, 'unknown')} against {two.get(key, 'unknown')})" for key in differing)


def contrast_notes(left: ConditionRow, right: ConditionRow) -> list[str]:
    """What a reader of the difference has to know of its two sides."""
    notes = _sides("no model answered", left=not left.about.has_model, right=not right.about.has_model)
    failed = {"left": left.about.failed_audit, "right": right.about.failed_audit}
    notes += _sides("the agent program failed its audit", **failed)
    if left.about.agent != right.about.agent:
        notes.append("the two sides differ in host, model or effort as well")
    if left.about.other != right.about.other:
        notes.append(f"the two sides differ in {_named(left.about.other, right.about.other)} as well")
    if left.about.corpus_commit != right.about.corpus_commit:
        notes.append("the corpus stood at another commit for either side; the keys are the same")
    if left.about.repeat != right.about.repeat:
        notes.append(f"attempts per question: {left.about.repeat} against {right.about.repeat}")
    if left.outcomes.get("timeout") or right.outcomes.get("timeout"):
        counts = f"{left.outcomes.get('timeout', 0)} against {right.outcomes.get('timeout', 0)}"
        notes.append(f"attempts ended by the clock: {counts}; their times are lower bounds")
    return notes


def _sides(words: str, *, left: bool, right: bool) -> list[str]:
    where = {(True, True): "on either side", (True, False): "on the left", (False, True): "on the right"}
    return [f"{words} {where[left, right]}"] if left or right else []


def _why(row: QuestionRow | None) -> str | None:
    """Why a side cannot be compared, or None."""
    if row is None or not row.attempts:
        return "not run"
    if row.apart:
        return "key drifted"
    return None if row.measured else "blocked throughout"


def _sided(left: str | None, right: str | None) -> str:
    if left == right:
        return f"{left} on either side"
    return "; ".join(f"{why} on the {side}" for side, why in (("left", left), ("right", right)) if why)


def _mean(values: Sequence[float]) -> float:
    return fmean(values)
