"""From question rows to what the page shows of each attempt: a sign, a sentence, facts, evidence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from okn_benchmark.report.csvs import notes
from okn_benchmark.report.detail import Evidence, Limits, Marked, cut, cut_said, timeline
from okn_benchmark.report.refused import GATE_FAILED, is_refused
from okn_benchmark.report.tally import QuestionRow, agent_s, guard_names, scored, trap_names
from okn_benchmark.report.view import QuestionView, ReportView
from okn_benchmark.report.words import number, plural, tally, whole
from okn_benchmark.runs.shapes import AttemptResult

Lookup: TypeAlias = Callable[[str, str, int, Limits], Evidence]
"""Reads the evidence of (record, condition, attempt), no more of it than the limits allow."""
Prompt: TypeAlias = Callable[[str, str, int], str | None]
"""Reads the prompt of (record, condition, attempt)."""

FULL_BYTES: Final = 60_000
"""An attempt shown with all limits at their widest takes about this much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """An attempt in the grid. ``words`` are for those who do not see the sign."""

    sign: str
    css: str
    words: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The attempts of a question under one condition. ``apart``: its key drifted, so they are in no rate."""

    signs: tuple[Sign, ...]
    apart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GridLine:
    """A question across conditions; None where the condition did not ask it."""

    record: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One attempt about to be shown."""

    record: str
    condition: str
    result: AttemptResult
    sign: Sign


def grid(view: ReportView) -> list[GridLine]:
    """Every attempt as a sign, by question and condition."""
    lines = []
    for place, question in enumerate(view.questions):
        by_name = {row.condition: row for row in question.rows}
        found = [by_name.get(row.about.name) for row in view.conditions]
        cells = tuple(
            None
            if row is None
            else Cell(signs=tuple(_sign(a, _anchor(place, column, a)) for a in row.attempts), apart=row.apart)
            for column, row in enumerate(found)
        )
        lines.append(GridLine(record=question.record, cells=cells))
    return lines


def _anchor(question: int, condition: int, attempt: AttemptResult) -> str:
    return f"a{question}-{condition}-{attempt.attempt}"


def _sign(attempt: AttemptResult, anchor: str) -> Sign:
    f1 = float(scored(attempt, "f1"))
    if not attempt.measured:
        why = f"blocked ({attempt.cause or 'unknown'})"
        sign, css, words = "⊘", "blocked", GATE_FAILED if is_refused(attempt) else why
    elif scored(attempt, "exact"):
        sign, css, words = "✓", "exact", "exact"
    elif f1 > 0:
        sign, css, words = "◐", "part", f"partly right, F1 {number(f1)}"
    else:
        sign, css, words = "✗", "wrong", "wrong" if attempt.outcome == "answered" else attempt.outcome.replace("_", " ")
    return Sign(sign=sign, css=css, words=f"attempt {attempt.attempt}: {words}", anchor=anchor)


def question_values(
    question: QuestionView, place: int, view: ReportView, prompt: Prompt
) -> tuple[list[tuple[QuestionRow, list[Each]]], list[dict[str, str]]]:
    """The attempts of a question by condition, and its prompts, each distinct text once."""
    columns = {row.about.name: column for column, row in enumerate(view.conditions)}
    rows, prompts = [], dict[str, list[str]]()
    for row in question.rows:
        each = [
            Each(
                record=row.record,
                condition=row.condition,
                result=attempt,
                sign=_sign(attempt, _anchor(place, columns[row.condition], attempt)),
            )
            for attempt in row.attempts
        ]
        rows.append((row, each))
        first = prompt(row.record, row.condition, each[0].result.attempt)
        if first:
            prompts.setdefault(first, []).append(row.condition)
    shown = [{"text": text[:20_000], "where": _where(names, len(question.rows))} for text, names in prompts.items()]
    return rows, shown


def _where(names: list[str], conditions: int) -> str:
    return "all conditions" if len(names) == conditions else ", ".join(names)


def shrink(limits: Limits, budget: int) -> Limits:
    """Limits to begin with for a budget in bytes."""
    size = FULL_BYTES
    while size > budget * 2:
        limits, size = limits.smaller(), size // 2
    return limits


