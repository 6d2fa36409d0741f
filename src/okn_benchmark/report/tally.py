"""One question under one condition, and one condition over its questions: counts and averages, nothing else.

Averages go over a question's measured attempts first and then over questions, so every question weighs the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from okn_benchmark.report.about import About
from okn_benchmark.report.context import Context, context_of
from okn_benchmark.report.refused import GATE_FAILED, is_refused, refused
from okn_benchmark.report.repeats import PassK, passes
from okn_benchmark.runs.drift import DRIFTED, Moved
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult
from okn_benchmark.stats.intervals import Clustered, Interval, clustered, mean_interval, wilson, wilson_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """A mean of question means. ``attempts`` and ``questions`` count those that tell the value."""

    value: float | None
    questions: int
    attempts: int
    total: float | None = None
    """The plain sum over attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """``hits`` of ``of``, with Wilson's interval; none over nothing."""

    hits: int
    of: int
    interval: Interval | None


def agent_s(attempt: AttemptResult) -> float | None:
    """Wall time not spent inside the server under test."""
    if attempt.wall_s is None or attempt.server_s is None:
        return None
    return round(max(0.0, attempt.wall_s - attempt.server_s), 6)


MEASURES: Final[Mapping[str, Callable[[AttemptResult], float | None]]] = {
    "queries_ok": lambda a: a.queries_ok,
    "queries_errored": lambda a: a.queries_errored,
    "calls": lambda a: None if a.tools_called is None else len(a.tools_called),
    "withheld_calls": lambda a: a.withheld_calls,
    "soft_errors": lambda a: None if a.tools_called is None else sum(a.soft_errors.values()),
    "host_clipped": lambda a: a.host_clipped,
    "turns": lambda a: a.turns,
    "wall_s": lambda a: a.wall_s,
    "server_s": lambda a: a.server_s,
    "agent_s": agent_s,
    "api_retry_s": lambda a: a.api_retry_s,
    "tokens_in": lambda a: None if a.tokens is None else a.tokens.input + a.tokens.cache_read + a.tokens.cache_write,
    "tokens_out": lambda a: None if a.tokens is None else a.tokens.output,
    "cost_usd": lambda a: a.cost_usd,
}
"""What is counted per attempt besides scores. Times in seconds; input tokens include the cached ones."""


def scored(attempt: AttemptResult, key: str) -> Any:
    """One entry of the verdict; a measured attempt without a verdict (nothing handed in) is wrong, not unknown."""
    if attempt.verdict is None:
        return 0.0 if key.endswith("f1") else False
    return attempt.verdict.get(key, 0.0 if key.endswith("f1") else False)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """One question under one condition. ``planned`` counts attempts asked for, ``measured`` those in a denominator."""

    record: str
    condition: str
    tier: str | None
    planned: int
    attempts: tuple[AttemptResult, ...]
    measured: tuple[AttemptResult, ...]
    exact: tuple[bool, ...]
    strict: tuple[bool, ...]
    ordered: tuple[bool, ...]
    strict_ordered: tuple[bool, ...]
    f1: tuple[float, ...]
    strict_f1: tuple[float, ...]
    measures: Mapping[str, Average]
    blocked: Mapping[str, int]
    outcomes: Mapping[str, int]
    diagnoses: Mapping[str, int]
    traps: Mapping[str, int]
    tools: Mapping[str, int]
    withheld_reached: Mapping[str, int]
    soft_errors: Mapping[str, int]
    guards: tuple[str, ...]
    moved: tuple[Moved, ...] = ()
    """What the check of its key found at either end of the sweep; empty where it was stable or not checked."""
    refused: str | None = None
    """Which gate of the manipulation check its condition failed; then nothing here was measured."""

    @property
    def nothing(self) -> str:
        """What stands in place of numbers where there are none."""
        return "measured nothing" if self.refused is None else GATE_FAILED

    @property
    def apart(self) -> bool:
        """Whether its key drifted while the condition ran: then it is shown, and stands in no rate."""
        return any(one.state == DRIFTED for one in self.moved)

    @property
    def flaky(self) -> bool:
        """Right at least once and wrong at least once."""
        return 0 < sum(self.exact) < len(self.exact)


