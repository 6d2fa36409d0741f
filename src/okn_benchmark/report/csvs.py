"""``summary.csv``: one row per attempt, the columns other people's scripts read first, ours after them."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from okn_benchmark.report.about import About
from okn_benchmark.report.refused import GATE_FAILED, is_refused
from okn_benchmark.report.tally import QuestionRow, agent_s, guard_names, scored, trap_names
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import one_line
from okn_benchmark.runs.ledger import CONTEXT_KEYS
from okn_benchmark.runs.shapes import AttemptResult

CONTRACT: Final = (
    "question", "tier", "condition", "server", "tools", "kg_hint", "attempt", "attempts_total", "blocked", "exact",
    "ordered", "f1", "queries", "tools_called", "wall_s", "server_s", "notes",
)  # fmt: skip
"""The first seventeen: a contract."""

OURS: Final = (
    "outcome", "cause", "reason", "submitted", "strict_exact", "strict_ordered", "strict_f1", "precision", "recall",
    "answer_rows", "reference_rows", "diagnosis", "trap", "guards", "queries_ok", "queries_errored", "calls",
    "withheld_calls", "withheld_reached", "soft_errors", "host_clipped", "agent_s", "api_retry_s", "turns",
    "tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write", "cost_usd", "withheld_tools", "model",
    "model_requested", "effort", "host", "host_version", "source", "contended", "warnings",
    "graphs", "key_moved", "arm", "definition_chars", "instructions_chars", "result_chars", "context_chars",
)  # fmt: skip

COLUMNS: Final = (*CONTRACT, *OURS)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def summary_csv(view: ReportView, record: str | None = None) -> str:
    """The whole root, or one question of it. Unknown is an empty cell."""
    about = {row.about.name: row.about for row in view.conditions}
    rows = [
        attempt_row(about[row.condition], row, attempt, question.graphs)
        for question in view.questions
        if record is None or question.record == record
        for row in question.rows
        for attempt in row.attempts
    ]
    return _written(rows)


def attempt_row(about: About, row: QuestionRow, attempt: AttemptResult, graphs: Sequence[str] = ()) -> dict[str, Any]:
    """One attempt by column. Scores of a blocked attempt are unknown, not zero."""
    values = _contract(about, row, attempt) | _scores(attempt) | _counts(attempt) | _origin(about, attempt)
    values["graphs"] = ";".join(graphs)
    values["arm"] = about.arm
    values |= {name: (attempt.ledger or {}).get(name) for name in CONTEXT_KEYS}
    values["key_moved"] = "; ".join(f"{moved.state} at the {moved.when}" for moved in row.moved)
    assert set(values) == set(COLUMNS)
    return values


def _contract(about: About, row: QuestionRow, attempt: AttemptResult) -> dict[str, Any]:
    return {
        "question": row.record,
        "tier": row.tier or about.tier,
        "condition": row.condition,
        "server": about.server,
        "tools": about.level,
        "kg_hint": about.kg_hint,
        "attempt": attempt.attempt,
        "attempts_total": row.planned,
        "blocked": not attempt.measured,
        "exact": _score(attempt, "exact"),
        "ordered": _score(attempt, "ordered"),
        "f1": _score(attempt, "f1"),
        "queries": _sum(attempt.queries_ok, attempt.queries_errored),
        "tools_called": None if attempt.tools_called is None else ";".join(attempt.tools_called),
        "wall_s": attempt.wall_s,
        "server_s": attempt.server_s,
        "notes": "; ".join([*_standing(about, row), *notes(attempt)]),
    }


def _scores(attempt: AttemptResult) -> dict[str, Any]:
    verdict = attempt.verdict or {}
    return {
        "outcome": attempt.outcome,
        "cause": attempt.cause,
        "reason": attempt.reason,
        "submitted": _score(attempt, "submitted"),
        "strict_exact": _score(attempt, "strict_exact"),
        "strict_ordered": _score(attempt, "strict_ordered"),
        "strict_f1": _score(attempt, "strict_f1"),
        "precision": verdict.get("precision"),
        "recall": verdict.get("recall"),
        "answer_rows": verdict.get("answer_rows"),
        "reference_rows": verdict.get("reference_rows"),
        "diagnosis": ";".join(map(str, verdict.get("diagnosis") or ())),
        "trap": ";".join(trap_names(attempt)),
        "guards": ";".join(guard_names(attempt)),
    }


def _counts(attempt: AttemptResult) -> dict[str, Any]:
    tokens = attempt.tokens
    return {
        "queries_ok": attempt.queries_ok,
        "queries_errored": attempt.queries_errored,
        "calls": None if attempt.tools_called is None else len(attempt.tools_called),
        "withheld_calls": attempt.withheld_calls,
        "withheld_reached": ";".join(attempt.withheld_reached),
        "soft_errors": ";".join(f"{tool}={count}" for tool, count in sorted(attempt.soft_errors.items())),
        "host_clipped": attempt.host_clipped,
        "agent_s": agent_s(attempt),
        "api_retry_s": attempt.api_retry_s,
        "turns": attempt.turns,
        "tokens_input": tokens and tokens.input,
        "tokens_output": tokens and tokens.output,
        "tokens_cache_read": tokens and tokens.cache_read,
        "tokens_cache_write": tokens and tokens.cache_write,
        "cost_usd": attempt.cost_usd,
    }


def _origin(about: About, attempt: AttemptResult) -> dict[str, Any]:
    return {
        "withheld_tools": ";".join(about.withheld),
        "model": attempt.model_resolved if about.has_model else about.model,
        "model_requested": about.model_requested,
        "effort": about.effort,
        "host": about.host,
        "host_version": attempt.host_version,
        "source": attempt.source,
        "contended": attempt.contended,
        "warnings": "; ".join(attempt.warnings),
    }


def _standing(about: About, row: QuestionRow) -> list[str]:
    """What holds for every attempt of the row's condition or question."""
    out = ["key drifted: set apart, in no rate"] if row.apart else []
    if about.model_script is not None:
        out.append("no model: a script answered")
    return [*out, "the agent program failed its audit"] if about.failed_audit else out


def notes(attempt: AttemptResult) -> list[str]:
    """What a reader of the row has to know besides its numbers."""
    out = []
    if is_refused(attempt):
        out.append(str(attempt.reason))
    elif not attempt.measured:
        out.append(f"blocked ({attempt.cause or 'unknown'}): {attempt.reason or 'no reason recorded'}")
    elif attempt.outcome != "answered":
        out.append(f"{attempt.outcome}: {attempt.reason}" if attempt.reason else attempt.outcome)
    out += [f"trap: {name}" for name in trap_names(attempt)]
    if attempt.withheld_reached:
        out.append(f"reached for withheld {', '.join(attempt.withheld_reached)}")
    if attempt.source != "runner":
        out.append(f"times read from {attempt.source}")
    if attempt.contended:
        out.append("another sweep ran on this machine")
    return out


def _score(attempt: AttemptResult, key: str) -> Any:
    if is_refused(attempt):
        return GATE_FAILED
    return scored(attempt, key) if attempt.measured else None


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _written(rows: Iterable[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([[_cell(row[name]) for name in COLUMNS] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)  # all of it: every number of a report is recomputed from here
    # A cell that a spreadsheet would run is text for it too, once it starts with an apostrophe.
    text = one_line(str(value), 2_000)
    return f"'{text}" if text.startswith(_FORMULA) else text


def read_rows(text: str) -> Sequence[dict[str, str]]:
    """A ``summary.csv`` back as rows of text; the inverse of writing for people and tests."""
    return list(csv.DictReader(io.StringIO(text)))
