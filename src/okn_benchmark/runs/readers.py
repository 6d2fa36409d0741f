"""From JSON and to JSON for every shape of a runs root.

``read_x(text, source)`` takes the bytes or text of a file and the name it should have in errors; ``x_json(value)``
gives the object to write. Older files are upgraded first, newer ones refused, and unknown keys come back out.
"""

from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import PurePath
from typing import Any, cast

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import Fields, JsonObject, parse_object
from okn_benchmark.runs.shapes import (
    BLOCKED_CAUSES,
    OUTCOMES,
    AttemptHeader,
    AttemptResult,
    BlockedCause,
    Call,
    Calls,
    ConditionRecord,
    Episode,
    Metrics,
    OutcomeKind,
    QuestionResult,
    TruthRecord,
    read_tokens,
)
from okn_benchmark.runs.upgrade import schema_of, upgraded


def read_attempt_header(text: str | bytes, source: str) -> AttemptHeader:
    """``attempt.json``. Raises InputError."""
    got = _open(text, "attempt", source)
    return AttemptHeader(
        record=got.text("record"),
        condition=got.text("condition"),
        attempt=got.whole("attempt"),
        started_at=got.text("started_at"),
        identity_digest=got.text("identity_digest"),
        identity=got.obj("identity"),
        resume_digest=got.opt_text("resume_digest"),
        resume_parts={k: str(v) for k, v in got.obj("resume_parts").items()},
        host=got.opt_text("host"),
        host_version=got.opt_text("host_version"),
        format=got.opt_text("format") or "",
        extra=got.rest(),
    )


def attempt_header_json(value: AttemptHeader) -> JsonObject:
    """The object of ``attempt.json``."""
    return _object("attempt", value)


def read_calls(text: str | bytes, source: str) -> Calls:
    """``calls.json``. Raises InputError."""
    got = _open(text, "calls", source)
    calls = got.shapes("calls", read_call)
    metrics = got.opt_shape("metrics", read_metrics)
    return Calls(calls=calls, metrics=metrics or Metrics(), extra=got.rest())


def calls_json(value: Calls) -> JsonObject:
    """The object of ``calls.json``."""
    return _object("calls", value)


def read_call(got: Fields) -> Call:
    """One entry of ``calls``; also one event of ``calls.jsonl``."""
    return Call(
        seq=got.whole("seq"),
        tool=got.text("tool"),
        arguments=got.anything("arguments"),
        started_at=got.opt_text("started_at") or "",
        elapsed_s=got.opt_number("elapsed_s"),
        ok=got.flag("ok"),
        error=got.opt_text("error"),
        soft_error=got.opt_text("soft_error"),
        withheld=got.flag("withheld", default=False),
        timed_out=got.flag("timed_out", default=False),
        is_query=got.flag("is_query", default=False),
        response_chars=got.whole("response_chars", 0),
        sha256=got.opt_text("sha256"),
        interventions=got.texts("interventions"),
        extra=got.rest(),
    )


def call_json(value: Call) -> JsonObject:
    """One entry of ``calls``, without a schema key."""
    return cast("JsonObject", _plain(value))


def read_metrics(got: Fields) -> Metrics:
    """The ``metrics`` of ``calls.json``."""
    return Metrics(
        tools_called=got.texts("tools_called"),
        tool_counts=got.counts("tool_counts"),
        queries_ok=got.whole("queries_ok", 0),
        queries_errored=got.whole("queries_errored", 0),
        server_s=got.opt_number("server_s") or 0.0,
        upstream_soft_errors=got.counts("upstream_soft_errors"),
        withheld_calls=got.whole("withheld_calls", 0),
        startup_error=got.opt_text("startup_error"),
        lost_upstream=got.opt_text("lost_upstream"),
        breaker_opened=got.flag("breaker_opened", default=False),
        definition_chars=got.opt_whole("definition_chars"),
        instructions_chars=got.opt_whole("instructions_chars"),
        response_chars=got.whole("response_chars", 0),
        submissions_accepted=got.whole("submissions_accepted", 0),
        submissions_rejected=got.whole("submissions_rejected", 0),
        extra=got.rest(),
    )


def read_episode(text: str | bytes, source: str) -> Episode:
    """``episode.json``. Raises InputError."""
    got = _open(text, "episode", source)
    return Episode(
        host=got.text("host"),
        host_version=got.opt_text("host_version"),
        exit_code=got.opt_whole("exit_code"),
        wall_s=got.number("wall_s"),
        timed_out=got.flag("timed_out"),
        started_at=got.opt_text("started_at") or "",
        source=got.opt_text("source") or "runner",
        signal=got.opt_whole("signal"),
        model_requested=got.opt_text("model_requested"),
        model_resolved=got.opt_text("model_resolved"),
        effort=got.opt_text("effort"),
        init=got.opt_obj("init"),
        final=got.opt_obj("final"),
        turns=got.opt_whole("turns"),
        tokens=got.opt_shape("tokens", read_tokens),
        usage_by_model=got.obj("usage_by_model"),
        cost_usd=got.opt_number("cost_usd"),
        api_retries=got.opt_whole("api_retries"),
        api_retry_s=got.opt_number("api_retry_s"),
        host_clipped=got.opt_whole("host_clipped"),
        withheld_reached=got.texts("withheld_reached"),
        protocol_era=got.opt_text("protocol_era"),
        protocol_version=got.opt_text("protocol_version"),
        contended=got.flag("contended", default=False),
        extra=got.rest(),
    )


