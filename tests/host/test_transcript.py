"""Reading a host's stream: what is counted, and that no shape of it is trusted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.host.prices import cost_usd, load_prices, parse_prices
from okn_benchmark.host.transcript import Facts, Reader, read_transcript

INIT: dict[str, Any] = {
    "type": "system",
    "subtype": "init",
    "tools": ["ToolSearch", "mcp__okn__run_query"],
    "mcp_servers": [{"name": "okn", "status": "connected"}],
    "claude_code_version": "2.1.332",
    "plugins": [{"name": "p", "source": "p@builtin"}],
    "apiKeySource": "none",
}
MODEL_USAGE = {
    "claude-opus-5": {
        "inputTokens": 10,
        "outputTokens": 20,
        "cacheReadInputTokens": 30,
        "cacheCreationInputTokens": 40,
    },
    "claude-haiku-4-5": {
        "inputTokens": 1,
        "outputTokens": 90,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
    },
}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "modelUsage": MODEL_USAGE}


def answer(key: str, *blocks: Any, model: str = "claude-opus-5", **event: Any) -> dict[str, Any]:
    message = {"id": key, "model": model, "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **event}


def use(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": arguments}


def result(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "content": content}]}}


def read(*events: Any, withheld: tuple[str, ...] = ()) -> Facts:
    return read_transcript([json.dumps(event) for event in events], withheld)


def test_init_facts() -> None:
    init = read(INIT, answer("1")).init
    assert init is not None
    assert init["mcp_servers"] == {"okn": "connected"}
    assert init["plugins"] == ["p@builtin"]
    assert (init["version"], init["api_key_source"], init["server_in_turn_1"]) == ("2.1.332", "none", True)


def test_a_server_that_came_after_the_first_answer_was_not_there_in_turn_1() -> None:
    init = read(answer("1"), INIT).init
    assert init is not None
    assert init["server_in_turn_1"] is False


def test_only_the_first_init_counts() -> None:
    later = {**INIT, "claude_code_version": "9.9.9"}
    init = read(INIT, later).init
    assert init is not None
    assert init["version"] == "2.1.332"


def test_turns_are_answers_not_blocks_and_not_the_hosts_own_words() -> None:
    facts = read(
        INIT,
        answer("1", {"type": "text", "text": "a"}),
        answer("1", use("ToolSearch", query="okn")),
        answer("2"),
        answer("3", parent_tool_use_id="toolu_0"),
        answer("4", model="<synthetic>", error="rate_limit"),
        {**RESULT, "num_turns": 73},
    )
    assert facts.turns == 2
    assert facts.final is not None
    assert facts.final["num_turns"] == 73
    assert facts.final["error"] == "rate_limit"


def test_an_api_failure_that_was_overcome_is_not_the_end() -> None:
    facts = read(INIT, answer("1", model="<synthetic>", is_api_error_message=True), answer("2"), RESULT)
    assert facts.final is not None
    assert facts.final["error"] is None


def test_tokens_are_summed_and_kept_by_model() -> None:
    facts = read(INIT, answer("1"), RESULT)
    assert facts.tokens is not None
    assert (facts.tokens.input, facts.tokens.output) == (11, 110)
    assert (facts.tokens.cache_read, facts.tokens.cache_write) == (30, 40)
    assert facts.usage_by_model["claude-opus-5"]["cache_write"] == 40
    assert facts.model_resolved == "claude-opus-5", "the one that answered, not the one that wrote most"


def test_the_signature_tells_the_model_and_the_bill_is_kept_beside_it() -> None:
    asked_for = {"claude-opus-5-5": MODEL_USAGE["claude-opus-5"]}
    facts = read(INIT, answer("1"), {**RESULT, "modelUsage": asked_for})
    assert facts.model_resolved == "claude-opus-5"
    assert list(facts.usage_by_model) == ["claude-opus-5-5"]
    assert read(INIT, answer("1", model=7), {**RESULT, "modelUsage": asked_for}).model_resolved == "claude-opus-5-5"  # type: ignore[arg-type]


def test_where_no_answer_is_left_the_model_that_wrote_most_is_taken() -> None:
    assert read(RESULT).model_resolved == "claude-haiku-4-5"
    assert read({**RESULT, "modelUsage": {}}).model_resolved is None


def test_without_a_final_message_the_tokens_are_unknown() -> None:
    facts = read(INIT, answer("1"))
    assert (facts.tokens, facts.final, facts.host_cost_usd) == (None, None, None)
    assert facts.model_resolved == "claude-opus-5"


def test_an_empty_stream_knows_nothing() -> None:
    facts = read()
    assert (facts.turns, facts.api_retries, facts.host_clipped, facts.init) == (None, None, None, None)


def test_retries_and_their_time() -> None:
    retry = {"type": "system", "subtype": "api_retry", "retry_delay_ms": 600}
    facts = read(INIT, retry, retry, {**retry, "retry_delay_ms": "soon"}, RESULT)
    assert (facts.api_retries, facts.api_retry_s) == (3, 1.2)


@pytest.mark.parametrize(
    ("content", "clipped"),
    [
        ("<persisted-output>\nOutput too large (97.7KB). Full output saved to: …", 1),
        ("Error: result (1,234,567 characters) exceeds maximum allowed tokens.", 1),
        ([{"type": "text", "text": "<persisted-output>\nOutput too large: says the server"}], 0),
        ("short", 0),
    ],
)
def test_results_the_host_replaced(content: Any, clipped: int) -> None:
    assert read(INIT, result(content)).host_clipped == clipped


@pytest.mark.parametrize(
    ("block", "reached"),
    [
        (use("mcp__okn__get_schema"), True),
        (use("get_schema"), True),
        (use("ToolSearch", query="select:mcp__okn__list,mcp__okn__get_schema"), True),
        (use("ToolSearch", query="+get_schema"), True),
        (use("ToolSearch", query="get_schema_v2"), False),
        (use("ToolSearch", query="schema of a graph"), False),
        (use("mcp__okn__run_query", query="get_schema"), False),
        (use("mcp__okn__get_schema_v2"), False),
    ],
)
def test_reaching_for_a_withheld_tool(block: Any, *, reached: bool) -> None:
    facts = read(INIT, answer("1", block), withheld=("get_schema",))
    assert facts.withheld_reached == (("get_schema",) if reached else ())


def test_events_for_a_watcher() -> None:
    reader = Reader()
    seen = [
        e for event in (INIT, answer("1", use("mcp__okn__run_query")), RESULT) for e in reader.feed(json.dumps(event))
    ]
    assert [(e.kind, e.detail) for e in seen] == [
        ("connected", "connected"),
        ("turn", "1"),
        ("tool", "run_query"),
        ("final", "success"),
    ]


def test_junk_is_counted_and_nothing_else() -> None:
    deep = "[" * 100_000
    facts = read_transcript(["not json", "[1]", "", deep, b"\xff\xfe", json.dumps(RESULT)])
    assert facts.junk_lines == 4
    assert facts.final is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = ("subtype", "message", "mcp_servers", "tools", "modelUsage", "usage", "retry_delay_ms", "plugins", "result")
EVENTS = st.builds(
    lambda kind, subtype, fields: {"type": kind, "subtype": subtype, **fields},
    st.sampled_from(["system", "assistant", "user", "result", "other"]),
    st.sampled_from(["init", "api_retry", "model_refusal_no_fallback", None]),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5),
)


@given(st.lists(EVENTS, max_size=5))
def test_no_shape_breaks_the_reader(events: list[Any]) -> None:
    facts = read(*events, withheld=("x",))
    json.dumps([facts.init, facts.final, facts.usage_by_model])


def test_cost_is_computed_by_bucket_and_unknown_for_an_unknown_model() -> None:
    table = parse_prices(
        {
            "date": "2026-01-01",
            "models": {"m": {"input": 1, "output": 10, "cache_read": 0.1, "cache_write_5m": 2, "cache_write_1h": 4}},
        }
    )
    counts = {"input": 1_000_000, "output": 100_000, "cache_read": 2_000_000, "cache_write": 300_000}
    assert cost_usd({"m": counts}, table) == pytest.approx(1 + 1 + 0.2 + 0.6)
    assert cost_usd({"m": counts | {"cache_write_1h": 100_000}}, table) == pytest.approx(1 + 1 + 0.2 + 0.4 + 0.4)
    assert cost_usd({"m": counts, "other": counts}, table) is None
    assert cost_usd({}, table) is None


def test_the_shipped_prices_are_dated_and_ordered() -> None:
    table = load_prices()
    assert len(table.date) == 10
    for price in table.models.values():
        assert price.cache_read < price.input < price.cache_write_5m < price.cache_write_1h < price.output
