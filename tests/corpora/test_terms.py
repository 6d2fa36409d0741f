"""Each class and predicate of a key stands in the published schema of the graph it is asked of, or says why not.

``graphs/sources/<shortname>/schema.csv`` copies the published entity table of a graph; a term that is not in that
table is added with a note that begins ``not listed:`` and gives the evidence.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import RDF, URIRef
from rdflib.paths import Path as PropertyPath
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue

from okn_benchmark.corpus.record import Record
from okn_benchmark.graphs.registry import GRAPHS
from tests.corpora.conftest import CHECKOUT, RECORDS, each_record

SOURCES = CHECKOUT / "src" / "okn_benchmark" / "graphs" / "sources"
BASE = "https://purl.org/okn/frink/kg/"
NOWHERE = "(no graph)"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")


def schema(shortname: str) -> dict[str, dict[str, str]]:
    with (SOURCES / shortname / "schema.csv").open(encoding="utf-8", newline="") as stream:
        return {row["URI"]: row for row in csv.DictReader(stream)}


def plain(predicate: Any) -> Iterator[URIRef]:
    """The predicates inside a property path."""
    if isinstance(predicate, URIRef):
        yield predicate
    elif isinstance(predicate, PropertyPath):
        for part in vars(predicate).values():
            for item in part if isinstance(part, (list, tuple)) else [part]:
                yield from plain(item)


def terms(triple: tuple[Any, Any, Any]) -> Iterator[URIRef]:
    _, predicate, object_ = triple
    yield from plain(predicate)
    if predicate in (RDF.type, RDF.predicate) and isinstance(object_, URIRef):
        yield object_


def triples(block: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Triples as rdflib keeps them: tuples in a pattern, flat lists where it has not translated it yet."""
    for item in block:
        if isinstance(item, tuple) and len(item) == 3:
            yield item
        else:
            flat = list(item)
            yield from zip(flat[::3], flat[1::3], flat[2::3], strict=True)


def used(record: Record) -> dict[str, set[str]]:
    """Graph shortname to the terms the key asks of it."""
    found: dict[str, set[str]] = defaultdict(set)

    def walk(node: Any, graph: str) -> None:
        if isinstance(node, CompValue):
            # Plain dict access: a CompValue's own `get` evaluates against a context.
            term = dict.get(node, "term")
            if node.name in ("Graph", "GraphGraphPattern") and isinstance(term, URIRef):
                graph = str(term).removeprefix(BASE)
            for triple in triples(dict.get(node, "triples") or ()):
                found[graph].update(str(each) for each in terms(triple))
            for child in dict.values(node):
                walk(child, graph)
        elif isinstance(node, (list, tuple)):
            for child in node:
                walk(child, graph)

    walk(prepareQuery(record.query).algebra, NOWHERE)
    return found


@each_record
def test_the_terms_of_a_key_are_in_the_schema_of_their_graph(record: Record) -> None:
    missing = {
        graph: sorted(strange)
        for graph, asked in used(record).items()
        # rdf:type itself needs no listing: the classes are what a schema lists.
        if (strange := asked - set(schema(graph)) - {str(RDF.type)})
    }
    assert missing == {}


@each_record
def test_a_key_asks_named_graphs_only_and_tags_exactly_those(record: Record) -> None:
    assert set(used(record)) == set(record.tags)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.shortname)
def test_a_schema_says_why_an_unlisted_term_is_right(graph: Any) -> None:
    for uri, row in schema(graph.shortname).items():
        note = row["note"]
        assert not note or (note.startswith("not listed: ") and len(note) > 30), uri


def test_the_walk_sees_paths_types_and_reified_predicates() -> None:
    query = (
        "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT ?s { GRAPH <https://purl.org/okn/frink/kg/x> "
        "{ ?s <urn:a>/<urn:b>* ?o ; a <urn:C> ; rdf:predicate <urn:d> . FILTER NOT EXISTS { ?s <urn:e> ?o } } }"
    )
    record = Record(id="x_y", tier="y", summary="", query=query, path_name=str(Path("x_y.rq")))
    assert {"urn:a", "urn:b", "urn:C", "urn:d", "urn:e"} <= used(record)["x"]


def test_the_records_reach_fourteen_graphs() -> None:
    assert len({tag for record in RECORDS for tag in record.tags}) >= 14


def test_the_joins_are_ten_different_sets_of_graphs() -> None:
    joins = {frozenset(record.tags) for record in RECORDS if record.tier == "cross"}
    assert len(joins) >= 10
