"""Copies of a key that must be judged in a known way: twelve that are damaged, four that only look different.

The predictions are counted from the table, not asked of the judge: a judge that is wired wrongly disagrees with them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from okn_benchmark.scoring.answer import Answer, write_answer
from okn_benchmark.scoring.cells import NUMERIC, lexical
from okn_benchmark.scoring.iri import local_name
from okn_benchmark.scoring.number import ARITHMETIC, canonical, value_of
from okn_benchmark.scoring.verdict import Verdict
from okn_benchmark.table import XSD, Cell, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One copy of a key, and what its verdict must say; None where the contract leaves it open."""

    kind: str
    submitted: bytes
    exact: bool
    f1: float | None = None
    strict_exact: bool | None = None
    strict_ordered: bool | None = None
    label: str | None = None

    def faults(self, verdict: Verdict) -> Iterator[str]:
        """What the verdict says otherwise, a sentence each."""
        for name in ("exact", "strict_exact", "strict_ordered"):
            wanted, found = getattr(self, name), getattr(verdict, name)
            if wanted is not None and wanted != found:
                yield f"{self.kind}: {name} is {str(found).lower()}, and must be {str(wanted).lower()}."
        if self.f1 is not None and abs(verdict.f1 - self.f1) > 1e-9:
            yield f"{self.kind}: f1 is {verdict.f1:.4f}, and must be {self.f1:.4f}."
        if self.label is not None and self.label not in verdict.diagnosis:
            yield f"{self.kind}: the diagnosis {', '.join(verdict.diagnosis) or '(none)'} lacks {self.label}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A key that cannot be damaged in this way, and why."""

    kind: str
    reason: str


def damaged(key: Table) -> Iterator[Copy | Unfit]:
    """The twelve damaged copies."""
    for kind, maker in _DAMAGES.items():
        yield _made(kind, maker, key)


def harmless(key: Table, guards: frozenset[str]) -> Iterator[Copy | Unfit]:
    """The four copies that denote the key. ``guards``: names of the guards that fire on it, which forbid some."""
    for kind, (maker, guard) in _DISGUISES.items():
        if guard in guards:
            yield Unfit(kind=kind, reason=f"the guard {guard} fires on this key")
        else:
            yield _made(kind, maker, key)


def own_copy(key: Table) -> Answer:
    """The key as it would be handed in."""
    return Answer(columns=key.columns, rows=[tuple(map(lexical, row)) for row in key.rows])


_Maker = Callable[[Table], Copy | str]
_SAMPLE: Final = 20


def _made(kind: str, maker: _Maker, key: Table) -> Copy | Unfit:
    if not key.columns:
        return Unfit(kind=kind, reason="the key has no columns")
    made = maker(key)
    return Unfit(kind=kind, reason=made) if isinstance(made, str) else replace(made, kind=kind)


def _copy(answer: Answer, *, exact: bool, **expected: float | bool | str | None) -> Copy:
    return replace(Copy(kind="", submitted=write_answer(answer), exact=exact), **expected)  # type: ignore[arg-type]


def _f1(matched: int, wanted: int, given: int) -> float:
    return 2 * matched / (wanted + given)


def _lost_row(key: Table) -> Copy | str:
    if len(key) < 2:
        return "there are fewer than two rows"
    own = own_copy(key)
    f1 = _f1(len(key) - 1, len(key), len(key) - 1)
    return _copy(replace(own, rows=own.rows[:-1]), exact=False, f1=f1, label="truncated")


def _repeated_row(key: Table) -> Copy | str:
    if not key.rows:
        return "there is no row"
    own = own_copy(key)
    f1 = _f1(len(key), len(key), len(key) + 1)
    return _copy(replace(own, rows=[own.rows[0], *own.rows]), exact=False, f1=f1, label="duplicates")


def _invented_row(key: Table) -> Copy | str:
    own = own_copy(key)
    f1 = _f1(len(key), len(key), len(key) + 1)
    invented = (_unknown(key),) * len(key.columns)
    return _copy(replace(own, rows=[*own.rows, invented]), exact=False, f1=f1, label="superset")


def _changed_cell(key: Table) -> Copy | str:
    if not key.rows:
        return "there is no row"
    own = own_copy(key)
    changed = (*own.rows[-1][:-1], _unknown(key))
    f1 = _f1(len(key) - 1, len(key), len(key))
    return _copy(replace(own, rows=[*own.rows[:-1], changed]), exact=False, f1=f1)


def _reversed_rows(key: Table) -> Copy | str:
    own = own_copy(key)
    if own.rows == own.rows[::-1]:
        return "the rows are the same from the end"
    return _copy(replace(own, rows=own.rows[::-1]), exact=True, f1=1.0, strict_exact=True, strict_ordered=False)


def _added_column(key: Table) -> Copy | str:
    if not key.rows:
        return "there is no row"
    own = own_copy(key)
    name = next(f"added{n or ''}" for n in range(len(key.columns) + 1) if f"added{n or ''}" not in key.columns)
    wider = Answer(columns=(*own.columns, name), rows=[(*row, _unknown(key)) for row in own.rows])
    return _copy(wider, exact=False, f1=0.0, label="extra_columns")


def _lost_column(key: Table) -> Copy | str:
    if len(key.columns) < 2 or not key.rows:
        return "there are fewer than two columns, or no row"
    own = own_copy(key)
    narrower = Answer(columns=own.columns[:-1], rows=[row[:-1] for row in own.rows])
    return _copy(narrower, exact=False, f1=0.0, label="missing_columns")


