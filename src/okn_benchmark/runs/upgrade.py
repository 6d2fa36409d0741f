"""Older files, brought up to the newest shape one step at a time before anything reads their fields.

A file without a ``schema`` key counts as version 0: the layout of the first published roots. A step takes the object
of version n and returns that of version n + 1; it adds and moves keys and never drops one.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from okn_benchmark.jsonio import JsonObject, check_schema

Step: TypeAlias = Callable[[JsonObject], JsonObject]

NEWEST: Final[Mapping[str, int]] = {
    "attempt": 1,
    "calls": 1,
    "episode": 1,
    "result": 1,
    "condition": 1,
    "ground_truth": 1,
    "frozen": 1,
}


def schema_of(kind: str) -> str:
    """What this version writes under ``schema``."""
    return f"{kind}/{NEWEST[kind]}"


def upgraded(value: JsonObject, kind: str, source: str) -> JsonObject:
    """``value`` in the newest shape of ``kind``; the object itself when it is new already.

    Raises:
        InputError: another kind, or a version newer than this program reads.
    """
    version = check_schema(value, kind, NEWEST[kind], source)
    for step in _STEPS.get(kind, ())[version:]:
        value = step(value)
    return value


def _calls_0(value: JsonObject) -> JsonObject:
    out = dict(value)
    out["calls"] = [_call_0(index, call) for index, call in enumerate(_list(value.get("calls")), start=1)]
    metrics = value.get("metrics")
    if isinstance(metrics, dict):
        out["metrics"] = _metrics_0(metrics)
    return out


def _call_0(index: int, call: object) -> object:
    if not isinstance(call, dict):
        return call
    return {"seq": index, "arguments": None, "started_at": "", "ok": call.get("error") is None, **call}


def _metrics_0(metrics: JsonObject) -> JsonObject:
    out = dict(metrics)
    queries = metrics.get("queries")
    if isinstance(queries, dict):
        # Once one object; split later, so that each count is a plain number of its own.
        for new, names in (("queries_ok", ("ok", "succeeded")), ("queries_errored", ("errored", "failed"))):
            for name in names:
                if name in queries:
                    out.setdefault(new, queries[name])
        del out["queries"]
    return out


def _episode_0(value: JsonObject) -> JsonObject:
    out = {"host": "claude", "started_at": "", **value}
    out.setdefault("timed_out", False)
    return out


def _result_0(value: JsonObject) -> JsonObject:
    out = dict(value)
    out["attempts"] = [_attempt_0(n, item) for n, item in enumerate(_list(value.get("attempts")), start=1)]
    if "record" not in out and "question" in out:
        out["record"] = out["question"]
    return out


def _attempt_0(number: int, item: object) -> object:
    if not isinstance(item, dict) or "outcome" in item:
        return item
    blocked = bool(item.get("blocked"))
    submitted = bool((item.get("verdict") or {}).get("submitted"))
    outcome = "blocked" if blocked else "answered" if submitted else "no_submission"
    cause = {"cause": "startup"} if blocked else {}
    return {"attempt": number, "outcome": outcome, **cause, **item}


def _condition_0(value: JsonObject) -> JsonObject:
    meta = value.get("meta")
    if not isinstance(meta, dict) or "identity" in meta:
        return value
    identity = {name: meta[name] for name in _IDENTITY_0 if name in meta}
    return value | {"meta": meta | {"identity": {"repeat": 1, **identity}}}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


_IDENTITY_0: Final = ("level", "kg_hint", "server", "model", "effort", "tier", "repeat")
"""What identity was before it was an object of its own."""

_STEPS: Final[Mapping[str, tuple[Step, ...]]] = {
    "calls": (_calls_0,),
    "episode": (_episode_0,),
    "result": (_result_0,),
    "condition": (_condition_0,),
}
