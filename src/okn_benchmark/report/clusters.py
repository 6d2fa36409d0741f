"""Questions that share a graph are not independent: results by graph, and comparisons over groups that share none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from okn_benchmark.report.tally import QuestionRow
from okn_benchmark.stats.paired import Test, sign_flip

ENOUGH: Final = 8
"""Groups needed before a test over them says anything."""

Graphs = Mapping[str, tuple[str, ...]]
"""Record → the graphs its key reads; a record that is not in it has none that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCell:
    """A condition's exact attempts on the questions of one graph."""

    hits: int
    attempts: int
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLine:
    """One graph across conditions, in their order; None where nothing was measured."""

    graph: str
    questions: int
    cells: tuple[GraphCell | None, ...]


def by_graph(rows: Sequence[Mapping[str, QuestionRow]], graphs: Graphs) -> tuple[GraphLine, ...]:
    """A line per graph. A question that reads two graphs stands in both lines."""
    names = sorted({graph for found in graphs.values() for graph in found})
    return tuple(_line(name, rows, [r for r, found in graphs.items() if name in found]) for name in names)


def _line(graph: str, rows: Sequence[Mapping[str, QuestionRow]], records: Sequence[str]) -> GraphLine:
    return GraphLine(graph=graph, questions=len(records), cells=tuple(_cell(by_record, records) for by_record in rows))


def _cell(by_record: Mapping[str, QuestionRow], records: Sequence[str]) -> GraphCell | None:
    found = [by_record[record] for record in records if record in by_record]
    exact = [row.exact for row in found if row.exact and not row.apart]
    if not exact:
        return None
    return GraphCell(hits=sum(map(sum, exact)), attempts=sum(map(len, exact)), questions=len(exact))


def groups(graphs: Graphs) -> list[list[str]]:
    """Records in groups such that no two groups share a graph; those of unknown graphs are left out."""
    home: dict[str, str] = {}

    def top(graph: str) -> str:
        while home.setdefault(graph, graph) != graph:
            graph = home[graph]
        return graph

    for found in graphs.values():
        for graph in found[1:]:
            home[top(graph)] = top(found[0])
    members: dict[str, list[str]] = {}
    for record, found in graphs.items():
        if found:
            members.setdefault(top(found[0]), []).append(record)
    return list(members.values())


def over_groups(differences: Mapping[str, float], graphs: Graphs) -> tuple[int, Test | None]:
    """How many groups the compared questions fall into, and the sign-flip test on group means where they suffice."""
    known = {record: graphs[record] for record in differences if graphs.get(record)}
    if len(known) < len(differences):
        return 0, None
    found = groups(known)
    if len(found) < ENOUGH:
        return len(found), None
    return len(found), sign_flip([fmean(differences[record] for record in group) for group in found])