def episode_json(value: Episode) -> JsonObject:
    """The object of ``episode.json``."""
    return _object("episode", value)


def read_attempt_result(got: Fields) -> AttemptResult:
    """One entry of ``attempts`` in ``result.json``."""
    return AttemptResult(
        attempt=got.whole("attempt"),
        outcome=cast("OutcomeKind", _one_of(got, "outcome", OUTCOMES)),
        cause=cast("BlockedCause | None", _one_of(got, "cause", BLOCKED_CAUSES, optional=True)),
        reason=got.opt_text("reason"),
        warnings=got.texts("warnings"),
        verdict=got.opt_obj("verdict"),
        wall_s=got.opt_number("wall_s"),
        server_s=got.opt_number("server_s"),
        api_retry_s=got.opt_number("api_retry_s"),
        turns=got.opt_whole("turns"),
        queries_ok=got.opt_whole("queries_ok"),
        queries_errored=got.opt_whole("queries_errored"),
        tools_called=got.opt_texts("tools_called"),
        withheld_calls=got.opt_whole("withheld_calls"),
        withheld_reached=got.texts("withheld_reached"),
        soft_errors=got.counts("soft_errors"),
        host_clipped=got.opt_whole("host_clipped"),
        tokens=got.opt_shape("tokens", read_tokens),
        cost_usd=got.opt_number("cost_usd"),
        model_resolved=got.opt_text("model_resolved"),
        host_version=got.opt_text("host_version"),
        definition_chars=got.opt_whole("definition_chars"),
        response_chars=got.opt_whole("response_chars"),
        source=got.opt_text("source") or "runner",
        contended=got.flag("contended", default=False),
        ledger=got.opt_obj("ledger"),
        manipulation=got.opt_obj("manipulation"),
        extra=got.rest(),
    )


def read_question_result(text: str | bytes, source: str) -> QuestionResult:
    """``result.json``. Raises InputError."""
    got = _open(text, "result", source)
    return QuestionResult(
        record=got.text("record"),
        condition=got.text("condition"),
        attempts=got.shapes("attempts", read_attempt_result),
        tier=got.opt_text("tier"),
        settings=got.obj("settings"),
        extra=got.rest(),
    )


def question_result_json(value: QuestionResult) -> JsonObject:
    """The object of ``result.json``."""
    return _object("result", value)


def read_condition(text: str | bytes, source: str) -> ConditionRecord:
    """``conditions/<name>.json``. Raises InputError."""
    got = _open(text, "condition", source)
    questions = got.obj("questions")
    for record, entry in questions.items():
        if not isinstance(entry, dict):
            raise InputError(f"{source}: questions.{record} is not an object.")
    return ConditionRecord(
        name=got.opt_text("name") or PurePath(source).stem,
        meta=got.obj("meta"),
        questions=questions,
        aggregate=got.obj("aggregate"),
        extra=got.rest(),
    )


def condition_json(value: ConditionRecord) -> JsonObject:
    """The object of ``conditions/<name>.json``."""
    return _object("condition", value)


def read_truth(text: str | bytes, source: str) -> TruthRecord:
    """``ground_truth.json``. Raises InputError."""
    got = _open(text, "ground_truth", source)
    return TruthRecord(
        endpoint=got.text("endpoint"),
        engine=got.opt_text("engine"),
        query=got.text("query"),
        fingerprint=got.text("fingerprint"),
        results=got.obj("results"),
        retrieved_at=got.opt_text("retrieved_at"),
        elapsed_s=got.opt_number("elapsed_s"),
        warnings=got.texts("warnings"),
        tier=got.opt_text("tier"),
        tags=got.texts("tags"),
        traps=got.obj("traps"),
        extra=got.rest(),
    )


def truth_json(value: TruthRecord) -> JsonObject:
    """The object of ``ground_truth.json``."""
    return _object("ground_truth", value)


def _open(text: str | bytes, kind: str, source: str) -> Fields:
    return Fields(upgraded(parse_object(text, source), kind, source), source)


def _one_of(got: Fields, key: str, allowed: tuple[str, ...], *, optional: bool = False) -> str | None:
    found = got.opt_text(key) if optional else got.text(key)
    if found is not None and found not in allowed:
        raise InputError(f"{got.at}: {key} is {found!r}, expected one of {', '.join(allowed)}.")
    return found


def _object(kind: str, value: object) -> JsonObject:
    return {"schema": schema_of(kind), **cast("JsonObject", _plain(value))}


def _plain(value: object) -> Any:
    """Our shapes and tuples opened up; dicts and lists are JSON already and stay as they are, however deep."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return dict(value) if isinstance(value, Mapping) else value
    out = {name: _plain(getattr(value, name)) for name in _names(cast("Hashable", type(value))) if name != "extra"}
    # Keys nobody here knows go last, so that ours keep their order whoever wrote the file.
    return out | _plain(getattr(value, "extra", {}))


@cache
def _names(shape: Hashable) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cast("Any", shape)))
