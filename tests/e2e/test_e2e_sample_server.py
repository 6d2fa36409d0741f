"""The sample server through the SDK's own client: in memory, over stdio and over HTTP."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from okn_benchmark.graphs.service import serve_graphs
from okn_benchmark.profile import StdioUpstream, load_profile
from okn_benchmark.sample_server.server import build_server, open_graphs
from okn_benchmark.sample_server.serving import serve_http
from okn_benchmark.sparql.endpoint import open_endpoint

pytestmark = pytest.mark.anyio

BASE = "https://purl.org/okn/frink/kg/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OBO = "http://purl.obolibrary.org/obo/"
DATA = f"""
<{BASE}rdkg> {{
  <http://e/aspirin> a <http://e/Drug> ; <{RDFS}label> "Aspirin" .
  <http://e/aspirin> <http://e/treats> <{OBO}MONDO_1> ; <http://e/dose> 5 .
  <http://e/baby-aspirin> a <http://e/Drug> ; <{RDFS}label> "Low dose aspirin" .
}}
<{BASE}ubergraph> {{
  <{OBO}MONDO_2> <{RDFS}subClassOf> <{OBO}MONDO_1> , <{OBO}MONDO_2> ; <{RDFS}label> "kind of headache" .
  <{OBO}MONDO_3> <{RDFS}subClassOf> <{OBO}MONDO_2> .
  <{OBO}MONDO_1> <{RDFS}label> "headache" .
}}
"""
TOOLS = {
    "list_graphs",
    "describe_graph",
    "get_schema",
    "run_query",
    "lookup_label",
    "get_descendants",
    "route_question",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "toy.trig"
    path.write_text(DATA, encoding="utf-8")
    return path


@asynccontextmanager
async def toy(data: Path, log: Path | None = None) -> AsyncIterator[Client]:
    with open_endpoint(str(data), timeout_s=30) as endpoint:
        async with Client(build_server(endpoint, log), read_timeout_seconds=30) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    reply = await client.call_tool(tool, arguments)
    assert not reply.is_error, reply.content
    (block,) = reply.content
    assert reply.structured_content is None
    return json.loads(block.text)


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    reply = await client.call_tool(tool, arguments)
    assert reply.is_error
    return str(reply.content[0].text)


async def test_what_it_says_of_itself_is_short_enough_to_arrive_whole(data: Path) -> None:
    async with toy(data) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert all(20 < len(tool.description or "") < 2000 for tool in tools)
        assert 200 < len(client.instructions or "") < 2000
        for tool in TOOLS - {"run_query"}:
            assert tool in (client.instructions or "") or tool == "describe_graph"


async def test_finding_a_graph_and_its_terms(data: Path) -> None:
    async with toy(data) as client:
        listed = await call(client, "list_graphs")
        assert [(entry["shortname"], entry["triples"]) for entry in listed] == [("rdkg", 6), ("ubergraph", 5)]
        described = await call(client, "describe_graph", shortname="rdkg")
        assert described["classes"] == [{"iri": "http://e/Drug", "things": 2}]
        assert described["namespaces"] == ["http://e/"]
        schema = await call(client, "get_schema", shortname="rdkg")
        by_name = {entry["predicate"]: entry for entry in schema["predicates"]}
        assert by_name["http://e/dose"]["values"] == ["http://www.w3.org/2001/XMLSchema#integer"]
        assert by_name["http://e/dose"]["from"] == ["http://e/Drug"]
        assert by_name["http://e/treats"]["values"] == ["IRI"]
        of_class = await call(client, "get_schema", shortname="rdkg", class_iri="http://e/Drug")
        assert {entry["predicate"] for entry in of_class["predicates"]} == set(by_name)


async def test_labels_descendants_and_routing(data: Path) -> None:
    async with toy(data) as client:
        found = await call(client, "lookup_label", text="ASPIRIN")
        assert [(entry["iri"], entry["graph"]) for entry in found] == [
            ("http://e/aspirin", "rdkg"),
            ("http://e/baby-aspirin", "rdkg"),
        ]
        assert await call(client, "lookup_label", text='"} # \\', shortname="rdkg") == []
        below = await call(client, "get_descendants", term="MONDO:1")
        assert [entry["iri"] for entry in below["descendants"]] == [f"{OBO}MONDO_2", f"{OBO}MONDO_3"]
        assert below["descendants"][0]["label"] == "kind of headache"
        assert below["descendants"][1]["label"] is None
        routed = await call(client, "route_question", question="Which drugs treat a headache?")
        assert [entry["shortname"] for entry in routed] == ["rdkg", "ubergraph"]
        assert "drug" in routed[0]["because_of"]
        assert await call(client, "route_question", question="?") == []


async def test_a_query_comes_back_as_standard_json(data: Path) -> None:
    async with toy(data) as client:
        got = await call(client, "run_query", query=f"SELECT ?d {{ GRAPH <{BASE}rdkg> {{ ?s <http://e/dose> ?d }} }}")
    five = {"type": "literal", "value": "5", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    assert got == {"head": {"vars": ["d"]}, "results": {"bindings": [{"d": five}]}}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("run_query", {"query": "SELEC"}, "not valid SPARQL"),
        ("run_query", {"query": "SELECT * { SERVICE <http://x> {} }"}, "SERVICE"),
        ("run_query", {"query": "ASK {}"}, "ASK"),
        ("describe_graph", {"shortname": "nosuch"}, "rdkg, ubergraph"),
        ("get_schema", {"shortname": "x> { ?s ?p ?o } } #"}, "no graph"),
        ("get_schema", {"shortname": "rdkg", "class_iri": "http://e/Nosuch"}, "http://e/Drug"),
        ("get_descendants", {"term": "a> ?x . <b"}, "no IRI"),
        ("lookup_label", {"text": "  "}, "no text"),
    ],
)
async def test_faults_are_explained(data: Path, tool: str, arguments: dict[str, str], words: str) -> None:
    async with toy(data) as client:
        assert words in await complaint(client, tool, **arguments)


async def test_the_log_has_a_line_per_call(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    async with toy(data, log) as client:
        await call(client, "lookup_label", text="aspirin")
        await complaint(client, "run_query", query="SELEC")
    lines = [json.loads(text) for text in log.read_text(encoding="utf-8").splitlines()]
    assert [(entry["tool"], entry["arguments"].get("query")) for entry in lines] == [
        ("lookup_label", None),
        ("run_query", "SELEC"),
    ]


async def test_over_http_in_front_of_a_graph_service(data: Path) -> None:
    with serve_graphs([data]) as graphs, serve_http(graphs_url=graphs.base_url) as url:
        async with Client(url, read_timeout_seconds=30) as client:
            assert [entry["shortname"] for entry in await call(client, "list_graphs")] == ["rdkg", "ubergraph"]


async def test_over_stdio_as_the_profile_starts_it(checkout: Path) -> None:
    upstream = load_profile(checkout / "profiles" / "sample.local.toml").upstream
    assert isinstance(upstream, StdioUpstream)
    assert upstream.command == "okn-benchmark"
    command = Path(sys.executable).with_name(upstream.command)
    async with Client(
        StdioServerParameters(command=str(command), args=list(upstream.args)), read_timeout_seconds=60
    ) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        listed = await call(client, "list_graphs")
        assert all(entry["triples"] > 0 for entry in listed)


def test_the_bundled_graphs_are_what_it_serves_by_default() -> None:
    with open_graphs(None) as endpoint:
        assert endpoint.name.startswith("sample@")


def test_an_interrupt_ends_it_while_it_waits_for_a_line() -> None:
    command = [sys.executable, "-P", "-m", "okn_benchmark", "sample-server"]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(asked)
        server.stdin.flush()
        assert "okn-sample" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 130
