"""What counts as a failure hidden in a success, and what is data."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.proxy.health import Breaker, soft_error


def text(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


HIDDEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("an error member beside a zero", text({"descendant_count": 0, "error": "HTTP Error 429: Too Many Requests"})),
    ("an error member beside rows", text({"rows": [[1]], "error": "partial: upstream timed out"})),
    ("a list of errors", text({"data": None, "errors": [{"message": "bad field"}]})),
    ("an error object", text({"error": {"code": 500, "message": "boom"}})),
    ("an error flag", text({"error": True, "detail": "x"})),
    ("an error status as a number", text({"error": 503})),
    ("a status", {"content": [], "structuredContent": {"status": 502, "rows": []}}),
    ("a status in words", text({"status": "error", "rows": []})),
    ("success denied", text({"success": False, "message": "no backend"})),
    ("inside a wrapper", {"structuredContent": {"result": {"error": "nope"}}, "content": []}),
    ("inside a wrapped text", {"structuredContent": {"result": '{"error": "nope"}'}, "content": []}),
    ("an empty result beside an error text", text({"results": [], "note": "HTTP Error 429: Too Many Requests"})),
    ("a zero count beside an error text", text({"count": 0, "message": "Request timed out"})),
    ("a status line as a member", text({"note": "HTTP 503: unavailable", "rows": [[1]]})),
    ("a bare sentence", text("HTTP Error 429: Too Many Requests")),
    ("a sentence around a status", text("No descendants found (HTTP Error 429: Too Many Requests)")),
    ("an exception's name", text("TimeoutError: the endpoint did not answer")),
    ("a traceback", text("Traceback (most recent call last):\n  File x")),
    ("a failed query", text("Error executing query: timeout")),
    ("the second block", {"content": [{"type": "text", "text": "partial"}, *text({"error": "e"})["content"]]}),
)

BINDING = {"error": {"type": "literal", "value": "HTTP Error 429"}}

DATA: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nothing", {"content": []}),
    ("plain text", text("There were 3 errors in the manuscript.")),
    ("an empty result", text({"rows": [], "count": 0})),
    ("no error", text({"error": None, "rows": []})),
    ("an empty error", text({"error": "", "errors": [], "rows": [1]})),
    ("an error that says none", text({"error": "none", "rows": [1]})),
    ("a measured error", text({"mean": 3.1, "error": 0.2})),
    ("a count of errors", text({"errors": 12, "rows": [[1]]})),
    ("a variable called error", text({"head": {"vars": ["error"]}, "results": {"bindings": [BINDING]}})),
    ("a binding alone", text({"error": {"type": "uri", "value": "http://e/404"}})),
    ("rows about errors", text({"columns": ["error"], "rows": [["HTTP Error 429"]]})),
    ("a list of rows", text([{"error": "a gene called error"}])),
    ("a csv whose column is error", text("error,count\nHTTP Error 429,3\n")),
    ("a csv of one column", text("label\nHTTP Error 500 handler\n")),
    ("a label", text({"label": "Error-prone repair", "rows": [["x"]]})),
    ("a status that is fine", text({"status": 200, "rows": []})),
    ("a status in words that is fine", text({"status": "active"})),
    ("a country code", text({"code": 404, "name": "Kenya"})),
    ("a year", text({"status": 1999})),
    ("a description beside an empty list", text({"synonyms": [], "definition": "An error of metabolism, inborn."})),
    ("a flagged error is no hidden one", {**text({"error": "x"}), "isError": True}),
    ("a question of the server", {**text({"error": "x"}), "resultType": "input_required"}),
    ("odd shapes", {"content": "x", "structuredContent": [1]}),
    ("odder shapes", {"content": [1, None, {"text": 3}]}),
)


@pytest.mark.parametrize("result", [row[1] for row in HIDDEN], ids=[row[0] for row in HIDDEN])
def test_hidden_failures_are_found(result: dict[str, Any]) -> None:
    found = soft_error(result)
    assert found
    assert len(found) <= 200


@pytest.mark.parametrize("result", [row[1] for row in DATA], ids=[row[0] for row in DATA])
def test_data_is_left_alone(result: dict[str, Any]) -> None:
    assert soft_error(result) is None


NAMES = st.text() | st.sampled_from(["error", "status", "result", "count"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_whatever_a_server_sends_is_survived(structured: Any, inside: Any) -> None:
    result = {"structuredContent": structured, "content": [inside, {"type": "text", "text": json.dumps(inside)}]}
    assert soft_error(result) is None or isinstance(soft_error(result), str)


@given(st.lists(st.booleans(), max_size=40))
def test_the_breaker_opens_after_three_failures_in_a_row(failures: list[bool]) -> None:
    breaker, row = Breaker(), 0
    for failed in failures:
        row = row + 1 if failed else 0
        if failed:
            assert breaker.failed() is (row == 3)
        else:
            breaker.answered()
