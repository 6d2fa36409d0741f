"""What a condition record says of its questions as a whole. Every rate stands beside what it is a rate of."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.ledger import ledger_totals
from okn_benchmark.runs.shapes import OUTCOMES, AttemptResult, QuestionResult

_FLAGS: Final = ("exact", "strict_exact", "ordered", "strict_ordered")
_PARTIAL: Final = ("f1", "strict_f1", "precision", "recall")
_SCORES: Final = (
    *(f"{name}_rate" for name in _FLAGS),
    *(f"mean_{name}" for name in _PARTIAL),
    *("always_exact", "ever_exact", "flaky", "diagnoses"),
)
_TOKENS: Final = ("input", "output", "cache_read", "cache_write")


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing, since a rate over nothing is unknown and not zero."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None


def question_entry(result: QuestionResult) -> JsonObject:
    """One question in ``questions`` of a condition record. Rates are over its measured attempts."""
    measured = [attempt for attempt in result.attempts if attempt.measured]
    return {
        "tier": result.tier,
        "attempts": len(result.attempts),
        "measured": len(measured),
        "blocked": len(result.attempts) - len(measured),
        "exact": sum(scored(a, "exact") == 1.0 for a in measured),
        **{f"mean_{name}": question_mean(result, name) for name in (*_PARTIAL[:2],)},
        "outcomes": outcome_counts(result.attempts),
    }


def aggregate(
    results: Sequence[QuestionResult], manipulation: JsonObject | None = None, *, apart: Collection[str] = ()
) -> JsonObject:
    """``aggregate`` of a condition record.

    Means are per question first and then over the questions that measured something, so that each weighs the same.
    ``manipulation`` is the verdict on an arm; where a gate failed, the scores are refused: unknown, whatever they were.
    ``apart`` are records whose key drifted meanwhile: named, and in no count or mean.
    """
    found = _aggregate([result for result in results if result.record not in apart])
    found["drifted"] = sorted(result.record for result in results if result.record in apart)
    if manipulation is None:
        return found
    if manipulation.get("passed") is not True:
        found |= dict.fromkeys(_SCORES)
    return found | {"manipulation": manipulation}


def _aggregate(results: Sequence[QuestionResult]) -> JsonObject:
    attempts = [attempt for result in results for attempt in result.attempts]
    measured = [attempt for attempt in attempts if attempt.measured]
    return {
        "questions": len(results),
        "questions_measured": sum(any(a.measured for a in result.attempts) for result in results),
        "attempts": len(attempts),
        "measured": len(measured),
        "blocked": len(attempts) - len(measured),
        "blocked_by_cause": _counted(a.cause or "unknown" for a in attempts if not a.measured),
        "outcomes": outcome_counts(attempts),
        **{f"{name}_rate": _over_questions(results, name) for name in _FLAGS},
        **{f"mean_{name}": _over_questions(results, name) for name in _PARTIAL},
        **_steadiness(results),
        "diagnoses": _counted(d for a in measured if (d := diagnosis(a)) is not None),
        "totals": _totals(attempts),
        "ledger": ledger_totals(attempts),
        "models": _counted(a.model_resolved for a in attempts if a.model_resolved is not None),
        "host_versions": _counted(a.host_version for a in attempts if a.host_version is not None),
        "contended": sum(a.contended for a in attempts),
        "recovered": sum(a.source != "runner" for a in attempts),
    }


def scored(attempt: AttemptResult, name: str) -> float:
    """One number of an attempt's verdict; a measured attempt without one scores nothing."""
    found = (attempt.verdict or {}).get(name)
    return float(found) if isinstance(found, int | float) else 0.0


def question_mean(result: QuestionResult, name: str) -> float | None:
    """The mean over a question's measured attempts."""
    return mean(scored(attempt, name) for attempt in result.attempts if attempt.measured)


def diagnosis(attempt: AttemptResult) -> str | None:
    """The first reason an answer is wrong."""
    found = (attempt.verdict or {}).get("diagnosis")
    return str(found[0]) if isinstance(found, list) and found else None


def outcome_counts(attempts: Iterable[AttemptResult]) -> dict[str, int]:
    """How many attempts ended in each way, in the vocabulary's order; ways nobody took are left out."""
    counts = Counter(attempt.outcome for attempt in attempts)
    return {kind: counts[kind] for kind in OUTCOMES if counts[kind]}


def _over_questions(results: Sequence[QuestionResult], name: str) -> float | None:
    return mean(value for result in results if (value := question_mean(result, name)) is not None)


def _steadiness(results: Sequence[QuestionResult]) -> JsonObject:
    """Questions always right, right at least once, and right only sometimes."""
    rates = [rate for result in results if (rate := question_mean(result, "exact")) is not None]
    return {
        "always_exact": sum(rate == 1.0 for rate in rates),
        "ever_exact": sum(rate > 0.0 for rate in rates),
        "flaky": sum(0.0 < rate < 1.0 for rate in rates),
    }


def _totals(attempts: Sequence[AttemptResult]) -> JsonObject:
    """Sums over the attempts that know the figure, each with how many those are."""
    plain: dict[str, Callable[[AttemptResult], float | None]] = {
        "wall_s": lambda a: a.wall_s,
        "server_s": lambda a: a.server_s,
        "api_retry_s": lambda a: a.api_retry_s,
        "turns": lambda a: a.turns,
        "queries_ok": lambda a: a.queries_ok,
        "queries_errored": lambda a: a.queries_errored,
        "tool_calls": lambda a: None if a.tools_called is None else len(a.tools_called),
        "withheld_calls": lambda a: a.withheld_calls,
        "host_clipped": lambda a: a.host_clipped,
        "response_chars": lambda a: a.response_chars,
        "cost_usd": lambda a: a.cost_usd,
    }
    out = {name: _sum(map(of, attempts)) for name, of in plain.items()}
    for bucket in _TOKENS:
        out[f"tokens_{bucket}"] = _sum(getattr(a.tokens, bucket) if a.tokens else None for a in attempts)
    out["soft_errors"] = _sum(sum(a.soft_errors.values()) if a.server_s is not None else None for a in attempts)
    return out


def _sum(values: Iterable[float | None]) -> JsonObject:
    known = [value for value in values if value is not None]
    if not known:
        return {"sum": None, "known": 0}
    whole = all(isinstance(value, int) for value in known)
    return {"sum": int(sum(known)) if whole else round(math.fsum(known), 6), "known": len(known)}


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
