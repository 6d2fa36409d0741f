"""The submitted bytes as a table of texts, or the reason why they are none.

Read as Python's ``csv`` reads them, with one addition: an unterminated quote is a fault. No cell is interpreted here;
``NA`` and ``null`` are text like any other. Linear in the bytes, and total: whatever comes in, a value comes out.
Standard library only, because the proxy reads every submission with it.
"""

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A readable submission: the header, and rows with as many texts as the header has names."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """An unreadable submission. ``row`` counts data rows from 1 (the header is row 0); None when no row is at fault."""

    reason: str
    row: int | None = None


Reading: TypeAlias = Answer | Malformed

# Read after the last line. Outside quotes csv hands it back as it stands; inside, its quote ends the cell and is lost.
LAST: Final = ('end"probe',)
_NEEDS_QUOTES: Final = re.compile(r'[,"\r\n]')


def read_answer(data: bytes) -> Reading:
    """Read a submission.

    Args:
        data: what was submitted, byte for byte.

    Returns:
        The table, or a `Malformed` whose reason is a sentence fit for whoever submitted it.
    """
    try:
        return _read(records(data))
    except UnicodeDecodeError as error:
        return Malformed(reason=f"The text is not UTF-8 ({error.reason}).")
    except csv.Error as error:
        return Malformed(reason=f"The text cannot be read as CSV: {error}.")


def records(data: bytes) -> Iterator[list[str]]:
    """The records that are no blank line, header first, and `LAST` after them unless a quote was left open.

    Raises:
        UnicodeDecodeError, csv.Error: while iterating.
    """
    csv.field_size_limit(sys.maxsize)  # one limit for the whole process; the default of 128 KiB would refuse long cells
    # A wrapper decodes piece by piece: io.StringIO would keep four bytes for every character.
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    return filter(None, csv.reader(chain(lines, LAST)))  # a blank line is an empty record


def write_answer(answer: Answer) -> bytes:
    """The bytes that `read_answer` reads back as this answer. A lone empty cell is ``""``; a blank line is no row."""
    return "".join(map(_line, (answer.columns, *answer.rows))).encode("utf-8")


def _line(cells: Iterable[str]) -> str:
    # By hand: the csv writer of Python 3.11 leaves a lone carriage return unquoted, and the reader then ends the row.
    quoted = ['"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell for cell in cells]
    return (",".join(quoted) if quoted != [""] else '""') + "\n"


def _read(found: Iterator[list[str]]) -> Reading:
    rows = list(map(tuple, found))
    last = rows.pop()
    if last != LAST:
        return Malformed(reason="A quote is opened and never closed.", row=len(rows) or None)
    if not rows:
        return Malformed(reason="There is no header: the first line must name the columns.")
    header = rows.pop(0)
    width = len(header)
    if set(map(len, rows)) - {width}:
        at = next(index for index, row in enumerate(rows) if len(row) != width)
        return Malformed(reason=f"Row {at + 1} has {_cells(len(rows[at]))}, the header has {width}.", row=at + 1)
    return Answer(columns=header, rows=rows)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
