"""From a mapping and its rows to the sorted triples of a sample graph."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from okn_benchmark.errors import InputError
from okn_benchmark.graphs.mapping import ClosureMapping, EdgeTemplate, GraphMapping, TableMapping, Triple3
from okn_benchmark.graphs.terms import RDF, expand, iri_form

Triple = tuple[str, str, str]
Row = Mapping[str, str]


def graph_triples(mapping: GraphMapping) -> tuple[Triple, ...]:
    """Every triple of the graph, each once, in sorted order.

    Raises:
        InputError: a cell does not fit its template; the message names file and row.
    """
    found: set[Triple] = set()
    for table in mapping.tables:
        for number, row in enumerate(mapping.rows[table.file], start=2):
            try:
                found.update(_row_triples(table, row, mapping.prefixes))
            except InputError as error:
                raise InputError(
                    f"{mapping.shortname}/{table.file}, row {number}: {error.message}", hint=error.hint
                ) from error
    for closure in mapping.closures:
        found.update(_closure_triples(closure, mapping))
    return tuple(sorted(found))


def _row_triples(table: TableMapping, row: Row, prefixes: Mapping[str, str]) -> Iterator[Triple]:
    for single in _singled(row, table.many):
        for template in table.triples:
            if (triple := _fill(template, single, prefixes)) is not None:
                yield triple
    for edge in table.edges:
        yield from _edge_triples(edge, row, table.many, prefixes)


def _singled(row: Row, many: tuple[str, ...]) -> Iterator[Row]:
    """The row once per combination of its multi-valued cells."""
    for values in product(*(row[name].split("|") for name in many)):
        yield {**row, **dict(zip(many, values, strict=True))}


def _fill(template: Triple3, row: Row, prefixes: Mapping[str, str]) -> Triple | None:
    subject, predicate, object_ = (term.fill(row, prefixes) for term in template)
    if subject is None or predicate is None or object_ is None:
        return None
    return subject, predicate, object_


def _edge_triples(edge: EdgeTemplate, row: Row, many: tuple[str, ...], prefixes: Mapping[str, str]) -> Iterator[Triple]:
    triple = _fill(edge.triple, row, prefixes)
    if triple is None:
        return
    if edge.plain:
        yield triple
    values = sorted(
        {
            (predicate, object_)
            for single in _singled(row, many)
            for p, o in edge.values
            if (predicate := p.fill(single, prefixes)) and (object_ := o.fill(single, prefixes))
        }
    )
    node = edge.statement.fill(row, prefixes) if edge.statement else _statement_node(triple, values)
    if node is None:
        return
    yield node, f"<{RDF}type>", f"<{RDF}Statement>"
    for role, term in zip(("subject", "predicate", "object"), triple, strict=True):
        yield node, f"<{RDF}{role}>", term
    for predicate, object_ in values:
        yield node, predicate, object_


def _statement_node(triple: Triple, values: Iterable[tuple[str, str]]) -> str:
    """A blank node named by what it says: two measurements on one edge stay two, the same one said twice is one."""
    text = "\n".join([*triple, *(f"{p} {o}" for p, o in values)])
    return "_:s" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _closure_triples(closure: ClosureMapping, mapping: GraphMapping) -> Iterator[Triple]:
    predicate = closure.predicate.fill({}, mapping.prefixes)
    assert predicate is not None
    up = _ancestors(_edges(closure.file, mapping))
    if closure.through:
        up = _carried(up, _ancestors(_edges(closure.through, mapping)))
    for child, ancestors in up.items():
        for ancestor in ancestors:
            yield child, predicate, ancestor
        if closure.reflexive:
            yield child, predicate, child
    if closure.reflexive:
        for ancestor in {a for ancestors in up.values() for a in ancestors}:
            yield ancestor, predicate, ancestor


def _edges(file: str, mapping: GraphMapping) -> dict[str, set[str]]:
    parents: dict[str, set[str]] = defaultdict(set)
    for row in mapping.rows[file]:
        child, parent = (iri_form(expand(row[name], mapping.prefixes)) for name in ("child", "parent"))
        parents[child].add(parent)
    return parents


def _ancestors(parents: Mapping[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for start in parents:
        seen: set[str] = set()
        waiting = list(parents[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += parents.get(node, ())
        if start in seen:
            raise InputError(f"{start} is its own ancestor", hint="A hierarchy has no circle: correct the CSV.")
        found[start] = seen
    return found


def _carried(whole: Mapping[str, set[str]], kinds: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Carry a relation along a hierarchy: down to kinds of the child, up to what the parent is a kind of."""
    found: dict[str, set[str]] = defaultdict(set)
    everything = set(whole) | set(kinds)
    changed = True
    base = {child: set(parents) for child, parents in whole.items()}
    for child in everything:
        for kind in {child} | kinds.get(child, set()):
            found[child] |= base.get(kind, set())
    while changed:
        changed = False
        for child, targets in list(found.items()):
            wider = set(targets)
            for target in targets:
                wider |= kinds.get(target, set()) | found.get(target, set())
            if wider != targets:
                found[child] = wider
                changed = True
    return {child: targets for child, targets in found.items() if targets}
