"""Which graphs there are: the 43 of the federation by name, and those of which a sample is bundled."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from okn_benchmark.graphs.shortnames import SHORTNAMES, graph_iri
from okn_benchmark.sparql.embedded import sample_files
from okn_benchmark.sparql.endpoint import FEDERATION_URL

__all__ = ["FEDERATION_URL", "GRAPHS", "KnownGraph", "SampleGraph", "known_graphs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownGraph:
    """A graph of the federation."""

    shortname: str
    iri: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleGraph:
    """A bundled sample: one TriG file with one named graph."""

    shortname: str
    iri: str
    title: str
    path: Path


@cache
def known_graphs() -> tuple[KnownGraph, ...]:
    """The graphs of the federation, by shortname."""
    with (Path(__file__).parent / "titles.csv").open(encoding="utf-8", newline="") as stream:
        titles = {row["shortname"]: row["title"] for row in csv.DictReader(stream)}
    return tuple(KnownGraph(shortname=name, iri=graph_iri(name), title=titles[name]) for name in SHORTNAMES)


def _samples() -> tuple[SampleGraph, ...]:
    titles = {graph.shortname: graph.title for graph in known_graphs()}
    return tuple(
        SampleGraph(shortname=path.stem, iri=graph_iri(path.stem), title=titles.get(path.stem, path.stem), path=path)
        for path in sample_files()
    )


GRAPHS: tuple[SampleGraph, ...] = _samples()
"""The bundled sample graphs, by listing, sorted by shortname."""
