"""From the proxy's event log to ``calls.json``: ``calls.jsonl`` has a flushed line per event, this adds them up. Pure.

Events, each an object with ``event`` and ``at``: ``begin`` (settings), ``opened`` (a result to an opening request),
``listed`` (one page of tools), ``call`` and later ``reply`` with the same ``seq``, ``submission``, ``startup_error``,
``lost``, ``breaker``, ``end`` (counts of everything else that passed). A log that stops in the middle, because the
process was killed, compiles too.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Call, Calls, Metrics

_REPLY_KEYS = frozenset(
    {"event", "at", "seq", "elapsed_s", "ok", "error", "soft_error", "withheld", "timed_out", "response_chars"}
    | {"sha256", "interventions", "local"}
)


def read_events(text: str) -> list[JsonObject]:
    """The events of a ``calls.jsonl``; a last line cut short by a crash is left out."""
    events = []
    for line in text.split("\n"):  # splitlines would also cut at separators that JSON leaves inside strings
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def compile_calls(events: Iterable[Mapping[str, Any]]) -> Calls:
    """Everything the proxy saw in one episode, from its events in order."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        by_kind.setdefault(str(event.get("event")), []).append(event)
    replies = {event.get("seq"): event for event in by_kind.get("reply", ())}
    asked = by_kind.get("call", [])
    calls = tuple(_call(event, replies.get(event.get("seq"))) for event in asked)
    local = {event.get("seq") for event in replies.values() if event.get("local")}
    return Calls(calls=calls, metrics=_metrics(calls, local, by_kind), extra=_session(by_kind))


def _call(asked: Mapping[str, Any], reply: Mapping[str, Any] | None) -> Call:
    extra = {} if reply is None else {k: v for k, v in reply.items() if k not in _REPLY_KEYS}
    got: Mapping[str, Any] = {"ok": False, "error": "no reply was recorded"} if reply is None else reply
    return Call(
        seq=int(asked["seq"]),
        tool=str(asked.get("tool")),
        arguments=asked.get("arguments"),
        started_at=str(asked.get("at")),
        elapsed_s=got.get("elapsed_s"),
        ok=bool(got.get("ok")),
        error=got.get("error"),
        soft_error=got.get("soft_error"),
        withheld=bool(got.get("withheld")),
        timed_out=bool(got.get("timed_out")),
        is_query=bool(asked.get("is_query")),
        response_chars=int(got.get("response_chars") or 0),
        sha256=got.get("sha256"),
        interventions=tuple(got.get("interventions") or ()),
        extra=extra,
    )


def _metrics(calls: tuple[Call, ...], local: set[Any], by_kind: Mapping[str, list[Mapping[str, Any]]]) -> Metrics:
    called = tuple(call.tool for call in calls if not call.withheld)
    upstream = [call for call in calls if not call.withheld and call.seq not in local]
    queries = [call for call in upstream if call.is_query]
    opened = by_kind.get("opened", [])
    handed = by_kind.get("submission", [])
    return Metrics(
        tools_called=called,
        tool_counts=dict(Counter(called)),
        queries_ok=sum(call.ok for call in queries),
        queries_errored=sum(not call.ok for call in queries),
        server_s=round(sum(call.elapsed_s or 0.0 for call in upstream), 6),
        upstream_soft_errors=dict(Counter(call.tool for call in upstream if call.soft_error)),
        withheld_calls=sum(call.withheld for call in calls),
        startup_error=_last_reason(by_kind, "startup_error"),
        lost_upstream=_last_reason(by_kind, "lost"),
        breaker_opened=bool(by_kind.get("breaker")),
        definition_chars=_definition_chars(by_kind.get("listed", [])),
        instructions_chars=opened[-1].get("instructions_chars") if opened else None,
        response_chars=sum(call.response_chars for call in upstream),
        submissions_accepted=sum(bool(event.get("accepted")) for event in handed),
        submissions_rejected=sum(not event.get("accepted") for event in handed),
    )


def _definition_chars(pages: list[Mapping[str, Any]]) -> int | None:
    """Of the latest complete walk through the pages: every tool once, ``submit_csv`` not counted."""
    if not pages:
        return None
    sizes: dict[str, int] = {}
    for page in pages:
        if page.get("first"):
            sizes = {}
        sizes |= page.get("shown") or {}
    return sum(sizes.values())


def _last_reason(by_kind: Mapping[str, list[Mapping[str, Any]]], kind: str) -> str | None:
    events = by_kind.get(kind)
    return str(events[-1].get("reason")) if events else None


def _session(by_kind: Mapping[str, list[Mapping[str, Any]]]) -> JsonObject:
    """Who talked to whom, and what else passed: kept beside the metrics."""
    out: JsonObject = {}
    for kind, key in (("begin", "settings"), ("opened", "session")):
        events = by_kind.get(kind)
        if events:
            out[key] = {k: v for k, v in events[-1].items() if k not in {"event", "at"}}
    if ends := by_kind.get("end"):
        out |= {"ended": ends[-1].get("reason"), "traffic": ends[-1].get("traffic") or {}}
    if pages := by_kind.get("listed"):
        out["offered"] = _offered(pages)
    return out


def _offered(pages: list[Mapping[str, Any]]) -> JsonObject:
    """The latest complete walk through the pages: tools as shown, each with the characters of its definition."""
    tools: dict[str, int] = {}
    told: dict[str, list[str]] = {"withheld": [], "interventions": []}
    for page in pages:
        if page.get("first"):
            tools, told = {}, {"withheld": [], "interventions": []}
        tools |= page.get("shown") or {}
        told = {key: list(dict.fromkeys([*known, *(page.get(key) or ())])) for key, known in told.items()}
    return {"tools": tools, **told}