def question_row(
    result: QuestionResult, planned: int | None, moved: tuple[Moved, ...] = (), gate: str | None = None
) -> QuestionRow:
    """Count one ``result.json``; ``moved`` is what became of its key, ``gate`` why its numbers are refused."""
    result = result if gate is None else refused(result, gate)
    measured = tuple(a for a in result.attempts if a.measured)
    blocked = [a for a in result.attempts if not a.measured]
    return QuestionRow(
        record=result.record,
        condition=result.condition,
        tier=result.tier,
        planned=max(planned or 0, len(result.attempts)),
        attempts=result.attempts,
        measured=measured,
        exact=tuple(bool(scored(a, "exact")) for a in measured),
        strict=tuple(bool(scored(a, "strict_exact")) for a in measured),
        ordered=tuple(bool(scored(a, "ordered")) for a in measured),
        strict_ordered=tuple(bool(scored(a, "strict_ordered")) for a in measured),
        f1=tuple(float(scored(a, "f1")) for a in measured),
        strict_f1=tuple(float(scored(a, "strict_f1")) for a in measured),
        measures={name: _average([[value(a) for a in measured]]) for name, value in MEASURES.items()},
        blocked=Counter(GATE_FAILED if is_refused(a) else a.cause or "unknown" for a in blocked),
        outcomes=Counter(a.outcome for a in result.attempts),
        diagnoses=Counter(filter(None, map(first_diagnosis, measured))),
        traps=Counter(name for a in measured for name in trap_names(a)),
        tools=Counter(name for a in measured for name in a.tools_called or ()),
        withheld_reached=Counter(name for a in measured for name in a.withheld_reached),
        soft_errors=_summed(a.soft_errors for a in measured),
        guards=tuple(dict.fromkeys(name for a in measured for name in guard_names(a))),
        moved=moved,
        refused=gate,
    )


def first_diagnosis(attempt: AttemptResult) -> str | None:
    """The first label of a verdict: the one that reports count."""
    labels = (attempt.verdict or {}).get("diagnosis") or []
    return str(labels[0]) if labels else None


def trap_names(attempt: AttemptResult) -> list[str]:
    """The traps an answer equals."""
    trap = (attempt.verdict or {}).get("trap")
    return [str(name) for name in trap.get("names") or ()] if isinstance(trap, dict) else []


def guard_names(attempt: AttemptResult) -> list[str]:
    """Guards of the judge that fired, with their column."""
    guards = (attempt.verdict or {}).get("guards") or []
    return [f"{g.get('guard')} ({g['column']})" if g.get("column") else str(g.get("guard")) for g in guards]