def _swapped_columns(key: Table) -> Copy | str:
    """Two columns change places under their old names; one text at least must be foreign to where it goes."""
    own = own_copy(key)
    texts = list(zip(*own.rows, strict=True))
    for a in range(len(texts)):
        for b in range(a + 1, len(texts)):
            if any(canonical(text) is None and not _known(text, key, b) for text in texts[a][:_SAMPLE]):
                order = list(range(len(texts)))
                order[a], order[b] = b, a
                rows = [tuple(row[at] for at in order) for row in own.rows]
                return _copy(replace(own, rows=rows), exact=False, label="swapped_cells")
    return "no two columns hold texts that are foreign to each other"


def _emptied(key: Table) -> Copy | str:
    if not key.rows:
        return "there is no row"
    return _copy(replace(own_copy(key), rows=[]), exact=False, f1=0.0, label="empty")


def _torn(key: Table) -> Copy | str:
    whole = _copy(own_copy(key), exact=False, f1=0.0, label="malformed")
    return replace(whole, submitted=whole.submitted + b'"torn')


def _scaled_column(key: Table) -> Copy | str:
    own = own_copy(key)
    for at in range(len(key.columns)):
        cells = [cell for cell in key.column(at) if cell is not None]
        if all(map(_is_number, cells)) and any(value_of(cell.value) for cell in cells):
            rows = [(*row[:at], _times_thousand(row[at]), *row[at + 1 :]) for row in own.rows]
            return _copy(replace(own, rows=rows), exact=False, label="units")
    return "no column holds numbers alone"


def _other_namespace(key: Table) -> Copy | str:
    named = {cell for row in key.rows for cell in row if _has_name(cell)}
    if not named:
        return "no cell is an IRI with a local name"
    rows = [
        tuple(
            "elsewhere://invalid/" + local_name(cell.value) if cell and cell in named else lexical(cell) for cell in row
        )
        for row in key.rows
    ]
    matched = sum(not any(cell in named for cell in row) for row in key.rows)
    f1 = _f1(matched, len(key), len(key))
    return _copy(Answer(columns=key.columns, rows=rows), exact=False, f1=f1, label="iri_form")


def _renamed_columns(key: Table) -> Copy | str:
    own = own_copy(key)
    names = tuple(f"renamed {at}" for at in range(len(key.columns)))
    return _copy(Answer(columns=names, rows=[row[::-1] for row in own.rows]), exact=True, f1=1.0)


def _short_iris(key: Table) -> Copy | str:
    if not any(_has_name(cell) for row in key.rows for cell in row):
        return "no cell is an IRI with a local name"
    rows = [tuple(local_name(c.value) if c and _has_name(c) else lexical(c) for c in row) for row in key.rows]
    return _copy(Answer(columns=key.columns, rows=rows), exact=True, f1=1.0)


def _short_decimals(key: Table) -> Copy | str:
    if not any(_is_fraction(cell) for row in key.rows for cell in row):
        return "no cell is a decimal with a fraction"
    rows = [tuple(_four_digits(c.value) if c and _is_fraction(c) else lexical(c) for c in row) for row in key.rows]
    return _copy(Answer(columns=key.columns, rows=rows), exact=True, f1=1.0)


def _windows_text(key: Table) -> Copy | str:
    if any("\n" in lexical(cell) or "\r" in lexical(cell) for row in key.rows for cell in row):
        return "a cell holds a line break"
    plain = _copy(own_copy(key), exact=True, f1=1.0, strict_exact=True, strict_ordered=True)
    return replace(plain, submitted=b"\xef\xbb\xbf" + plain.submitted.replace(b"\n", b"\r\n"))


def _unknown(key: Table) -> str:
    """A text that stands nowhere in the key, in no spelling."""
    longest = max((len(lexical(cell)) for row in key.rows for cell in row), default=0)
    return "not in the key" + "!" * longest


def _known(text: str, key: Table, column: int) -> bool:
    """Whether a text might denote a cell of the column, judged generously."""
    folded = text.strip().casefold()
    return any(folded in lexical(cell).casefold() or lexical(cell).casefold() in folded for cell in key.column(column))


def _has_name(cell: Cell) -> bool:
    return cell is not None and cell.kind == "uri" and "://" in cell.value and bool(local_name(cell.value))


def _is_number(cell: Cell) -> bool:
    """By its type: a string that looks like a number may be an identifier, and those have no units."""
    return cell is not None and cell.datatype in NUMERIC and canonical(cell.value) is not None


def _is_fraction(cell: Cell) -> bool:
    if cell is None or cell.datatype not in {XSD + "decimal", XSD + "double", XSD + "float"}:
        return False
    return "e-" in (canonical(cell.value) or "")


def _four_digits(text: str) -> str:
    value = value_of(text)
    return text if value is None else f"{value:.3e}"


def _times_thousand(text: str) -> str:
    value = value_of(text)
    return text if value is None else f"{ARITHMETIC.multiply(value, Decimal(1000)):f}"


_DAMAGES: Final[dict[str, _Maker]] = {
    "lost row": _lost_row,
    "repeated row": _repeated_row,
    "invented row": _invented_row,
    "changed cell": _changed_cell,
    "reversed rows": _reversed_rows,
    "added column": _added_column,
    "lost column": _lost_column,
    "swapped columns": _swapped_columns,
    "emptied": _emptied,
    "torn": _torn,
    "scaled column": _scaled_column,
    "other namespace": _other_namespace,
}

_DISGUISES: Final[dict[str, tuple[_Maker, str | None]]] = {
    "renamed columns": (_renamed_columns, "assignment_budget"),
    "short IRIs": (_short_iris, "short_forms"),
    "short decimals": (_short_decimals, "snapping"),
    "Windows text": (_windows_text, None),
}

KINDS: Final = (*_DAMAGES, *_DISGUISES)
"""The names of the copies."""
