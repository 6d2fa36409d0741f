"""One reference column: what kind each of its cells is, and which of them a submitted text may stand for.

Equal cells form a class, and a class is a small integer. Reading a text gives the class it stands for, `NOTHING`, or,
in a column of mixed kinds, a negative code for several classes: ``5`` is the integer 5 and the string "5" alike, while
``5.0`` is only the integer. Everything above this module compares integers.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, Protocol

from okn_benchmark.scoring.moment import date_key, moment_key
from okn_benchmark.scoring.number import canonical, named_number, plain_number
from okn_benchmark.table import XSD, Cell, Term

NOTHING: Final = -1

_EXACT: Final = frozenset(
    XSD + name
    for name in (
        "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
        "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte",
    )
)  # fmt: skip
_STARTS: Final = frozenset("-0123456789")
_BINARY: Final = frozenset({XSD + "double", XSD + "float"})
_TOLERANT: Final = _BINARY | {XSD + "decimal"}
NUMERIC: Final = _EXACT | _TOLERANT
"""The datatypes whose literals are numbers."""

_MOMENTS: Final = {XSD + "date": date_key, XSD + "dateTime": moment_key, XSD + "dateTimeStamp": moment_key}
TRUTHS: Final = {"true": "btrue", "1": "btrue", "false": "bfalse", "0": "bfalse"}
_SUFFIX: Final = re.compile(r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^(?:<[^<>\"\s]*>|[A-Za-z][\w.-]*:[\w.-]+)")


def lexical(cell: Cell) -> str:
    """The text of a cell as a submission would hold it: what the strict tier compares."""
    if cell is None:
        return ""
    if cell.kind == "bnode" and not cell.value.startswith("_:"):
        return "_:" + cell.value
    return cell.value


def plain_text(text: str) -> str:
    """Unicode NFC without outer white space: how strings that are no numbers are compared."""
    trimmed = text.strip()
    if trimmed.isascii() or _overloaded(trimmed):
        return trimmed
    return unicodedata.normalize("NFC", trimmed)


def undecorated(text: str) -> str | None:
    """The ``x`` of ``"x"@en`` and ``"x"^^<…>``; None for a text that is not written so."""
    body, quote, suffix = text.rpartition('"')
    return body[1:] if quote and body.startswith('"') and _SUFFIX.fullmatch(suffix) else None


def _overloaded(text: str) -> bool:
    """Whether one letter carries more than thirty marks (UAX 15): putting those in order takes quadratic time."""
    if len(text) <= 256:
        return False
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run > 30:
            return True
    return False


class Classes(Protocol):
    """A reference column after reading."""

    @property
    def classes(self) -> list[int]:
        """The class of each reference row."""

    @property
    def several(self) -> Sequence[tuple[int, ...]]:
        """What the codes below `NOTHING` stand for: code -2 is the first entry."""


class Column(Classes, Protocol):
    """A reference column that can read a submitted one."""

    @property
    def mixed(self) -> bool:
        """Whether a text may stand for several classes."""

    def read(self, texts: Sequence[str]) -> list[int]:
        """The code of each submitted text."""


def number_of(cell: Cell) -> tuple[str, bool] | None:
    """The canonical number of a numeric reference cell, and whether engines print its type differently."""
    if cell is None or cell.kind != "literal" or cell.language:
        return None
    if cell.datatype in _EXACT or cell.datatype in _TOLERANT:
        number = canonical(cell.value)
        return None if number is None else (number, cell.datatype in _TOLERANT)
    if not cell.datatype or cell.datatype == XSD + "string":
        number = plain_number(cell.value) if cell.value[:1] in _STARTS else None
        return None if number is None else (number, "." in cell.value)
    return None


def literal_key(cell: Term) -> str:
    """The class of a literal that is no number."""
    if cell.datatype in _BINARY and (named := named_number(cell.value)) is not None:
        return "n" + named
    if cell.datatype == XSD + "boolean" and (truth := TRUTHS.get(cell.value.lower())) is not None:
        return truth
    if cell.datatype in _MOMENTS and (moment := _MOMENTS[cell.datatype](cell.value)) is not None:
        return "m" + moment
    return "t" + plain_text(cell.value)
