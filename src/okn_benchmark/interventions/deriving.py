"""Cells of an added column, by a closed set of rules over what a table says already. None of them adds information."""

import re
from typing import Final

from okn_benchmark.interventions.arm import AddedColumn
from okn_benchmark.interventions.grid import Cell

NAME: Final = "name"
IDENTIFIER: Final = "identifier"
NUMBER: Final = "number"
IRI: Final = "IRI"

_IRI: Final = re.compile(r"<?(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:)\S+")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z][A-Za-z_]*[:_-]?\d[A-Za-z0-9_.:-]*"  # CHEMBL203, GO:0008150, P00533, ENSG00000146648.18
    r"|[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z0-9_.-]+"  # obo:CHEBI_15377
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)
_MEASURED: Final = re.compile(rf"\s*(?:[<>=~≤≥]\s*)?{_NUMBER.pattern}\s*([^\s\d].*?)\s*")
_BRACKETED: Final = re.compile(r".*[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*")


def kind_of_value(cell: Cell) -> str | None:
    """``IRI``, ``number``, ``identifier`` (letters and digits of a scheme, no blank) or ``name``; None of nothing."""
    text = (cell.text or "").strip()
    if not text:
        return None
    if cell.iri or _IRI.fullmatch(text):
        return IRI
    if _NUMBER.fullmatch(text):
        return NUMBER
    return IDENTIFIER if _IDENTIFIER.fullmatch(text) else NAME


def unit_of_value(cell: Cell, column: str) -> str | None:
    """What stands behind the number in a cell (``30 uM``), else in brackets in the column's name (``IC50 (nM)``)."""
    measured = _MEASURED.fullmatch(cell.text or "")
    if measured:
        return measured.group(1)
    bracketed = _BRACKETED.fullmatch(column)
    return bracketed.group(1) if bracketed and cell.text else None


def derived(added: AddedColumn, cell: Cell) -> str | None:
    """One cell of an added column, from the cell of the column it is made of."""
    match added.rule:
        case "constant":
            return added.value
        case "copy":
            return cell.text
        case "kind":
            return kind_of_value(cell)
        case "unit":
            return unit_of_value(cell, added.of or "")
