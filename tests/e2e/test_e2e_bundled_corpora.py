"""What ships is held against its own check, and every key against a second engine."""

from collections.abc import Iterator
from functools import cache

import pytest
import rdflib
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.plugins.sparql.evaluate import evalBGP
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext
from rdflib.term import Node

from okn_benchmark.corpus.record import QueryTrap, Record
from okn_benchmark.corpus.source import bundled_names, open_corpus
from okn_benchmark.jobs.check import check
from okn_benchmark.jobs.choose import Choice
from okn_benchmark.scoring.verdict import judge
from okn_benchmark.sparql.embedded import EmbeddedEndpoint, sample_files
from okn_benchmark.sparql.endpoint import SAMPLE, open_endpoint
from okn_benchmark.sparql.results import csv_text
from okn_benchmark.table import Table, Term, table

RECORDS = [record for name in bundled_names() for record in open_corpus(name).records]


@pytest.fixture(scope="module")
def sample() -> Iterator[EmbeddedEndpoint]:
    with open_endpoint(SAMPLE, timeout_s=60) as endpoint:
        assert isinstance(endpoint, EmbeddedEndpoint)
        yield endpoint


def connected(ctx: QueryContext, part: CompValue) -> Iterator[FrozenBindings]:
    """Patterns along shared variables; left alone, rdflib multiplies all patterns that name a type."""
    if part.name != "BGP":
        raise NotImplementedError
    left, order, known = list(part.triples), [], set()

    def cost(triple: tuple[Node, ...]) -> tuple[bool, int]:
        free = [n for n in triple if isinstance(n, rdflib.Variable | rdflib.BNode) and ctx[n] is None]
        return bool(known) and not known & set(free), len(set(free) - known)

    while left:
        left.sort(key=cost)
        order.append(left.pop(0))
        known |= {node for node in order[-1] if isinstance(node, rdflib.Variable | rdflib.BNode)}
    return evalBGP(ctx, order)


@pytest.fixture(autouse=True, scope="module")
def planned() -> Iterator[None]:
    CUSTOM_EVALS["connected"] = connected
    yield
    del CUSTOM_EVALS["connected"]


@cache
def second_engine() -> rdflib.Dataset:
    data = rdflib.Dataset(default_union=True)
    for path in sample_files():
        data.parse(data=path.read_text(encoding="utf-8"), format="trig")
    return data


def ask_second(query: str) -> Table:
    found = second_engine().query(query)
    names = [str(name) for name in found.vars or ()]
    return table(names, [[term(cell) for cell in row] for row in found])


def term(cell: object) -> Term | None:
    match cell:
        case None:
            return None
        case rdflib.URIRef():
            return Term("uri", str(cell))
        case rdflib.Literal():
            return Term("literal", str(cell), str(cell.datatype or ""), cell.language or "")
    raise AssertionError(f"a blank node in a key: {cell!r}")


@pytest.mark.parametrize("name", bundled_names())
def test_a_bundled_corpus_is_clean(name: str) -> None:
    report = check(Choice(corpus=name), SAMPLE, 60)
    assert not report.findings, "\n".join(f"{f.file}: {f.code}: {f.message}" for f in report.findings)
    assert report.exit_code() == 0


@pytest.mark.filterwarnings("ignore:.*Dataset:DeprecationWarning")  # rdflib about itself
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_two_engines_give_the_same_table(record: Record, sample: EmbeddedEndpoint) -> None:
    key = sample.select(record.query).table
    verdict = judge(key, csv_text(ask_second(record.query)).encode())
    assert verdict.exact, verdict.to_json()
    assert verdict.ordered


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_every_record_expects_a_wrong_answer(record: Record) -> None:
    assert record.traps
    assert all(trap.query for trap in record.traps.values() if isinstance(trap, QueryTrap))
