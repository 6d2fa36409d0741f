"""W3C SPARQL 1.1 JSON results to a table of terms and back, and the CSV an agent would hand in.

JSON is the only form that keeps kinds, datatypes and languages, so truth is read from nothing else. The CSV and TSV
readers exist for servers whose tools answer in those forms.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.table import XSD, Cell, Table, Term

_STRING: Final = XSD + "string"
_LANGUAGE_STRING: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_NEEDS_QUOTES: Final = re.compile(r'[,"\r\n]')


def read_results(document: Any, source: str = "the SPARQL results") -> Table:
    """The table in a parsed SPARQL 1.1 JSON document; ``xsd:string`` and ``rdf:langString`` are dropped.

    Raises:
        InputError: not a SELECT result in that format. The message starts with ``source``.
    """
    head, results = _part(document, "head", source), _part(document, "results", source)
    names = head.get("vars")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{source}: head.vars is not a list of names.")
    if len(set(names)) != len(names):
        raise InputError(f"{source}: head.vars names a column twice.")
    bindings = results.get("bindings")
    if not isinstance(bindings, list):
        raise InputError(f"{source}: results.bindings is not a list.")
    rows = (_row(binding, names, f"{source}: bindings[{index}]") for index, binding in enumerate(bindings))
    return Table(tuple(names), tuple(rows))


def _part(document: Any, key: str, source: str) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise InputError(f"{source} are not a JSON object.")
    if "boolean" in document:
        raise InputError(f"{source} are the yes or no of an ASK query, not a table.")
    part = document.get(key)
    if not isinstance(part, dict):
        raise InputError(f"{source}: {key} is missing or not an object.")
    return part


def _row(binding: Any, names: list[str], at: str) -> tuple[Cell, ...]:
    if not isinstance(binding, dict):
        raise InputError(f"{at} is not an object.")
    stray = next((name for name in binding if name not in names), None)
    if stray is not None:
        raise InputError(f"{at} binds {stray!r}, which head.vars does not list.")
    return tuple(_term(binding.get(name), f"{at}.{name}") for name in names)


def _term(value: Any, at: str) -> Cell:
    if value is None:
        return None
    text = value.get("value") if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise InputError(f"{at} has no text value.")
    match value.get("type"):
        case "uri":
            return Term("uri", text)
        case "bnode":
            return Term("bnode", text)
        case "literal" | "typed-literal":  # the second is what older engines write
            language, datatype = value.get("xml:lang") or "", value.get("datatype") or ""
            if not isinstance(language, str) or not isinstance(datatype, str):
                raise InputError(f"{at} has a datatype or language that is not text.")
            return Term(
                "literal", text, "" if language or datatype in (_STRING, _LANGUAGE_STRING) else datatype, language
            )
        case other:
            raise InputError(f"{at} is of type {other!r}; a table holds IRIs, literals and blank nodes.")


def write_results(table: Table) -> dict[str, Any]:
    """The same table as a SPARQL 1.1 JSON document."""
    bindings = [
        {name: _binding(cell) for name, cell in zip(table.columns, row, strict=True) if cell is not None}
        for row in table.rows
    ]
    return {"head": {"vars": list(table.columns)}, "results": {"bindings": bindings}}


def _binding(term: Term) -> dict[str, str]:
    made = {"type": term.kind, "value": term.value}
    if term.language:
        made["xml:lang"] = term.language
    elif term.datatype:
        made["datatype"] = term.datatype
    return made


def csv_text(table: Table) -> str:
    """The table as an agent would submit it: header, bare IRIs, LF; a lone unbound cell is written ``""``."""
    rows = (tuple(_plain(cell) for cell in row) for row in table.rows)
    return "".join(_csv_line(row) for row in (table.columns, *rows))


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"_:{cell.value}" if cell.kind == "bnode" else cell.value


def _csv_line(cells: Iterable[str]) -> str:
    # Written by hand: the csv module of Python 3.11 leaves a lone carriage return unquoted.
    quoted = ['"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell for cell in cells]
    return (",".join(quoted) if quoted != [""] else '""') + "\n"


def read_csv_results(text: str, source: str = "the CSV results") -> Table:
    """SPARQL 1.1 CSV. Kinds are lost in that format: every cell is a plain literal, the empty one unbound.

    Raises:
        InputError: no header, or a row of another width.
    """
    try:
        records = [record for record in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")) if record]
    except csv.Error as error:
        raise InputError(f"{source} cannot be read: {error}.") from error
    cells = [tuple(Term("literal", cell) if cell else None for cell in record) for record in records[1:]]
    return _rectangle([name.removeprefix("?") for name in records[0]] if records else [], cells, source)


def read_tsv_results(text: str, source: str = "the TSV results") -> Table:
    """SPARQL 1.1 TSV, whose cells are terms in Turtle syntax.

    Raises:
        InputError: no header, a row of another width, or a cell that is no term.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
    names = [name.removeprefix("?") for name in lines[0].split("\t")] if lines[0] else []
    cells = [
        tuple(_tsv_term(cell, f"{source}: line {number}") for cell in line.split("\t"))
        for number, line in enumerate(lines[1:], start=2)
        if line or len(names) == 1
    ]
    return _rectangle(names, cells, source)


def _rectangle(names: list[str], rows: list[tuple[Cell, ...]], source: str) -> Table:
    if not names:
        raise InputError(f"{source} have no header line.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise InputError(f"{source}: row {number} has {len(row)} cells under a header of {len(names)}.")
    return Table(tuple(names), tuple(rows))


_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<([^>]*)>)?', re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?(?:(\d+)|(\d*\.\d+)|((?:\d+\.?\d*|\.\d+)[eE][+-]?\d+))")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def _tsv_term(cell: str, at: str) -> Cell:
    if not cell:
        return None
    if cell.startswith("<") and cell.endswith(">"):
        return Term("uri", unescape(cell[1:-1]))
    if cell.startswith("_:"):
        return Term("bnode", cell[2:])
    if quoted := _QUOTED.fullmatch(cell):
        value, language, datatype = quoted.groups(default="")
        return Term("literal", unescape(value), "" if datatype == _STRING else datatype, language)
    if number := _NUMBER.fullmatch(cell):
        kind = ("integer", "decimal", "double")[(number.lastindex or 1) - 1]
        return Term("literal", cell, XSD + kind)
    if cell in ("true", "false"):
        return Term("literal", cell, XSD + "boolean")
    raise InputError(f"{at}: {cell[:60]!r} is not an RDF term.")


def unescape(text: str) -> str:
    """Turtle and SPARQL string escapes resolved; a character that needs none stands for itself."""

    def character(match: re.Match[str]) -> str:
        code = match.group(1)
        if len(code) == 1:
            return _ESCAPED.get(code, code)
        point = int(code[1:], 16)
        return chr(point) if point <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(character, text)
