"""A made-up study as values: the four arms, three attempts of each question, seeded."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from okn_benchmark.report.view import ReportView, build_view
from okn_benchmark.runs.shapes import AttemptResult, ConditionRecord, QuestionResult, Tokens

SERVER = "toy-server"


def verdict(*, exact: bool, f1: float | None = None, **more: Any) -> dict[str, Any]:
    share = 1.0 if exact else 0.5 if f1 is None else f1
    return {
        "contract": 1,
        "exact": exact,
        "strict_exact": exact,
        "ordered": exact,
        "strict_ordered": exact,
        "f1": share,
        "strict_f1": share,
        "precision": share,
        "recall": share,
        "submitted": True,
        "answer_rows": 10,
        "reference_rows": 10,
        "diagnosis": [] if exact else ["subset"],
        "guards": [],
        "trap": None,
        "settings": {"significant_digits": 6, "numeric_rel_tol": 5e-4},
    } | more


def attempt(number: int, *, exact: bool = True, f1: float | None = None, **more: Any) -> AttemptResult:
    values: dict[str, Any] = {
        "outcome": "answered",
        "verdict": verdict(exact=exact, f1=f1),
        "wall_s": 30.0 + number,
        "server_s": 4.25,
        "api_retry_s": 0.0,
        "turns": 6,
        "queries_ok": 3,
        "queries_errored": 1,
        "tools_called": ("get_schema", "run_query", "run_query", "run_query", "run_query", "submit_csv"),
        "withheld_calls": 0,
        "host_clipped": 0,
        "tokens": Tokens(input=100, output=900, cache_read=20_000, cache_write=4_000),
        "cost_usd": 0.125,
        "model_resolved": "claude-opus-5",
        "host_version": "2.1.332",
    }
    return AttemptResult(attempt=number, **(values | more))


def blocked(number: int, reason: str = "the server could not be started", cause: Any = "startup") -> AttemptResult:
    return AttemptResult(attempt=number, outcome="blocked", cause=cause, reason=reason, wall_s=1.5)


def condition(name: str, **identity: Any) -> ConditionRecord:
    settings: dict[str, Any] = {
        "level": "all-tools",
        "kg_hint": "tags",
        "server": SERVER,
        "model": "opus",
        "effort": None,
        "tier": "t1",
        "repeat": 3,
        "host": "claude",
        "excluded": [],
        "withheld": [],
    }
    more = {key: identity.pop(key) for key in ("excluded_meta", "corpus", "label") if key in identity}
    corpus = more.get("corpus", {"source": "/somewhere/deep/toy-corpus", "commit": "0123abcd", "dirty": False})
    meta = {"identity": settings | identity, "model_resolved": "claude-opus-5", "corpus": corpus, "endpoint": "sample"}
    meta["excluded"] = more.get("excluded_meta", [])
    meta["label"] = more.get("label")
    return ConditionRecord(name=name, meta=meta)


def control(name: str = "sparql-only__kg-named", **identity: Any) -> ConditionRecord:
    return condition(name, **({"level": "sparql-only", "server": None} | identity))


def results(cells: Mapping[str, Mapping[str, Sequence[AttemptResult]]]) -> dict[str, dict[str, QuestionResult]]:
    """``{condition: {record: attempts}}`` turned the way a runs root is read: record first."""
    out: dict[str, dict[str, QuestionResult]] = {}
    for name, by_record in cells.items():
        for record, attempts in by_record.items():
            out.setdefault(record, {})[name] = QuestionResult(
                record=record, condition=name, attempts=tuple(attempts), tier="t1"
            )
    return out


def view(
    conditions: Sequence[ConditionRecord],
    cells: Mapping[str, Mapping[str, Sequence[AttemptResult]]],
    graphs: Mapping[str, tuple[str, ...]] | None = None,
) -> ReportView:
    return build_view("toy study", conditions, results(cells), graphs=graphs)


def graphs(found: Mapping[str, Mapping[str, object]]) -> dict[str, tuple[str, ...]]:
    """A graph for every question, shared by each pair of neighbours."""
    records = sorted({record for by_record in found.values() for record in by_record})
    return {record: (f"kg-{place // 2}",) for place, record in enumerate(records)}


FULL, UNNAMED = f"{SERVER}-all-tools__kg-named", f"{SERVER}-all-tools__kg-not-named"
ABLATED = f"{FULL}__without-route"
ABLATED_UNNAMED = f"{UNNAMED}__without-route"
CONTROL = "sparql-only__kg-named"


def conditions() -> list[ConditionRecord]:
    return [
        control(CONTROL),
        condition(FULL),
        condition(ABLATED, withheld=["route"]),
        condition(UNNAMED, kg_hint="none"),
        condition(ABLATED_UNNAMED, kg_hint="none", withheld=["route"]),
    ]


def cells(questions: int = 12, repeats: int = 3, seed: int = 7) -> dict[str, dict[str, list[AttemptResult]]]:
    rng = random.Random(seed)
    levels = {CONTROL: 0.45, FULL: 0.9, ABLATED: 0.7, UNNAMED: 0.75, ABLATED_UNNAMED: 0.4}
    out: dict[str, dict[str, list[AttemptResult]]] = {name: {} for name in levels}
    for place in range(questions):
        ease = rng.uniform(-0.3, 0.3)
        for name, level in levels.items():
            chance = min(1.0, max(0.0, level + ease))
            out[name][f"graph-{place:02d}_t1"] = [
                attempt(
                    number,
                    exact=rng.random() < chance,
                    f1=round(rng.uniform(0, 0.95), 3),
                    wall_s=round(rng.lognormvariate(3.5, 0.6), 2),
                    server_s=round(rng.uniform(1, 9), 2),
                    withheld_reached=("route",) if name == ABLATED and place % 5 == 0 else (),
                )
                for number in range(1, repeats + 1)
            ]
    return out


def study(questions: int = 12, repeats: int = 3) -> ReportView:
    found = cells(questions, repeats)
    first = found[FULL]["graph-00_t1"]
    first[0] = blocked(1)
    for number in range(repeats):
        found[UNNAMED]["graph-01_t1"][number] = blocked(number + 1, "HTTP Error 429 | <b>rate</b>", "not_connected")
    found[ABLATED]["graph-02_t1"][0] = attempt(1, exact=False, f1=0.0, outcome="timeout", verdict=None)
    return view(conditions(), found, graphs(found))
