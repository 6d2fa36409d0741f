"""Tables in plain text: comma or tab separated, and pipe tables as in Markdown. Cells keep their own characters."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from okn_benchmark.interventions.grid import Added, Cell, Grid, Plan, arranged

_BREAK: Final = re.compile(r"\r?\n")
_BLANK_LINE: Final = re.compile(r"^[ \t]*\r?\n", re.MULTILINE)
_PIPE_RULE: Final = re.compile(r"\s*:?-+:?\s*")
_PIPES: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Line:
    """One record: raw cells and what ends it."""

    cells: tuple[str, ...]
    end: str


@dataclass(frozen=True, slots=True)
class Delimited:
    """A header and rows of one width, cells separated by ``mark``; ``tail`` follows the table and is not part of it."""

    mark: str
    lines: tuple[Line, ...]
    tail: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, without quotes."""
        return tuple(_bare(cell) for cell in self.lines[0].cells)

    @property
    def height(self) -> int:
        """Rows below the header."""
        return len(self.lines) - 1

    def cells(self, column: str) -> list[Cell]:
        """One column, without quotes; an empty cell says nothing."""
        place = self.columns.index(column)
        return [Cell(_bare(line.cells[place]) or None) for line in self.lines[1:]]

    def written(self, plan: Plan) -> str:
        """See ``Grid``."""
        order = arranged(self.columns, plan)
        kept = self.lines if plan.rows is None else self.lines[: plan.rows + 1]
        out = [self._line(line, number - 1, order, plan) for number, line in enumerate(kept)]
        cut = len(self.lines) - len(kept)
        if not cut:
            return "".join(out) + self.tail
        # The marker is a line of its own behind an empty one, where nobody takes it for a row.
        end = self.lines[0].end
        return "".join(out) + f"{end}showing {len(kept) - 1} of total {self.height} rows{end}" + self.tail

    def _line(self, line: Line, row: int, order: Sequence[int | Added], plan: Plan) -> str:
        cells = []
        for entry in order:
            if isinstance(entry, Added):
                cells.append(self._cell(entry.name if row < 0 else entry.cells[row] or ""))
            elif row < 0 and self.columns[entry] in plan.renamed:
                cells.append(self._cell(plan.renamed[self.columns[entry]]))
            else:
                cells.append(line.cells[entry])
        if len(cells) == 1 and not cells[0] and line.end:
            cells = ['""']  # a row of one empty cell would be no row
        return self.mark.join(cells) + line.end

    def _cell(self, text: str) -> str:
        if any(sign in text for sign in (self.mark, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text


def _bare(raw: str) -> str:
    if len(raw) >= 2 and raw[0] == raw[-1] == '"':
        return raw[1:-1].replace('""', '"')
    return raw


def delimited(text: str, mark: str, *, narrow: bool = False) -> Delimited | None:
    """A separated table at the start of ``text``: up to its end or to an empty line.

    None where rows differ in width, a quote does not close, or (unless ``narrow``) there is a single column, which
    any text has.
    """
    lines, at = [], 0
    while at < len(text) and not _BREAK.match(text, at):
        found = _record(text, at, mark)
        if found is None:
            return None
        line, at = found
        lines.append(line)
        # Most texts are no table: the first line that does not fit ends the reading.
        if len(line.cells) != len(lines[0].cells) or (len(line.cells) < 2 and not narrow):
            return None
    names = [_bare(cell) for cell in lines[0].cells] if lines else []
    if not lines or any(not name.strip() for name in names):
        return None
    return Delimited(mark, tuple(lines), text[at:])


def _record(text: str, at: int, mark: str) -> tuple[Line, int] | None:
    stop = _BREAK.search(text, at)
    end = stop.start() if stop else len(text)
    if text.find('"', at, end) < 0:
        if text.find("\r", at, end) >= 0:
            return None
        return Line(tuple(text[at:end].split(mark)), stop.group() if stop else ""), stop.end() if stop else end
    cells = []
    while True:
        begin = at
        if text[at : at + 1] == '"':
            at = _closing_quote(text, at)
            if at < 0:
                return None
        else:
            stop = _BREAK.search(text, at)
            end = stop.start() if stop else len(text)
            comma = text.find(mark, at, end)
            at = end if comma < 0 else comma
        if text[begin : begin + 1] != '"' and "\r" in text[begin:at]:
            return None  # a line break of another time; the second reading would not know it either
        cells.append(text[begin:at])
        if text[at : at + 1] == mark:
            at += 1
            continue
        found = _BREAK.match(text, at)
        if found is None and at < len(text):
            return None  # characters behind a closing quote
        return Line(tuple(cells), found.group() if found else ""), (found.end() if found else at)


def _closing_quote(text: str, at: int) -> int:
    """Behind the quote that closes the cell; -1 where none does."""
    while True:
        at = text.find('"', at + 1)
        if at < 0:
            return -1
        if text[at + 1 : at + 2] != '"':
            return at + 1
        at += 1


@dataclass(frozen=True, slots=True)
class Piped:
    """A pipe table: header, rule, rows. Every line opens and closes with a pipe."""

    lines: tuple[Line, ...]
    tail: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, without the blanks around them."""
        return tuple(_unpiped(cell) for cell in self.lines[0].cells)

    @property
    def height(self) -> int:
        """Rows below the rule."""
        return len(self.lines) - 2

    def cells(self, column: str) -> list[Cell]:
        """One column, without the blanks around its cells."""
        place = self.columns.index(column)
        return [Cell(_unpiped(line.cells[place]) or None) for line in self.lines[2:]]

    def written(self, plan: Plan) -> str:
        """See ``Grid``."""
        order = arranged(self.columns, plan)
        kept = self.lines if plan.rows is None else self.lines[: plan.rows + 2]
        out = "".join(self._line(line, number - 2, order, plan) for number, line in enumerate(kept))
        if len(kept) == len(self.lines):
            return out + self.tail
        end = self.lines[0].end
        return f"{out}{end}showing {len(kept) - 2} of total {self.height} rows{end}{self.tail}"

    def _line(self, line: Line, row: int, order: Sequence[int | Added], plan: Plan) -> str:
        cells = []
        for entry in order:
            if isinstance(entry, Added):
                cells.append("---" if row == -1 else f" {_piped(entry.name if row < 0 else entry.cells[row] or '')} ")
            elif row == -2 and self.columns[entry] in plan.renamed:
                cells.append(f" {_piped(plan.renamed[self.columns[entry]])} ")
            else:
                cells.append(line.cells[entry])
        return f"|{'|'.join(cells)}|{line.end}"


def _piped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _unpiped(raw: str) -> str:
    return raw.strip().replace("\\|", "|")


def piped(text: str) -> Piped | None:
    """A pipe table at the start of ``text``, up to its end or to the first line without pipes."""
    lines, at = [], 0
    while text[at : at + 1] == "|":
        stop = _BREAK.search(text, at)
        end = stop.start() if stop else len(text)
        parts = _PIPES.split(text[at:end].rstrip(" "))
        if len(parts) < 3 or parts[-1]:
            break
        lines.append(Line(tuple(parts[1:-1]), stop.group() if stop else ""))
        at = stop.end() if stop else len(text)
    if len(lines) < 2 or any(len(line.cells) != len(lines[0].cells) for line in lines):
        return None
    if not all(_PIPE_RULE.fullmatch(cell) for cell in lines[1].cells):
        return None
    return Piped(tuple(lines), text[at:])


_READERS: Final[dict[str, tuple[Callable[[str], "Delimited | Piped | None"], ...]]] = {
    "csv": (lambda text: delimited(text, ",", narrow=True),),
    "tsv": (lambda text: delimited(text, "\t", narrow=True),),
    "markdown": (piped,),
    "auto": (piped, lambda text: delimited(text, "\t"), lambda text: delimited(text, ",")),
}


LONGEST: Final = 200
"""Paragraphs of one text that are looked at."""


def rewritten(text: str, form: str, plan: Callable[[Grid], Plan]) -> str | None:
    """``text`` with every table in it written by the plan made for it; None where no plan says anything.

    A table begins at the start of the text or behind an empty line, and ends at the next one.
    """
    out, at, changed = [], 0, False
    for _ in range(LONGEST):
        found = _planned(text[at:], form, plan)
        if found is not None:
            grid, wanted = found
            out.append(replace(grid, tail="").written(wanted))
            at, changed = len(text) - len(grid.tail), True
        gap = _BLANK_LINE.search(text, at)
        end = len(text) if gap is None else gap.end()
        out.append(text[at:end])
        at = end
        if at >= len(text):
            break
    out.append(text[at:])
    return "".join(out) if changed else None


def _planned(text: str, form: str, plan: Callable[[Grid], Plan]) -> tuple[Delimited | Piped, Plan] | None:
    for read in _READERS.get(form, ()):
        grid = read(text)
        if grid is not None and (wanted := plan(grid)):
            return grid, wanted
    return None
