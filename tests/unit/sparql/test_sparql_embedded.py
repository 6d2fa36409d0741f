import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.sparql.embedded import EmbeddedEndpoint
from okn_benchmark.sparql.endpoint import open_endpoint
from okn_benchmark.sparql.result import EndpointFailure, QueryRejected, QueryTimeout

DATA = """
@prefix k: <http://k/> .
k:d <http://p> "outside" .
<http://g> { k:a.b.c <http://p> 1, 1.50, "x"@en . }
<http://h> { k:z <http://p> "z" . }
"""
HUGE = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(14)) + " }"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "toy.trig"
    path.write_text(DATA, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def endpoint(data: Path) -> Iterator[EmbeddedEndpoint]:
    with EmbeddedEndpoint([data], "toy", timeout_s=60) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT ?o { ?s <http://p> ?o }", 5),
        ("SELECT ?o FROM <http://g> { ?s <http://p> ?o }", 3),
        ("SELECT ?o FROM <http://nosuch> { ?s <http://p> ?o }", 0),
        ("SELECT ?o FROM NAMED <http://h> { GRAPH ?g { ?s <http://p> ?o } }", 1),
        ("SELECT ?o { GRAPH <http://h> { ?s <http://p> ?o } }", 1),
        ("PREFIX k: <http://k/> SELECT ?o { k:a.b.c <http://p> ?o }", 3),
    ],
)
def test_the_default_graph_is_the_union_unless_the_query_says_otherwise(
    endpoint: EmbeddedEndpoint, query: str, rows: int
) -> None:
    assert len(endpoint.select(query).table) == rows


def test_one_graph_alone(endpoint: EmbeddedEndpoint) -> None:
    def ask(query: str) -> bytes:
        return endpoint.ask(query, result_format="csv", scope="http://h")

    assert ask("SELECT ?o { ?s ?p ?o }") == b"o\r\nz\r\n"
    assert ask("SELECT ?o FROM <http://h> { ?s ?p ?o }") == b"o\r\nz\r\n"
    assert ask("SELECT ?o FROM <http://g> { ?s ?p ?o }") == b"o\r\n"
    assert ask("SELECT ?o { GRAPH <http://g> { ?s ?p ?o } }") == b"o\r\n"


def test_the_protocol_can_name_the_dataset(endpoint: EmbeddedEndpoint) -> None:
    body = endpoint.ask("SELECT ?o { ?s ?p ?o }", result_format="tsv", default_graphs=["http://h"])
    assert body == b'?o\n"z"\n'


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", "never uses the network"),
        ("SELECT * {\n\n SERVICE <http://x> {} }", "line 3"),
        ("SELEC ?x {}", "not valid SPARQL"),
        ("SELECT (<http://vendor/f>(1) AS ?x) {}", "vendor"),
        ("DELETE WHERE { ?s ?p ?o }", "not valid SPARQL"),
        ("#" * 1_000_001, "characters is refused"),
    ],
)
def test_queries_at_fault(endpoint: EmbeddedEndpoint, query: str, words: str) -> None:
    with pytest.raises(QueryRejected, match=words):
        endpoint.select(query)


def test_ask_is_no_table(endpoint: EmbeddedEndpoint) -> None:
    with pytest.raises(InputError, match="ASK"):
        endpoint.select("ASK {}")


def test_a_query_past_its_time_is_killed_and_the_next_one_works(data: Path) -> None:
    before = set(psutil.Process().children())
    with EmbeddedEndpoint([data], "toy", timeout_s=0.5) as endpoint:
        endpoint.graphs()
        (child,) = set(psutil.Process().children()) - before
        with pytest.raises(QueryTimeout, match=r"0\.5 s"):
            endpoint.select(HUGE)
        assert not child.is_running()
        assert len(endpoint.select("SELECT ?o { ?s ?p ?o }").table) == 5
    assert set(psutil.Process().children()) <= before


def test_too_much_memory_ends_the_query_and_not_the_program(data: Path) -> None:
    with EmbeddedEndpoint([data], "toy", timeout_s=60, memory=600 * 1024**2) as endpoint:
        with pytest.raises(EndpointFailure, match="memory"):
            endpoint.select(HUGE.replace("(COUNT(*) AS ?n)", "*") + " ORDER BY ?a1")
        assert len(endpoint.select("SELECT ?o { ?s ?p ?o }").table) == 5


def test_the_name_follows_the_bytes_and_not_the_place(data: Path, tmp_path: Path) -> None:
    moved = tmp_path / "toy.trig"
    moved.write_bytes(data.read_bytes())
    first, second = open_endpoint(str(data), timeout_s=1), open_endpoint(str(moved), timeout_s=1)
    assert first.name == second.name
    assert first.name.startswith("toy.trig@")
    moved.write_text(DATA + "<http://i> { k:q <http://p> 1 . }", encoding="utf-8")
    assert open_endpoint(str(moved), timeout_s=1).name != first.name


def test_a_folder_of_files(data: Path, tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(DATA, encoding="utf-8")
    (tmp_path / "b.nt").write_text("<http://b> <http://p> <http://c> .\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no RDF", encoding="utf-8")
    with open_endpoint(str(tmp_path), timeout_s=60) as endpoint:
        assert len(endpoint.select("SELECT ?o { ?s <http://p> ?o }").table) == 6


@pytest.mark.parametrize(("name", "text"), [("bad.ttl", "<a> <b>"), ("bad.txt", "x")])
def test_rdf_that_cannot_be_loaded(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with open_endpoint(str(tmp_path / name), timeout_s=60) as endpoint, pytest.raises(InputError, match="loaded"):
        endpoint.select("SELECT * {}")


@pytest.mark.parametrize("spec", ["nosuch.ttl", "ftp://example.org/x", "."])
def test_what_is_no_endpoint(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        open_endpoint(spec, timeout_s=1)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf")])
def test_a_time_limit_is_a_positive_number(timeout_s: float) -> None:
    with pytest.raises(InputError):
        open_endpoint("sample", timeout_s=timeout_s)


def test_the_engine_itself_has_no_network() -> None:
    """What the parent refuses is refused a second time: the child can open nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "okn_benchmark.sparql.embedded_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        request = {"query": f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", "has_dataset": False, "format": "json"}
        lines = [{"files": [], "memory": 4 * 1024**3}, {**request, "limit": 1000}]
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("".join(json.dumps(entry) + "\n" for entry in lines).encode())
        child.stdin.flush()
        replies = [json.loads(child.stdout.readline()) for _ in lines]
        child.stdin.close()
        child.stdout.close()
        assert child.wait(10) == 0
        assert replies[0]["ok"]
        assert not replies[1]["ok"]
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_text_nested_too_deeply_costs_the_engine_and_nothing_else(endpoint: EmbeddedEndpoint) -> None:
    with pytest.raises(EndpointFailure, match="nested too deeply"):
        endpoint.select("SELECT * " + "{" * 100_000 + "}" * 100_000)
    assert endpoint.complaint("SELECT * {}") is None
    assert "expected" in str(endpoint.complaint("SELEC"))
