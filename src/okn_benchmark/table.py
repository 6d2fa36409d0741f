"""A table of RDF terms: what a query returns and what an answer is judged against."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

TermKind: TypeAlias = Literal["uri", "literal", "bnode"]

XSD = "http://www.w3.org/2001/XMLSchema#"


class Term(NamedTuple):
    """One bound cell. ``datatype`` and ``language`` are empty where the term has none.

    A plain string literal has no datatype here, whichever way the engine printed it (``xsd:string`` is dropped by
    the readers in ``sparql.results``).
    """

    kind: TermKind
    value: str
    datatype: str = ""
    language: str = ""


Cell: TypeAlias = Term | None
"""A term, or None for an unbound variable."""

Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in SELECT order, rows in result order; every row has one cell per column."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        width = len(self.columns)
        for row in self.rows:
            if len(row) != width:
                raise ValueError(f"a row of {len(row)} cells in a table of {width} columns")

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, index: int) -> Iterator[Cell]:
        """The cells of one column, top to bottom."""
        return (row[index] for row in self.rows)


def iri(value: str) -> Term:
    """An IRI term."""
    return Term("uri", value)


def text(value: str, *, language: str = "") -> Term:
    """A plain or language-tagged string."""
    return Term("literal", value, "", language)


def typed(value: str, datatype: str) -> Term:
    """A typed literal; ``datatype`` is a full IRI or an XSD local name such as ``integer``."""
    return Term("literal", value, datatype if ":" in datatype else XSD + datatype)


def table(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> Table:
    """A table from any iterables."""
    return Table(tuple(columns), tuple(tuple(row) for row in rows))
