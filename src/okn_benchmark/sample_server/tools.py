"""What the tools do, as functions over an endpoint. No protocol in here."""

from collections.abc import Mapping
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.graphs.registry import known_graphs
from okn_benchmark.graphs.shortnames import GRAPH_PREFIX, graph_iri
from okn_benchmark.sample_server import queries, routing
from okn_benchmark.sparql.result import Endpoint

_LONGEST_LIST: Final = 200
_LONGEST_EXAMPLE: Final = 120


class GraphTools:
    """The tools over one endpoint that has every graph as a named graph. Answers are JSON values."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._sizes: dict[str, int] | None = None
        self._vocabularies: dict[str, Mapping[str, float]] = {}

    def list_graphs(self) -> list[dict[str, Any]]:
        """Shortname, IRI, title and size of every graph there is."""
        titles = {graph.shortname: graph.title for graph in known_graphs()}
        return [
            {"shortname": name, "iri": graph_iri(name), "about": titles.get(name, name), "triples": size}
            for name, size in self._graphs().items()
        ]

    def describe_graph(self, shortname: str) -> dict[str, Any]:
        """One entry of ``list_graphs`` with its classes and namespaces."""
        graph = self._graph(shortname)
        entry = next(entry for entry in self.list_graphs() if entry["shortname"] == shortname)
        return {
            **entry,
            "classes": [{"iri": row["class"], "things": int(row["n"])} for row in self._rows(queries.classes(graph))],
            "namespaces": [row["namespace"] for row in self._rows(queries.namespaces(graph))],
        }

    def get_schema(self, shortname: str, class_iri: str | None = None) -> dict[str, Any]:
        """Predicates with counts, ends, kinds of values and an example."""
        graph = self._graph(shortname)
        of = queries.iri(class_iri) if class_iri else None
        kinds = self._grouped(queries.value_kinds(graph), "kind")
        sources = self._grouped(queries.ends(graph, "s"), "class")
        targets = self._grouped(queries.ends(graph, "o"), "class")
        found = [
            {
                "predicate": row["p"],
                "triples": int(row["n"]),
                "from": sources.get(row["p"], []),
                "to": targets.get(row["p"], []),
                "values": kinds.get(row["p"], []),
                "example": row.get("example", "")[:_LONGEST_EXAMPLE],
            }
            for row in self._rows(queries.predicates(graph, of))
        ]
        if not found:
            there = ", ".join(row["class"] for row in self._rows(queries.classes(graph)))
            raise InputError(f"{shortname} has nothing of class {class_iri}.", hint=f"Its classes: {there[:1500]}")
        return {"shortname": shortname, "iri": graph, "predicates": found[:_LONGEST_LIST]}

    def run_query(self, query: str) -> dict[str, Any]:
        """The W3C JSON result."""
        return self._endpoint.select(query).document

    def lookup_label(self, text: str, shortname: str | None = None, limit: int = 20) -> list[dict[str, Any]]:
        """Things whose label contains ``text``."""
        if not text.strip():
            raise InputError("There is no text to look for.")
        graph = self._graph(shortname) if shortname else None
        rows = self._rows(queries.labels(text, graph, min(max(limit, 1), _LONGEST_LIST)))
        names = {graph_iri(name): name for name in self._graphs()}
        return [
            {
                "iri": row["iri"],
                "label": row["label"],
                "predicate": row["predicate"],
                "graph": shortname or names.get(row["graph"], row["graph"]),
            }
            for row in rows
        ]

    def get_descendants(self, term: str, shortname: str = "ubergraph") -> dict[str, Any]:
        """Everything below a term."""
        graph, wanted = self._graph(shortname), queries.iri(term)
        rows = self._rows(queries.descendants(wanted, graph))
        found = [{"iri": row["iri"], "label": row.get("label")} for row in rows]
        return {"term": wanted[1:-1], "graph": shortname, "count": len(found), "descendants": found}

    def route_question(self, question: str) -> list[dict[str, Any]]:
        """Graphs ranked by the words they share with a question."""
        if not self._vocabularies:
            self._vocabularies = {name: self._vocabulary(name) for name in self._graphs()}
        matches = routing.rank(question, self._vocabularies)
        return [
            {"shortname": match.shortname, "score": match.score, "because_of": list(match.words[:12])}
            for match in matches
        ]

    def _graphs(self) -> dict[str, int]:
        if self._sizes is None:
            rows = self._rows(queries.GRAPHS)
            self._sizes = {
                row["g"].removeprefix(GRAPH_PREFIX): int(row["n"]) for row in rows if row["g"].startswith(GRAPH_PREFIX)
            }
        return self._sizes

    def _graph(self, shortname: str) -> str:
        if shortname not in self._graphs():
            raise InputError(f"There is no graph {shortname!r}.", hint=f"There is {', '.join(self._graphs())}.")
        return graph_iri(shortname)

    def _vocabulary(self, shortname: str) -> Mapping[str, float]:
        graph = graph_iri(shortname)
        title = next((known.title for known in known_graphs() if known.shortname == shortname), shortname)
        schema = [row["class"] for row in self._rows(queries.classes(graph))]
        schema += [row["p"] for row in self._rows(queries.predicates(graph))]
        ends = [iri.replace("#", "/").rstrip("/").rpartition("/")[2] for iri in schema]
        labels = [row["label"] for row in self._rows(queries.vocabulary(graph))]
        return routing.weigh(title, ends, labels)

    def _rows(self, query: str) -> list[dict[str, str]]:
        table = self._endpoint.select(query).table
        return [
            {name: cell.value for name, cell in zip(table.columns, row, strict=True) if cell is not None}
            for row in table.rows
        ]

    def _grouped(self, query: str, column: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._rows(query):
            if column in row:
                found.setdefault(row["p"], []).append(row[column])
        return found
