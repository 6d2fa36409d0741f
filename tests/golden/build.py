"""Build ``tests/golden/root``: every illness of a runs root in one small tree.

    python -m tests.golden.build

The evidence is made of the shapes a real sweep leaves (``tests.roots``), then damaged; the derived files are what
``rescore`` and ``report`` make of it. Build it again when a shape, the scoring contract or a report changes on purpose,
and read the difference before committing it: it is what every user's ``rescore`` will do.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.jsonio import line, pretty
from okn_benchmark.runs.identity import Identity
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import calls_json, episode_json
from okn_benchmark.runs.shapes import Episode
from tests.roots import (
    CLOCK,
    ROWS,
    Attempt,
    answer,
    calls,
    episode,
    identity,
    quick_put,
    results,
    truth,
    write_attempt,
    write_condition,
    write_truth,
)

GOLDEN = Path(__file__).parent / "root"
RECORDS = ("apples_easy", "bears_easy", "crows_easy", "doves_easy")
EXCLUDED = "doves_easy"

CONTROL = "sparql-only__kg-named"
ALPHA = "alpha-all-tools__kg-named"
LABELLED = "alpha-all-tools__kg-named__low-effort"
BETA = "beta-all-tools__kg-named"
CUT_OFF = "beta-all-tools__kg-not-named"
BROKEN = "alpha-all-tools__kg-not-named"

WHO: dict[str, Identity] = {
    CONTROL: identity(level="sparql-only", server=None),
    ALPHA: identity(server="alpha"),
    LABELLED: identity(server="alpha", effort="low"),
    BETA: identity(server="beta", excluded=(EXCLUDED,)),
    CUT_OFF: identity(server="beta", kg_hint="none"),
    BROKEN: identity(server="alpha", kg_hint="none"),
}

GOOD = Attempt()
EMPTY = Attempt(answer=answer(()))
SILENT = Attempt(answer=None, calls=calls(submissions=0))
PARTIAL = Attempt(answer=answer(ROWS[:2]))
DISORDERED = Attempt(answer=answer(ROWS[::-1]))
THOUSANDS = Attempt(answer=answer([(thing, f"{amount}000") for thing, amount in ROWS]))
MALFORMED = Attempt(
    answer=None,
    calls=calls(submissions=0, submissions_rejected=2),
    rejected=(b"thing,amount\nhttp://example.org/a\n", b'thing,amount\n"unterminated\n'),
)
REFUSED_ONCE = replace(GOOD, rejected=(b"thing,amount\nx\n",), calls=calls(submissions_rejected=1))


def _ended(**changes: Any) -> Episode:
    return episode(final={"subtype": "success", "is_error": False, "result": "Sorry.", **changes})


TIMEOUT = Attempt(
    answer=None,
    calls=calls(submissions=0),
    episode=episode(timed_out=True, exit_code=None, signal=15, wall_s=900.1, final=None),
)
MAX_TURNS = Attempt(answer=None, calls=calls(submissions=0), episode=_ended(subtype="error_max_turns", is_error=True))
DECLINED = Attempt(answer=None, calls=calls(submissions=0), episode=_ended(stop_reason="refusal"))
BLOCKED_START = Attempt(
    answer=None, calls=calls(submissions=0, startup_error="no such file", tools_called=(), tool_counts={}, queries_ok=0)
)
BLOCKED_LIMIT = Attempt(
    answer=None,
    calls=calls(submissions=0),
    episode=_ended(is_error=True, api_error_status=429, result="You've hit your session limit"),
)
NO_METRICS = replace(PARTIAL, calls=None)
# Cut where every Python says the same about it: the sentence stands in derived files.
BROKEN_CALLS = replace(GOOD, calls=None, raw={"calls.json": b'{"schema": "calls/1", "calls": '})
BROKEN_EPISODE = replace(GOOD, episode=None, raw={"episode.json": b""})
FROM_THE_FUTURE = pretty(episode_json(episode()) | {"schema": "episode/99"}).encode()
NEWER = replace(GOOD, episode=None, raw={"episode.json": FROM_THE_FUTURE})
EVENTS = (
    {"event": "begin", "at": CLOCK},
    {"event": "call", "at": CLOCK, "seq": 1, "tool": "query", "arguments": {"query": "ASK {}"}, "is_query": True},
    {"event": "reply", "at": CLOCK, "seq": 1, "elapsed_s": 0.5, "ok": True, "response_chars": 4},
    {"event": "call", "at": CLOCK, "seq": 2, "tool": "submit_csv", "arguments": {}},
)
"""A proxy that was killed: no reply to its last call, and half a line after it."""
LOGGED = "".join(f"{line(event)}\n" for event in EVENTS).encode() + b'{"event":"rep'
EVENTS_ONLY = replace(GOOD, calls=None, raw={"calls.jsonl": LOGGED})
AGENT_ONLY = replace(
    GOOD,
    header=False,
    episode=None,
    raw={
        "agent.json": pretty(
            {
                "type": "result",
                "subtype": "success",
                "is_error": False,
                "duration_ms": 9_500,
                "num_turns": 4,
                "result": "Submitted.",
                "usage": {"input_tokens": 10, "output_tokens": 20},
                "modelUsage": {"claude-opus-5": {"inputTokens": 10, "outputTokens": 20}},
            }
        ).encode()
    },
)
CUT = replace(GOOD, answer=None, calls=None, episode=None)
UNKNOWN_KEYS = replace(GOOD, episode=episode(extra={"x_lab": {"rack": 3}}))
LEFTOVERS = replace(GOOD, raw={"cwd/notes.txt": b"scratch\n", "cwd/result.json": b"not ours\n"})


def _older(attempt: Attempt) -> Attempt:
    """The same attempt in files from before the ``schema`` key."""
    made = {key: value for key, value in episode_json(episode()).items() if key in {"wall_s", "exit_code", "turns"}}
    seen = calls_json(calls())
    metrics = seen["metrics"]
    counts = {"queries": {"succeeded": metrics.pop("queries_ok"), "failed": metrics.pop("queries_errored")}}
    old = {"calls": [{k: v for k, v in c.items() if k != "seq"} for c in seen["calls"]], "metrics": metrics | counts}
    raw = {"episode.json": pretty(made).encode(), "calls.json": pretty(old).encode()}
    return replace(attempt, episode=None, calls=None, raw=raw)


TREE: dict[str, Sequence[Sequence[Attempt]]] = {
    CONTROL: ((GOOD, GOOD, PARTIAL), (EMPTY, SILENT, MALFORMED), (GOOD, TIMEOUT, CUT)),
    ALPHA: (
        (GOOD, DISORDERED, UNKNOWN_KEYS),
        (BLOCKED_START, NO_METRICS, AGENT_ONLY),
        (BROKEN_CALLS, EVENTS_ONLY, _older(GOOD)),
        (BLOCKED_START, BLOCKED_START, BLOCKED_LIMIT),
    ),
    LABELLED: (
        (THOUSANDS, GOOD, REFUSED_ONCE),
        (MAX_TURNS, DECLINED, GOOD),
        (BROKEN_EPISODE, NEWER, LEFTOVERS),
    ),
    BETA: ((GOOD, GOOD, GOOD), (PARTIAL, PARTIAL, GOOD), (SILENT, GOOD, GOOD), (GOOD, GOOD, GOOD)),
    CUT_OFF: ((GOOD, CUT),),
    BROKEN: ((GOOD,),),
}


def build_evidence(folder: Path) -> RunsRoot:
    """Only what was observed, and the condition records with nothing judged yet."""
    root = RunsRoot(folder)
    for record in RECORDS:
        thousand = results([(thing, f"{amount}000") for thing, amount in ROWS])
        key = truth(()) if record == "bears_easy" else truth(traps={"thousands": thousand})
        write_truth(root, record, key, quick_put)
    for condition, questions in TREE.items():
        for record, attempts in zip(RECORDS, questions, strict=False):
            for number, attempt in enumerate(attempts, start=1):
                write_attempt(root, record, condition, number, attempt, WHO[condition], quick_put)
    for condition in (CONTROL, ALPHA, LABELLED, BETA):
        asked = RECORDS[: len(TREE[condition])]
        kept = [record for record in asked if record not in WHO[condition].excluded]
        write_condition(root, condition, WHO[condition], kept, quick_put, x_note=f"kept by {CLOCK[:4]}")
    root.condition(BROKEN).write_text('{"schema": "condition/1", "name": ', encoding="utf-8")
    return root


def salt(root: RunsRoot) -> None:
    """Keys of other people in derived files, which a rewrite has to keep."""
    for path, at in (
        (root.condition(ALPHA), ("questions", RECORDS[0])),
        (root.result(RECORDS[0], ALPHA), ("attempts", 0)),
    ):
        value = json.loads(path.read_bytes())
        value["x_reviewed_by"] = "someone"
        inner = value[at[0]][at[1]]
        inner["x_comment"] = ["looked at", 2]
        path.write_text(pretty(value), encoding="utf-8")


def build(folder: Path) -> RunsRoot:
    """The whole root, derived files and all."""
    root = build_evidence(folder)
    rescore(root, regenerate)
    salt(root)
    rescore(root, regenerate)
    return root


if __name__ == "__main__":
    shutil.rmtree(GOLDEN, ignore_errors=True)
    build(GOLDEN)
