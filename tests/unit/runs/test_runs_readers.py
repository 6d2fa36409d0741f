"""Every shape of a root: what is written is read back, older is upgraded, newer refused, unknown keys kept."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from tests import roots

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import JsonObject, pretty
from okn_benchmark.runs import readers, shapes
from okn_benchmark.runs.identity import identity_of_meta
from okn_benchmark.runs.upgrade import NEWEST

TOKENS = shapes.Tokens(input=1, output=2, cache_read=3, cache_write=4)
RESULT = shapes.QuestionResult(
    record="r1",
    condition="c",
    tier="easy",
    settings={"significant_digits": 6},
    attempts=(
        shapes.AttemptResult(attempt=1, outcome="answered", verdict={"exact": True}, tools_called=("query",)),
        shapes.AttemptResult(attempt=2, outcome="blocked", cause="startup", reason="no server"),
        shapes.AttemptResult(
            attempt=3, outcome="timeout", tokens=shapes.Tokens(input=1, output=2, cache_read=3, cache_write=4)
        ),
    ),
)
HEADER = shapes.AttemptHeader(record="r1", condition="c", attempt=1, started_at=roots.CLOCK, identity_digest="i")
CONDITION = shapes.ConditionRecord(
    name="c", meta=roots.meta(roots.identity()), questions={"r1": {}}, aggregate={"n": 1}
)

SHAPES: list[tuple[str, Any, Callable[[Any], JsonObject], Callable[[Any, str], Any]]] = [
    ("attempt", HEADER, readers.attempt_header_json, readers.read_attempt_header),
    ("calls", roots.calls(), readers.calls_json, readers.read_calls),
    ("episode", roots.episode(), readers.episode_json, readers.read_episode),
    ("result", RESULT, readers.question_result_json, readers.read_question_result),
    ("condition", CONDITION, readers.condition_json, readers.read_condition),
    ("ground_truth", roots.truth(), readers.truth_json, readers.read_truth),
]
KINDS = [shape[0] for shape in SHAPES]


@pytest.mark.parametrize(("kind", "value", "write", "read"), SHAPES, ids=KINDS)
def test_a_shape_survives_the_way_to_disk_and_back(kind: str, value: Any, write: Any, read: Any) -> None:
    text = pretty(write(value))
    assert json.loads(text)["schema"] == f"{kind}/{NEWEST[kind]}"
    assert read(text, "x.json") == value
    assert pretty(write(read(text.encode(), "x.json"))) == text


@pytest.mark.parametrize(("kind", "value", "write", "read"), SHAPES, ids=KINDS)
def test_a_newer_file_is_refused_with_the_way_out(kind: str, value: Any, write: Any, read: Any) -> None:
    with pytest.raises(InputError, match=rf"x\.json was written by a newer version.*{kind}/99") as caught:
        read(pretty(write(value) | {"schema": f"{kind}/99"}), "x.json")
    assert "Upgrade" in str(caught.value.hint)


@pytest.mark.parametrize(("kind", "value", "write", "read"), SHAPES, ids=KINDS)
def test_a_file_of_another_kind_is_refused(kind: str, value: Any, write: Any, read: Any) -> None:
    del kind
    with pytest.raises(InputError, match="says schema 'other/1'"):
        read(pretty(write(value) | {"schema": "other/1"}), "x.json")


@pytest.mark.parametrize(("kind", "value", "write", "read"), SHAPES, ids=KINDS)
def test_unknown_keys_come_back_out_at_every_level(kind: str, value: Any, write: Any, read: Any) -> None:
    del kind

    given = write(value)
    # Objects of names and counts have no unknown keys: every key is a name.
    closed = {"tool_counts", "upstream_soft_errors", "resume_parts", "soft_errors"}

    def salted(thing: Any, key: str = "") -> Any:
        if isinstance(thing, dict) and key not in closed:
            return {k: salted(v, k) for k, v in thing.items()} | {"x_unknown": [1, {"a": None}], "extra": 7}
        if isinstance(thing, list) and all(isinstance(item, dict) for item in thing):
            return [salted(item) for item in thing]
        return thing

    text = salted(given) | {"schema": given["schema"]}
    if "questions" in text:
        text["questions"] = given["questions"]
    assert write(read(json.dumps(text), "x.json")) == text


@pytest.mark.parametrize(("kind", "value", "write", "read"), SHAPES, ids=KINDS)
@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"schema": 5}', b"[" * 5000])
def test_what_is_no_object_is_one_sentence_that_names_the_file(
    kind: str, value: Any, write: Any, read: Any, text: bytes
) -> None:
    del kind, value, write
    with pytest.raises(InputError, match=r"x\.json"):
        read(text, "x.json")


def test_a_field_of_the_wrong_kind_is_named_with_its_path() -> None:
    value = readers.calls_json(roots.calls())
    value["calls"][1]["ok"] = "yes"
    with pytest.raises(InputError, match=r"c\.json: calls\[1\]: ok is a string, expected true or false"):
        readers.read_calls(json.dumps(value), "c.json")


def test_an_outcome_outside_the_vocabulary_is_refused() -> None:
    value = readers.question_result_json(RESULT)
    value["attempts"][0]["outcome"] = "splendid"
    with pytest.raises(InputError, match="splendid"):
        readers.read_question_result(json.dumps(value), "r.json")


def test_unknown_is_written_as_null_and_never_as_zero() -> None:
    value = readers.question_result_json(RESULT)["attempts"][1]
    assert value["wall_s"] is None
    assert value["tools_called"] is None
    assert (
        readers.read_question_result(pretty(readers.question_result_json(RESULT)), "r").attempts[1].tools_called is None
    )


def test_deeply_nested_arguments_of_a_hostile_call_can_be_written() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    call = shapes.Call(seq=1, tool="t", arguments={"x": deep}, started_at="", elapsed_s=None, ok=False)
    assert readers.call_json(call)["arguments"] == {"x": deep}


def test_the_closed_vocabularies_agree_with_their_types() -> None:
    assert get_args(shapes.OutcomeKind) == shapes.OUTCOMES
    assert get_args(shapes.BlockedCause) == shapes.BLOCKED_CAUSES


def test_a_calls_file_from_before_the_schema_key_is_upgraded() -> None:
    old = {
        "calls": [{"tool": "query", "elapsed_s": 0.5, "note": "kept"}, {"tool": "query", "error": "boom"}],
        "metrics": {"queries": {"succeeded": 1, "failed": 1}, "server_s": 0.5},
    }
    got = readers.read_calls(json.dumps(old), "c.json")
    assert [(call.seq, call.ok) for call in got.calls] == [(1, True), (2, False)]
    assert got.calls[0].extra == {"note": "kept"}
    assert (got.metrics.queries_ok, got.metrics.queries_errored) == (1, 1)


def test_an_episode_from_before_the_schema_key_is_upgraded() -> None:
    got = readers.read_episode('{"wall_s": 3, "exit_code": 0, "model_resolved": "m"}', "e.json")
    assert (got.host, got.timed_out, got.wall_s) == ("claude", False, 3.0)


def test_a_result_from_before_the_schema_key_is_upgraded() -> None:
    old = {
        "question": "r1",
        "condition": "c",
        "attempts": [{"verdict": {"submitted": True}}, {"blocked": True}, {"verdict": {"submitted": False}}],
    }
    got = readers.read_question_result(json.dumps(old), "r.json")
    assert got.record == "r1"
    assert [a.outcome for a in got.attempts] == ["answered", "blocked", "no_submission"]
    assert got.attempts[1].cause == "startup"


def test_a_condition_from_before_the_schema_key_keeps_its_settings_as_its_identity() -> None:
    settings = {"level": "all-tools", "kg_hint": "tags", "server": "s", "model": "m", "effort": None, "tier": "t"}
    old = {"meta": settings | {"repeat": 3, "note": "kept"}, "questions": {"r1": {}}}
    got = readers.read_condition(json.dumps(old), "conditions/s-all-tools__kg-named.json")
    assert got.name == "s-all-tools__kg-named"
    assert got.meta["note"] == "kept"
    who = identity_of_meta(got.meta, "c.json")
    assert (who.level, who.model, who.repeat, who.host) == ("all-tools", "m", 3, "claude")
    assert readers.read_condition(pretty(readers.condition_json(got)), "x.json") == got
