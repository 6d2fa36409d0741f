"""What the server says of itself. Hosts clip instructions and descriptions at 2,000 characters; these stay below."""

from typing import Final

NAME: Final = "okn-sample"

INSTRUCTIONS: Final = """\
Read-only access to knowledge graphs of an open network, through SPARQL 1.1.

Every graph is a named graph: put patterns inside GRAPH <iri> { ... }, where list_graphs gives the IRIs. Patterns \
outside GRAPH see all graphs mixed together, and common predicates such as rdfs:label then match everywhere. A join of \
two graphs is two GRAPH blocks that share a variable.

A way that works:
1. route_question or list_graphs, to find which graphs could hold the answer.
2. get_schema of each, for the exact classes and predicates, their direction and the kind of their values.
3. lookup_label, to turn a name into the IRI this graph uses for it. The same thing has another IRI elsewhere.
4. get_descendants, when a question is about a disease, an organ or a substance and all its kinds.
5. run_query, first with a small LIMIT, then whole.

Things that go wrong here:
- Numbers are often stored as strings, and ORDER BY then sorts them as text. Look at the datatypes in get_schema.
- Values of a relation can sit on an rdf:Statement beside the plain triple; rdf:subject, rdf:predicate and rdf:object \
say which.
- Some graphs write schema.org with http, others with https. Use what get_schema shows.
- A label is not unique. Identify things by IRI.

The data behind this server are samples: small, partly made up, good for trying things out and for nothing else.
"""

LIST_GRAPHS: Final = "List the knowledge graphs: shortname, IRI of the named graph, and in a line what each is about."

DESCRIBE_GRAPH: Final = (
    "Describe one graph: what it is about, how many triples it has, its classes with counts, and the namespaces its "
    "identifiers come from. Give the shortname that list_graphs shows."
)

GET_SCHEMA: Final = (
    "The predicates of one graph: how often each occurs, the classes it leads from and to, the kinds of its values "
    "(IRI, a datatype, or plain text) and an example. Read this before writing a query: names, directions and "
    "datatypes differ between graphs. Give the shortname that list_graphs shows; with class_iri, only predicates of "
    "things of that class."
)

RUN_QUERY: Final = (
    "Run a SPARQL 1.1 SELECT query and return its complete result in the SPARQL 1.1 JSON format. Declare the prefixes "
    "you use, and put patterns into GRAPH <iri> blocks. An error comes back as text with the line at fault."
)

LOOKUP_LABEL: Final = (
    "Find things by name: every resource whose label contains the text, letter case ignored; exact matches come "
    "first. Returns IRI, label, predicate and graph. Limit it to one graph with its shortname."
)

GET_DESCENDANTS: Final = (
    "All kinds of a term: everything below it in an ontology by rdfs:subClassOf, at any depth, with labels. The term "
    "itself is not in the list. Takes an IRI or a short form such as MONDO:0005578."
)

ROUTE_QUESTION: Final = (
    "Given a question in plain words, rank the graphs that may hold the answer, with the words that spoke for each. "
    "It compares words and understands nothing: take it as a first guess and check with get_schema."
)
