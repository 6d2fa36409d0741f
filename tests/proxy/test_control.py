"""The control condition: neutral texts, one tool, the endpoint's own words."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from okn_benchmark.graphs.shortnames import SHORTNAMES, graph_iri
from okn_benchmark.proxy import sparql_only
from tests.proxy.promises import promise
from tests.proxy.talk import HELLO, MODERN_META, Proxied

ROWS = {
    "head": {"vars": ["s", "n"]},
    "results": {
        "bindings": [
            {"s": {"type": "uri", "value": "http://e/1"}, "n": {"type": "literal", "value": 'a, "b"'}},
            {"s": {"type": "uri", "value": "http://e/2"}},
        ]
    },
}
REPLIES: dict[str, tuple[int, str, bytes]] = {
    "SELECT": (200, "application/sparql-results+json", json.dumps(ROWS).encode()),
    "ASK": (200, "application/sparql-results+json; charset=utf-8", b'{"head": {}, "boolean": true}'),
    "CONSTRUCT": (200, "text/turtle", b"<http://e/1> <http://e/p> 1 ."),
    "WRONG": (400, "text/plain", b"expected SELECT at 1:1"),
    "BROKEN": (
        200,
        "application/sparql-results+json",
        b'{"head":{"vars":["s"]},"results":{"bindings":[operation timed out',
    ),
}


@contextmanager
def endpoint() -> Iterator[tuple[str, list[str]]]:
    """An endpoint that answers by the first word of the query, and the queries it was sent."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            asked.append(form["query"][0])
            status, kind, body = REPLIES[asked[-1].split()[0]]
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/sparql", asked
    server.shutdown()
    server.server_close()
    thread.join(5)


@promise("control-is-neutral")
def test_the_texts_are_short_complete_and_unchanging() -> None:
    texts = [sparql_only.PREAMBLE, sparql_only.SPARQL_TOOL["description"], json.dumps(sparql_only.SPARQL_TOOL)]
    assert all(len(text) < 2000 for text in texts)
    assert set(SHORTNAMES) <= set(re.findall(r"[a-z0-9-]+", sparql_only.PREAMBLE))
    assert len(SHORTNAMES) == len(set(SHORTNAMES)) == 43
    assert graph_iri("ubergraph") in sparql_only.PREAMBLE
    assert re.fullmatch(r"[0-9a-f]{64}", sparql_only.preamble_digest())
    assert sparql_only.preamble_digest() == sparql_only.preamble_digest()


@promise("control-is-neutral", "both-eras")
def test_the_control_speaks_both_eras(tmp_path: Path) -> None:
    proxied = Proxied(None, tmp_path, endpoint="http://127.0.0.1:9/none")
    assert (
        proxied.rpc("initialize", {**HELLO, "protocolVersion": "2031-01-01"})["result"]["protocolVersion"]
        == "2025-11-25"
    )
    opened = proxied.hello()["result"]
    assert opened["protocolVersion"] == "2025-11-25"
    assert opened["instructions"] == sparql_only.PREAMBLE
    assert proxied.tool_names() == ["run_sparql", "submit_csv"]
    discovered = proxied.rpc("server/discover", {"_meta": MODERN_META})["result"]
    assert discovered["resultType"] == "complete"
    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert discovered["instructions"] == sparql_only.PREAMBLE
    assert "ttlMs" in proxied.pages(MODERN_META)[0]
    newer = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    assert proxied.rpc("server/discover", {"_meta": newer})["error"]["code"] == -32022
    assert proxied.rpc("ping")["result"] == {}
    assert proxied.rpc("resources/list")["error"]["code"] == -32601
    assert proxied.call("nosuch")["error"]["code"] == -32602
    assert proxied.close() == 0
    metrics = proxied.record()["metrics"]
    assert metrics["instructions_chars"] == len(sparql_only.PREAMBLE)


@promise("control-queries", "queries-counted")
def test_each_form_of_query(tmp_path: Path) -> None:
    with endpoint() as (url, asked):
        proxied = Proxied(None, tmp_path, endpoint=url)
        proxied.hello()
        said = {}
        for word in REPLIES:
            result = proxied.call("run_sparql", {"query": f"{word} {{ ?ü ?p ?o }}"})["result"]
            said[word] = (result["isError"], result["content"][0]["text"])
        assert proxied.call("run_sparql", {})["result"]["isError"]
        proxied.close()
    assert asked == [f"{word} {{ ?ü ?p ?o }}" for word in REPLIES]
    assert said["SELECT"] == (False, 's,n\nhttp://e/1,"a, ""b"""\nhttp://e/2,\n')
    assert said["ASK"] == (False, "true")
    assert said["CONSTRUCT"] == (False, "<http://e/1> <http://e/p> 1 .")
    assert said["WRONG"] == (True, "The endpoint answered with HTTP status 400: expected SELECT at 1:1")
    assert said["BROKEN"][0] is True
    assert "operation timed out" in said["BROKEN"][1]


@promise("control-queries", "timeout-bounds-a-call", "submit-always-answers")
def test_an_endpoint_that_is_not_there(tmp_path: Path) -> None:
    proxied = Proxied(None, tmp_path, endpoint="http://127.0.0.1:9/none")
    proxied.hello()
    result = proxied.call("run_sparql", {"query": "SELECT * {}"})["result"]
    assert result["isError"]
    assert "gave no answer" in result["content"][0]["text"]
    assert proxied.submit_ms() < 100
    proxied.close()


@promise("result-limit")
@pytest.mark.parametrize("limit", [None, 1000])
def test_the_mark_reaches_the_control_too(limit: int | None, tmp_path: Path) -> None:
    proxied = Proxied(None, tmp_path, endpoint="http://127.0.0.1:9/none", result_limit=limit)
    proxied.hello()
    marks = [tool.get("_meta", {}).get("anthropic/maxResultSizeChars") for tool in proxied.pages()[0]["tools"]]
    assert marks == [limit, limit]
    proxied.close()