def attempt_values(each: Each, evidence: Evidence, limits: Limits, *, linked: bool) -> dict[str, Any]:
    """What the template of one attempt needs."""
    marked = None if evidence.marked is None else cut(evidence.marked, limits)
    calls = timeline(evidence.calls, limits)
    ends = [(c.at_s or 0.0) + (c.elapsed_s or 0.0) for c in calls]
    return {
        "a": _head(each),
        "marked": None if marked is None else _rows(marked),
        "left_out": "" if marked is None else _left_out(marked),
        "blank_answer": () if marked is None else ("",) * len(marked.answer_columns),
        "blank_key": () if marked is None else ("",) * len(marked.key_columns),
        "calls": calls,
        "total_calls": len(evidence.calls),
        "line_s": max(ends, default=0.0),
        "said": cut_said(evidence.said, limits),
        "folder": evidence.folder,
        "files": [
            {"name": name, "href": quote(f"{evidence.folder}/{name}")} for name in (evidence.files if linked else ())
        ],
    }


def _head(each: Each) -> dict[str, Any]:
    result = each.result
    wall = "" if result.wall_s is None else f" · {number(result.wall_s, 1)} s"
    return {
        "sign": each.sign.sign,
        "css": each.sign.css,
        "words": each.sign.words + wall,
        "anchor": each.sign.anchor,
        "facts": _facts(result),
        "notes": _notes(result),
    }


def _facts(result: AttemptResult) -> list[tuple[str, str]]:
    told: list[tuple[str, str | None]] = [("outcome", result.outcome.replace("_", " "))]
    if result.measured:
        verdict = result.verdict or {}
        told += [("F1", number(scored(result, "f1"))), ("strict", _yes(scored(result, "strict_exact")))]
        told += [("ordered", _yes(scored(result, "ordered")))]
        told += [(name.replace("_", " "), whole(verdict.get(name))) for name in ("answer_rows", "reference_rows")]
    told += [
        (name, number(value, 1))
        for name, value in (
            ("server s", result.server_s),
            ("agent s", agent_s(result)),
            ("retry s", result.api_retry_s),
        )
    ]
    told += [
        ("queries", None if result.queries_ok is None else f"{result.queries_ok} ok, {result.queries_errored} errored")
    ]
    if result.tokens:
        told += [("tokens in", whole(result.tokens.input + result.tokens.cache_read + result.tokens.cache_write))]
        told += [("tokens out", whole(result.tokens.output))]
    told += [("cost USD", None if result.cost_usd is None else number(result.cost_usd, 4))]
    return [(name, value) for name, value in told if value is not None and value != "–"]


def _notes(result: AttemptResult) -> list[str]:
    verdict = result.verdict or {}
    out = [f"diagnosis: {', '.join(map(str, verdict['diagnosis']))}"] if verdict.get("diagnosis") else []
    out += [note for note in notes(result) if not note.startswith("trap:")]
    if names := trap_names(result):
        out.append(f"the answer equals {plural(len(names), 'expected wrong answer')}: {', '.join(names)}")
    out += [f"the judge stood down {name}" for name in guard_names(result)]
    if result.soft_errors:
        out.append(f"failures inside successful replies: {tally(result.soft_errors)}")
    if result.host_clipped:
        out.append(f"tool results clipped by the host: {result.host_clipped}")
    return [*out, *result.warnings]


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _rows(marked: Marked) -> dict[str, Any]:
    """Positions that differ are told in the key's columns; an answer of the same width is marked in the same places."""
    same = len(marked.answer_columns) == len(marked.key_columns)
    rows = [
        {
            "mark": row.mark,
            "answer": row.answer,
            "key": row.key,
            "differs": row.differs,
            "answer_differs": row.differs if same else (),
        }
        for row in marked.rows
    ]
    return {
        "answer_columns": marked.answer_columns,
        "key_columns": marked.key_columns,
        "rows": rows,
        "note": marked.note,
    }


def _left_out(marked: Marked) -> str:
    words = {"matched": "in both", "near": "nearly alike", "missing": "in the key only", "extra": "in the answer only"}
    parts = [f"{count:,} {words[mark]}" for mark, count in marked.left_out.items() if count]
    return f"Not shown: {', '.join(parts)}." if parts else ""
