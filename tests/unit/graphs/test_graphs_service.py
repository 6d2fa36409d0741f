import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.graphs.protocol import BadRequest, negotiate, read_request
from okn_benchmark.graphs.registry import GRAPHS, known_graphs
from okn_benchmark.graphs.service import Served, serve_graphs
from okn_benchmark.sparql.endpoint import open_endpoint

BASE = "https://purl.org/okn/frink/kg/"
DATA = f"""
<{BASE}first-kg> {{ <http://e/a> <http://e/p> "one" . }}
<{BASE}second-kg> {{ <http://e/b> <http://e/p> "two" . <http://e/c> <http://e/p> "three" . }}
"""
ALL = "SELECT ?o WHERE { ?s <http://e/p> ?o } ORDER BY ?o"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("rdf") / "toy.trig"
    path.write_text(DATA, encoding="utf-8")
    with serve_graphs([path], timeout_s=2) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=served.base_url, timeout=30) as made:
        yield made


def values(response: httpx2.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [row["o"]["value"] for row in response.json()["results"]["bindings"]]


def test_the_federation_has_all_graphs_and_a_shortname_has_one(client: httpx2.Client) -> None:
    assert values(client.get("/federation/sparql", params={"query": ALL})) == ["one", "three", "two"]
    assert values(client.get("/second-kg/sparql", params={"query": ALL})) == ["three", "two"]


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("/federation/sparql", ALL.replace("WHERE", f"FROM <{BASE}first-kg> WHERE"), ["one"]),
        ("/second-kg/sparql", ALL.replace("WHERE", f"FROM <{BASE}second-kg> WHERE"), ["three", "two"]),
        ("/second-kg/sparql", ALL.replace("WHERE", f"FROM <{BASE}first-kg> WHERE"), []),
        ("/federation/sparql", f"SELECT ?o {{ GRAPH <{BASE}first-kg> {{ ?s ?p ?o }} }}", ["one"]),
        ("/second-kg/sparql", f"SELECT ?o {{ GRAPH <{BASE}first-kg> {{ ?s ?p ?o }} }}", []),
    ],
)
def test_graph_clauses(client: httpx2.Client, path: str, query: str, expected: list[str]) -> None:
    assert values(client.get(path, params={"query": query})) == expected


def test_both_posts_and_a_dataset_from_the_protocol(client: httpx2.Client) -> None:
    path, raw = "/federation/sparql", {"content-type": "application/sparql-query; charset=utf-8"}
    assert values(client.post(path, data={"query": ALL})) == ["one", "three", "two"]
    assert values(client.post(path, content=ALL.encode(), headers=raw)) == ["one", "three", "two"]
    dataset = {"default-graph-uri": f"{BASE}first-kg"}
    assert values(client.post(path, params=dataset, content=ALL.encode(), headers=raw)) == ["one"]


@pytest.mark.parametrize(
    ("accept", "content_type", "start"),
    [
        ("*/*", "application/sparql-results+json", '{"head"'),
        ("text/csv", "text/csv; charset=utf-8", "o\r\none"),
        ("text/tab-separated-values", "text/tab-separated-values; charset=utf-8", '?o\n"one"'),
        ("application/sparql-results+xml", "application/sparql-results+xml", "<?xml"),
        ("text/html, application/json;q=0.9, text/csv;q=0.1", "application/json", '{"head"'),
    ],
)
def test_the_form_that_was_asked_for(client: httpx2.Client, accept: str, content_type: str, start: str) -> None:
    got = client.get("/federation/sparql", params={"query": ALL}, headers={"accept": accept})
    assert got.status_code == 200
    assert got.headers["content-type"] == content_type
    assert got.text.startswith(start)


