"""The small pure parts: query recognition, event streams, headers, schemas, sizes."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.proxy.http_headers import Headers, header_value
from okn_benchmark.proxy.measure import facts_of, measure
from okn_benchmark.proxy.schema_check import mismatch
from okn_benchmark.proxy.sparqlish import holds_query, is_sparql
from okn_benchmark.proxy.sse import EventStream, ServerEvent, TooLarge
from okn_benchmark.proxy.words import last_words

QUERIES = (
    "SELECT * WHERE { ?s ?p ?o }",
    "select distinct ?s { ?s ?p ?o } limit 3",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "# why\n\nPREFIX a: <http://a/>\nPREFIX : <http://b/>\nBASE <http://c/>\nASK { ?s ?p ?o }",
    "ASK WHERE { }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "CONSTRUCT WHERE { ?s ?p ?o }",
    "DESCRIBE <http://a/b>",
    "PREFIX a: <http://a/> DESCRIBE a:b",
    "```sparql\nSELECT ?s { ?s ?p ?o }\n```",
    "SELECT ?s FROM <http://g> WHERE { }",
    "SELECT*{?s ?p ?o}",
)
PROSE = (
    "",
    "select the best gene",
    "Select all that apply { a, b }",
    "Ask for help",
    "describe the graph ubergraph",
    "Construct validity",
    "http://a/select?x={y}",
    "what does SELECT * WHERE { ?s ?p ?o } return?",
    "PREFIX a: <http://a/>",
)


@pytest.mark.parametrize("text", QUERIES)
def test_queries(text: str) -> None:
    assert is_sparql(text)
    assert holds_query({"a": [1, {"b": text}]})


@pytest.mark.parametrize("text", PROSE)
def test_prose(text: str) -> None:
    assert not is_sparql(text)
    assert not holds_query([text, None, 3])


@given(st.text(), st.integers(0, 12))
def test_anything_can_be_asked_about(text: str, depth: int) -> None:
    value: Any = text
    for _ in range(depth):
        value = [value]
    assert holds_query(value) in {True, False}


STREAM = (
    b": hello\r\n\r\n"
    b"id: 1\nretry: 250\ndata:\n\n"
    b'event: message\r\ndata: {"a":1}\r\n\r\n'
    b"data: one\ndata: two\nid: x\x00y\n\n"
    b"event: other\ndata:three\n\n"
    b"data: never finished"
)
EVENTS = [
    ServerEvent(data=b"", id="1", retry_ms=250),
    ServerEvent(data=b'{"a":1}'),
    ServerEvent(data=b"one\ntwo"),
    ServerEvent(data=b"three", event="other"),
]


@given(st.lists(st.integers(1, 40), min_size=1))
def test_however_a_stream_is_cut_its_events_are_the_same(steps: list[int]) -> None:
    stream, got, at = EventStream(1000), [], 0
    while at < len(STREAM):
        step = steps[at % len(steps)]
        got += list(stream.feed(STREAM[at : at + step]))
        at += step
    assert got == EVENTS


@pytest.mark.parametrize(
    "chunk", [b"data: " + b"x" * 200, b"data: " + b"x" * 200 + b"\n\n", b"data: xxxxxxxxxx\n" * 20]
)
def test_an_event_over_the_bound_is_noticed_while_it_is_read(chunk: bytes) -> None:
    with pytest.raises(TooLarge):
        list(EventStream(100).feed(chunk))


def call(arguments: Any, name: str = "t") -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    return {"id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": meta}}


def test_headers_of_the_handshake_era() -> None:
    headers = Headers()
    headers.session, headers.version = "s", "2025-11-25"
    opening = headers.of({"id": 1, "method": "initialize"})
    assert set(opening) == {"accept", "content-type"}
    later = headers.of({"id": 2, "method": "tools/call", "params": {"name": "t"}})
    assert later["mcp-session-id"] == "s"
    assert later["mcp-protocol-version"] == "2025-11-25"
    assert "mcp-method" not in later
    assert headers.of_stream("e9")["last-event-id"] == "e9"


def test_headers_of_the_envelope_era() -> None:
    headers = Headers()
    inner = {"type": "object", "properties": {"deep": {"type": "boolean", "x-mcp-header": "Deep"}}}
    marks = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "ratio": {"type": "number", "x-mcp-header": "Ratio"},
        "bad": {"type": "string", "x-mcp-header": "no blanks"},
        "inner": inner,
        "list": {"type": "array", "items": {"type": "string", "x-mcp-header": "Item"}},
    }
    headers.learn([{"name": "t", "inputSchema": {"type": "object", "properties": marks}}, "odd", {"name": "u"}])
    made = headers.of(
        call({"region": "ü", "count": 3, "ratio": 0.5, "inner": {"deep": True}, "bad": "x", "list": ["y"]})
    )
    assert made["mcp-method"] == "tools/call"
    assert made["mcp-name"] == "t"
    assert made["mcp-protocol-version"] == "2026-07-28"
    assert {k: v for k, v in made.items() if k.startswith("mcp-param")} == {
        "mcp-param-Region": "=?base64?w7w=?=",
        "mcp-param-Count": "3",
        "mcp-param-Deep": "true",
    }
    assert not [k for k in headers.of(call({"region": None, "inner": 3})) if k.startswith("mcp-param")]
    assert not [k for k in headers.of(call("odd")) if k.startswith("mcp-param")]
    assert headers.of(call({}, name=" edge"))["mcp-name"].startswith("=?base64?")


@given(st.text())
def test_a_header_value_is_safe(text: str) -> None:
    value = header_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()


SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {
        "n": {"type": "integer"},
        "l": {"type": "array", "items": {"type": ["string", "null"]}},
        "e": {"enum": [1, 2]},
    },
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"n": 1, "l": ["a", None], "e": 2, "more": {}}, None),
        ({"n": 1.0}, None),
        ([], "$: list where the schema says object"),
        ({}, "$: n is missing"),
        ({"n": "1"}, "$.n: str where the schema says integer"),
        ({"n": True}, "$.n: bool where the schema says integer"),
        ({"n": 1.5}, "$.n: float where the schema says integer"),
        ({"n": 1, "l": ["a", 3]}, "$.l[1]: int where the schema says ['string', 'null']"),
        ({"n": 1, "e": 3}, "$.e: not one of the values the schema lists"),
    ],
)
def test_mismatches(value: Any, said: str | None) -> None:
    assert mismatch(SCHEMA, value) == said


@pytest.mark.parametrize(
    "schema", [None, True, {}, {"type": "unheard"}, {"type": 3}, {"properties": 3, "required": "x"}]
)
def test_schemas_we_cannot_read_fit_everything(schema: Any) -> None:
    assert mismatch(schema, {"a": 1}) is None


def test_a_result_is_measured_without_its_form() -> None:
    image = {"type": "image", "data": "aGk="}
    result = {"content": [{"type": "text", "text": "aü"}, image], "structuredContent": {"b": 1, "a": 2}}
    chars, digest = measure(result)
    assert chars == 2 + len('{"data":"aGk=","type":"image"}')
    expected = 'aü\0{"data":"aGk=","type":"image"}\0{"a":2,"b":1}'.encode()
    assert digest == hashlib.sha256(expected).hexdigest()
    assert measure({"content": "odd"})[0] == 0
    assert measure({"content": [None, {"type": "text", "text": "\ud800"}]})[0] > 0


def test_what_the_log_keeps_of_a_result() -> None:
    failed = facts_of({"isError": True, "content": [{"type": "text", "text": "no" * 900}]})
    assert failed["ok"] is False
    assert len(failed["error"]) == 500
    assert facts_of({"isError": True})["error"] == "an error without a text"
    assert facts_of({"resultType": "input_required", "content": []})["result_type"] == "input_required"
    assert "$" in facts_of({"structuredContent": {}, "content": []}, SCHEMA)["schema_mismatch"]


TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "server.py", line 3, in <module>',
    '    os.environ["ADDRESS"]',
    "    ~~~~~~~~~~^^^^^^^^^^^",
    "KeyError: 'ADDRESS'",
]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([], ""),
        (["", "  ready  "], "ready"),
        (["one", "two\tand  three"], "one | two and three"),
        (["x" * 200, "y" * 200, "z" * 100], "y" * 200 + " | " + "z" * 100),
        (["before", "Error: " + "x" * 400], "Error: " + "x" * 312 + "…"),
        (["starting", *TRACEBACK], "KeyError: 'ADDRESS'"),
        ([*TRACEBACK, "During handling:", *TRACEBACK[:-1], "RuntimeError: no address"], "RuntimeError: no address"),
        (TRACEBACK[:1], TRACEBACK[0]),
    ],
)
def test_last_words_are_whole_lines(lines: list[str], shown: str) -> None:
    assert last_words(lines) == shown