def _average(groups: Sequence[Sequence[float | None]]) -> Average:
    known = [[value for value in group if value is not None] for group in groups]
    known = [group for group in known if group]
    if not known:
        return Average(value=None, questions=0, attempts=0)
    return Average(
        value=fmean(fmean(group) for group in known),
        questions=len(known),
        attempts=sum(map(len, known)),
        total=sum(map(sum, known)),
    )


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    out: Counter[str] = Counter()
    for item in counts:
        out.update(item)
    return dict(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A question of a condition that stands in no rate, since its key drifted meanwhile. ``hits`` of ``measured``."""

    record: str
    moved: tuple[Moved, ...]
    attempts: int
    measured: int
    hits: int
    f1: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRow:
    """One condition over its questions; those set ``apart`` are in none of its other numbers."""

    about: About
    questions: int
    measured_questions: int
    planned: int
    recorded: int
    measured: int
    exact: Clustered | None
    strict: Clustered | None
    ordered: Clustered | None
    strict_ordered: Clustered | None
    f1: Average
    f1_interval: Interval | None
    strict_f1: Average
    always: Count
    ever: Count
    flaky: Count
    passes: tuple[PassK, ...]
    worst: float | None
    best: float | None
    """Mean over questions were every blocked attempt wrong, or right."""
    measures: Mapping[str, Average]
    outcomes: Mapping[str, int]
    blocked: Mapping[str, int]
    blocked_reasons: Mapping[str, int]
    diagnoses: Mapping[str, int]
    traps: Mapping[str, int]
    tools: Mapping[str, int]
    withheld_reached: Mapping[str, int]
    soft_errors: Mapping[str, int]
    warnings: Mapping[str, int]
    guards: Mapping[str, tuple[str, ...]]
    contended: int
    recovered: int
    host_versions: tuple[str, ...]
    models: tuple[str, ...]
    context: Context
    apart: tuple[Apart, ...] = ()
    refused: str | None = None
    """Which gate of the manipulation check failed, and how; then no number of it stands."""

    @property
    def nothing(self) -> str:
        """What stands in place of numbers where there are none."""
        return "measured nothing" if self.refused is None else GATE_FAILED

    @property
    def model(self) -> str:
        """The exact model id, the alias beside it; what the attempts say where the record is silent."""
        if not self.about.has_model or self.about.model_resolved or not self.models:
            return self.about.model
        exact = " + ".join(self.models)
        alias = self.about.model_requested
        return exact if alias in (None, exact) else f"{exact} (asked for as {alias})"


def condition_row(about: About, asked: Sequence[QuestionRow], gate: str | None = None) -> ConditionRow:
    """Average the questions of one condition; ``gate`` says why its numbers are refused."""
    rows = [row for row in asked if not row.apart]
    live = [row for row in rows if row.measured]
    attempts = [a for row in rows for a in row.attempts]
    repeated = [row for row in live if len(row.measured) > 1]
    f1 = _average([row.f1 for row in live])
    return ConditionRow(
        about=about,
        questions=len(rows),
        measured_questions=len(live),
        planned=sum(row.planned for row in rows),
        recorded=len(attempts),
        measured=sum(len(row.measured) for row in rows),
        exact=clustered([row.exact for row in live]),
        strict=clustered([row.strict for row in live]),
        ordered=clustered([row.ordered for row in live]),
        strict_ordered=clustered([row.strict_ordered for row in live]),
        f1=f1,
        f1_interval=_f1_interval([fmean(row.f1) for row in live]),
        strict_f1=_average([row.strict_f1 for row in live]),
        always=_count([all(row.exact) for row in live]),
        ever=_count([any(row.exact) for row in live]),
        flaky=_count([row.flaky for row in repeated]),
        passes=passes([row.exact for row in live]),
        worst=_bound(rows, 0) if gate is None else None,
        best=_bound(rows, 1) if gate is None else None,
        measures={name: _average([[v(a) for a in row.measured] for row in live]) for name, v in MEASURES.items()},
        outcomes=_summed(row.outcomes for row in rows),
        blocked=_summed(row.blocked for row in rows),
        blocked_reasons=Counter(a.reason or "no reason recorded" for a in attempts if not a.measured),
        diagnoses=_summed(row.diagnoses for row in rows),
        traps=_summed(row.traps for row in rows),
        tools=_summed(row.tools for row in rows),
        withheld_reached=_summed(row.withheld_reached for row in rows),
        soft_errors=_summed(row.soft_errors for row in rows),
        warnings=Counter(w for a in attempts for w in a.warnings),
        guards={row.record: row.guards for row in rows if row.guards},
        contended=sum(a.contended for a in attempts),
        recovered=sum(a.source != "runner" for a in attempts),
        host_versions=tuple(dict.fromkeys(a.host_version for a in attempts if a.host_version)),
        models=tuple(dict.fromkeys(a.model_resolved for a in attempts if a.model_resolved)),
        context=context_of([(row.measured, row.exact) for row in live]),
        apart=tuple(_set_apart(row) for row in asked if row.apart),
        refused=gate,
    )


def _set_apart(row: QuestionRow) -> Apart:
    return Apart(
        record=row.record,
        moved=row.moved,
        attempts=len(row.attempts),
        measured=len(row.measured),
        hits=sum(row.exact),
        f1=fmean(row.f1) if row.f1 else None,
    )


def _count(values: Sequence[bool]) -> Count:
    hits = sum(values)
    return Count(hits=hits, of=len(values), interval=wilson_count(hits, len(values)) if values else None)


def _bound(rows: Sequence[QuestionRow], blocked_as: int) -> float | None:
    shares = [(sum(r.exact) + blocked_as * sum(r.blocked.values())) / len(r.attempts) for r in rows if r.attempts]
    return fmean(shares) if shares else None


def _f1_interval(means: Sequence[float]) -> Interval | None:
    """Student's over question means, inside 0 to 1; Wilson's where every question stands at one end."""
    if not means:
        return None
    found = mean_interval(means, within=(0.0, 1.0))
    if found is None:
        return wilson(means[0], len(means)) if means[0] in (0.0, 1.0) else None
    return found