def test_ask_and_construct(client: httpx2.Client) -> None:
    assert client.get("/first-kg/sparql", params={"query": "ASK { ?s ?p 'one' }"}).json()["boolean"] is True
    made = client.get("/first-kg/sparql", params={"query": "CONSTRUCT WHERE { ?s ?p ?o }"})
    assert made.headers["content-type"].startswith("text/turtle")
    assert "one" in made.text


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ({"params": {"query": "SELEC"}}, 400, "not valid SPARQL"),
        ({"params": {"query": "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }"}}, 400, "SERVICE"),
        ({}, 400, "none"),
        ({"params": {"query": [ALL, ALL]}}, 400, "has 2"),
        ({"params": {"query": ALL}, "headers": {"accept": "image/png"}}, 406, "image/png"),
        ({"params": {"update": "CLEAR ALL"}}, 403, "read-only"),
    ],
)
def test_what_a_get_is_refused(client: httpx2.Client, arguments: dict, status: int, words: str) -> None:
    got = client.get("/federation/sparql", **arguments)
    assert got.status_code == status
    assert words in got.text
    assert got.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("content_type", "content", "status"),
    [
        ("text/plain", ALL.encode(), 415),
        ("application/sparql-update", b"CLEAR ALL", 403),
        ("application/sparql-query", b"\xff", 400),
        ("application/sparql-query", b" " * 5_000_000, 413),
    ],
)
def test_what_a_post_is_refused(client: httpx2.Client, content_type: str, content: bytes, status: int) -> None:
    got = client.post("/federation/sparql", content=content, headers={"content-type": content_type})
    assert got.status_code == status


def test_unknown_graphs_and_methods(client: httpx2.Client) -> None:
    got = client.get("/nosuch/sparql", params={"query": ALL})
    assert got.status_code == 404
    assert "second-kg" in got.text
    assert client.put("/federation/sparql").status_code == 405
    assert "/second-kg/sparql" in client.get("/").text


def test_a_slow_query_is_stopped_with_a_message_and_others_go_on(client: httpx2.Client) -> None:
    slow = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(40)) + " }"
    got = client.get("/federation/sparql", params={"query": slow})
    assert got.status_code == 408
    assert "2 s" in got.text
    assert values(client.get("/federation/sparql", params={"query": ALL})) == ["one", "three", "two"]


def test_our_own_client_reads_it(served: Served) -> None:
    with open_endpoint(served.federation_url, timeout_s=30) as endpoint:
        assert [row[0].value for row in endpoint.select(ALL).table.rows if row[0]] == ["one", "three", "two"]


def test_a_taken_port_and_broken_files(served: Served, tmp_path: Path) -> None:
    port = int(served.base_url.rpartition(":")[2])
    with pytest.raises(OutsideFailure, match=str(port)), serve_graphs(port=port):
        pass
    (tmp_path / "bad.ttl").write_text("<a", encoding="utf-8")
    with pytest.raises(InputError, match="loaded"), serve_graphs([tmp_path / "bad.ttl"]):
        pass


@pytest.mark.parametrize("accept", ["", "*/*", "application/*", "application/json;q=0.5", "APPLICATION/JSON"])
def test_json_is_served_to_whoever_takes_it(accept: str) -> None:
    assert negotiate(accept, "SELECT")[1] == "json"


@pytest.mark.parametrize("accept", ["application/json;q=0", "text/html", "application/json;q=x", "text/turtle"])
def test_nothing_acceptable(accept: str) -> None:
    with pytest.raises(BadRequest) as caught:
        negotiate(accept, "SELECT")
    assert caught.value.status == 406


def test_a_form_and_the_url_are_read_together() -> None:
    body = b"query=ASK+%7B%7D&named-graph-uri=http%3A%2F%2Fb"
    asked = read_request("POST", "application/x-www-form-urlencoded", "named-graph-uri=http://a", body)
    assert (asked.query, asked.named_graphs) == ("ASK {}", ("http://a", "http://b"))


def test_every_graph_has_a_title_and_every_sample_is_a_known_graph() -> None:
    assert len(known_graphs()) == 43
    assert all(graph.title and not graph.title.endswith(".") for graph in known_graphs())
    names = {graph.shortname for graph in known_graphs()}
    assert {graph.shortname for graph in GRAPHS} <= names


@pytest.mark.skipif(not GRAPHS, reason="no sample graphs are bundled yet")
def test_each_bundled_file_holds_its_own_graph() -> None:
    query = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"
    with open_endpoint("sample", timeout_s=60) as endpoint:
        document = endpoint.select(query).document
    found = [row["g"]["value"] for row in document["results"]["bindings"]]
    assert found == sorted(graph.iri for graph in GRAPHS)
    assert json.dumps(document)
