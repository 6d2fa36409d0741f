"""Term templates: how a cell of a CSV row becomes an IRI, a literal or a blank node.

The notation is Turtle's with ``{column}`` holes, read once per template and filled once per row:

    {disease}                       the cell itself is a prefixed name or a full IRI
    obo:MONDO_{id}                  a prefixed name
    <http://example.org/{id}>       a full IRI
    "{label}"  "{label}"@en  "{odds}"^^xsd:double
    _:study-{id}                    a blank node, the same one wherever the same text comes out
    a                               rdf:type

A hole whose cell is empty makes the whole term absent, and with it the triple: that is how optional columns work.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from okn_benchmark.errors import InputError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OBO = "http://purl.obolibrary.org/obo/"

STANDARD_PREFIXES: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "obo": OBO}

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LITERAL = re.compile(r'"(?P<text>.*)"(?:@(?P<language>[A-Za-z][A-Za-z0-9-]*)|\^\^(?P<datatype>\S+))?', re.DOTALL)
_PREFIXED = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9_-]*):(?P<local>\S*)")
_FORBIDDEN_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LEXICAL = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
    XSD + "double": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
    XSD + "float": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
    XSD + "boolean": re.compile(r"true|false|1|0"),
    XSD + "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?"),
    XSD + "gYear": re.compile(r"[0-9]{4}"),
}

TemplateKind = Literal["cell", "iri", "literal", "bnode"]


@dataclass(frozen=True, slots=True)
class TermTemplate:
    """One term with holes. ``text`` is the IRI or lexical form; prefixes are expanded already."""

    kind: TemplateKind
    text: str
    datatype: str = ""
    language: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns this term reads."""
        return tuple(_HOLE.findall(self.text))

    def fill(self, row: Mapping[str, str], prefixes: Mapping[str, str]) -> str | None:
        """The term in N-Triples form, or None when a cell it needs is empty.

        Raises:
            InputError: the filled text is no IRI, or no value of the datatype.
        """
        columns = self.columns
        if any(not row[name] for name in columns):
            return None
        text = _HOLE.sub(lambda hole: row[hole.group(1)], self.text)
        match self.kind:
            case "cell":
                return iri_form(expand(text, prefixes))
            case "iri":
                return iri_form(text)
            case "bnode":
                return "_:b" + hashlib.sha256(text.encode()).hexdigest()[:12]
            case "literal":
                return literal_form(text, self.datatype, self.language)


def read_template(source: str, prefixes: Mapping[str, str]) -> TermTemplate:
    """Read one template.

    Raises:
        InputError: it is none of the forms above, or names a prefix nobody declared.
    """
    if source == "a":
        return TermTemplate("iri", RDF + "type")
    if _HOLE.fullmatch(source):
        return TermTemplate("cell", source)
    if source.startswith("<") and source.endswith(">"):
        return TermTemplate("iri", source[1:-1])
    if source.startswith("_:"):
        return TermTemplate("bnode", source[2:])
    if found := _LITERAL.fullmatch(source):
        datatype = found["datatype"] or ""
        if datatype:
            datatype = datatype[1:-1] if datatype.startswith("<") else expand(datatype, prefixes)
        return TermTemplate("literal", found["text"], datatype, found["language"] or "")
    return TermTemplate("iri", expand(source, prefixes))


def expand(text: str, prefixes: Mapping[str, str]) -> str:
    """A full IRI stays; a prefixed name becomes one.

    Raises:
        InputError: neither form, or an undeclared prefix.
    """
    if "://" in text:
        return text
    found = _PREFIXED.fullmatch(text)
    if not found or found["prefix"] not in prefixes:
        raise InputError(
            f"{text!r} is neither a full IRI nor a prefixed name with a declared prefix",
            hint="Declare the prefix under [prefixes] in mapping.toml, or write the IRI out.",
        )
    return prefixes[found["prefix"]] + found["local"]


def iri_form(text: str) -> str:
    """``<text>``, after a look at what may not stand in an IRI."""
    if "://" not in text or _FORBIDDEN_IN_IRI.search(text):
        raise InputError(f"{text!r} is not an IRI", hint="Percent-encode blanks and brackets in the CSV cell.")
    return f"<{text}>"


def literal_form(text: str, datatype: str, language: str) -> str:
    """A quoted literal with the datatype or language of its template; the lexical form is checked for XSD types."""
    pattern = _LEXICAL.get(datatype)
    if pattern and not pattern.fullmatch(text):
        raise InputError(
            f"{text!r} is not a value of {datatype}", hint="Correct the cell, or make the column a string."
        )
    quoted = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    if language:
        return f'"{quoted}"@{language}'
    return f'"{quoted}"^^<{datatype}>' if datatype else f'"{quoted}"'
