"""The queries behind the tools. Whatever a caller sends goes in as a vetted IRI or an escaped string. Pure."""

import re
from typing import Final

from okn_benchmark.errors import InputError

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_SHORT: Final = re.compile(r"([A-Za-z][A-Za-z0-9]*)[:_]([A-Za-z0-9]+)")
_LABELS: Final = (
    "<http://www.w3.org/2000/01/rdf-schema#label>|<http://www.w3.org/2004/02/skos/core#prefLabel>|"
    "<http://schema.org/name>|<https://schema.org/name>"
)
_TYPES: Final = "a|<https://w3id.org/biolink/vocab/category>"
_SUBCLASS: Final = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"

GRAPHS: Final = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"


def iri(text: str) -> str:
    """An IRI in angle brackets; a short form such as ``MONDO:0005578`` becomes one of the OBO library.

    Raises:
        InputError: it is neither.
    """
    bare = text.strip().removeprefix("<").removesuffix(">")
    if short := _SHORT.fullmatch(bare):
        return f"<http://purl.obolibrary.org/obo/{short.group(1)}_{short.group(2)}>"
    if not _IRI.fullmatch(bare):
        raise InputError(f"{text[:80]!r} is no IRI.", hint="Give a full IRI, or a short form such as MONDO:0005578.")
    return f"<{bare}>"


def string(text: str) -> str:
    """A SPARQL string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def classes(graph: str) -> str:
    """Classes and how many things each has."""
    return (
        f"SELECT ?class (COUNT(DISTINCT ?s) AS ?n) WHERE {{ GRAPH <{graph}> {{ ?s {_TYPES} ?class }} }} "
        "GROUP BY ?class ORDER BY DESC(?n) ?class"
    )


def predicates(graph: str, of: str | None = None) -> str:
    """Predicates, how often each occurs, and one value; ``of`` is a class in angle brackets."""
    about = f" ?s {_TYPES} {of} ." if of else ""
    return (
        f"SELECT ?p (COUNT(*) AS ?n) (MIN(STR(?o)) AS ?example) WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o .{about} }} }} "
        "GROUP BY ?p ORDER BY DESC(?n) ?p"
    )


def value_kinds(graph: str) -> str:
    """Per predicate the kinds of its values: IRI, blank node, language-tagged text, or a datatype."""
    kind = 'IF(isIRI(?o), "IRI", IF(isBlank(?o), "blank node", IF(LANG(?o) != "", "text@", STR(DATATYPE(?o)))))'
    return (
        f"SELECT ?p ?kind (COUNT(*) AS ?n) WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o BIND({kind} AS ?kind) }} }} "
        "GROUP BY ?p ?kind ORDER BY ?p DESC(?n) ?kind"
    )


def ends(graph: str, end: str) -> str:
    """Per predicate the classes at one end of it: ``s`` for where it leads from, ``o`` for where it leads to."""
    return (
        f"SELECT DISTINCT ?p ?class WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o . ?{end} {_TYPES} ?class }} }} "
        "ORDER BY ?p ?class"
    )


def namespaces(graph: str) -> str:
    """Namespaces of the things described, by how many there are."""
    return (
        "SELECT ?namespace (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s WHERE { "
        f"GRAPH <{graph}> {{ ?s ?p ?o FILTER(isIRI(?s)) }} }} }} "
        'BIND(REPLACE(STR(?s), "[^/#]*$", "") AS ?namespace) } '
        "GROUP BY ?namespace ORDER BY DESC(?n) ?namespace LIMIT 12"
    )


def labels(text: str, graph: str | None, limit: int) -> str:
    """Things whose label contains ``text``, exact ones first."""
    where = f"<{graph}>" if graph else "?graph"
    wanted = string(text.strip().lower())
    return (
        f"SELECT ?iri ?label ?predicate {'' if graph else '?graph '}WHERE {{ GRAPH {where} {{ ?iri ?predicate ?label "
        f"FILTER(?predicate IN ({_LABELS.replace('|', ', ')}) && CONTAINS(LCASE(STR(?label)), {wanted})) }} }} "
        f"ORDER BY DESC(LCASE(STR(?label)) = {wanted}) STRLEN(STR(?label)) ?label ?iri LIMIT {limit}"
    )


def descendants(term: str, graph: str) -> str:
    """Everything below ``term`` (in angle brackets), with a label where there is one."""
    return (
        f"SELECT ?iri (MIN(STR(?name)) AS ?label) WHERE {{ GRAPH <{graph}> {{ ?iri {_SUBCLASS}+ {term} "
        f"FILTER(isIRI(?iri) && ?iri != {term}) OPTIONAL {{ ?iri {_LABELS} ?name }} }} }} GROUP BY ?iri ORDER BY ?iri"
    )


def vocabulary(graph: str) -> str:
    """Distinct labels of a graph, for matching words."""
    return (
        f"SELECT DISTINCT ?label WHERE {{ GRAPH <{graph}> {{ ?s {_LABELS} ?name }} "
        "BIND(LCASE(STR(?name)) AS ?label) } ORDER BY ?label LIMIT 20000"
    )
