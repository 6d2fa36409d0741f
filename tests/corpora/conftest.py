"""The 36 records, and two engines over the same sample graphs."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import rdflib

from okn_benchmark.corpus.record import Record, parse_record
from okn_benchmark.graphs.registry import GRAPHS
from okn_benchmark.sparql.endpoint import Endpoint, open_endpoint

CHECKOUT = Path(__file__).resolve().parents[2]


def shipped() -> list[Record]:
    """Every record of every corpus folder."""
    paths = sorted(CHECKOUT.glob("benchmarks-*/*.rq"))
    return [parse_record(path.read_text(encoding="utf-8"), path.name) for path in paths]


RECORDS = shipped()
each_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)


@pytest.fixture(scope="session")
def sample() -> Iterator[Endpoint]:
    """The embedded engine over the bundled graphs."""
    with open_endpoint("sample", timeout_s=60) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def second_engine() -> rdflib.Dataset:
    """The same files in rdflib."""
    dataset = rdflib.Dataset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # rdflib's reader uses a name it has deprecated itself
        for graph in GRAPHS:
            dataset.parse(data=graph.path.read_text(encoding="utf-8"), format="trig")
    return dataset
