"""One reference column: what kind each of its cells is, and which of them a submitted text may stand for.

Equal cells form a class, and a class is a small integer. Reading a text gives the class it stands for, `NOTHING`, or,
in a column of mixed kinds, a negative code for several classes: ``5`` is the integer 5 and the string "5" alike, while
``5.0`` is only the integer. Everything above this module compares integers.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias, cast

from okn_benchmark.scoring.iri import IriRule
from okn_benchmark.scoring.moment import date_key, moment_key
from okn_benchmark.scoring.number import NumberRule, canonical, named_number, plain_number
from okn_benchmark.scoring.settings import Guard, Settings, shown
from okn_benchmark.table import XSD, Cell, Term

NOTHING: Final = -1
_LONG: Final = 200
_REMEMBERED: Final = 2_000  # short texts; more would cost memory on large answers, where hardly one comes twice

_Finder: TypeAlias = Callable[[str], Sequence[str]]

_EXACT: Final = frozenset(
    XSD + name
    for name in (
        "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
        "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte",
    )
)  # fmt: skip
_BINARY: Final = frozenset({XSD + "double", XSD + "float"})
_TOLERANT: Final = _BINARY | {XSD + "decimal"}
NUMERIC: Final = _EXACT | _TOLERANT
"""The datatypes whose literals are numbers."""

_MOMENTS: Final = {XSD + "date": date_key, XSD + "dateTime": moment_key, XSD + "dateTimeStamp": moment_key}
_TRUTHS: Final = {"true": "btrue", "1": "btrue", "false": "bfalse", "0": "bfalse"}
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


class StrictColumn:
    """The strict tier: a text is itself."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._ids: dict[str, int] = {}
        self.classes = [self._ids.setdefault(lexical(cell), len(self._ids)) for cell in cells]
        self.several: Sequence[tuple[int, ...]] = ()
        self.mixed = False

    def read(self, texts: Sequence[str]) -> list[int]:
        """The class of each text, or `NOTHING`."""
        find = self._ids.get
        return [find(text, NOTHING) for text in texts]


class KeyColumn:
    """The normalized tier: each reference cell by the rule for its kind.

    Args:
        name: of the column, for guards.
        cells: its reference cells, top to bottom.
        settings: digits and tolerance.
    """

    def __init__(self, name: str, cells: Sequence[Cell], settings: Settings) -> None:
        distinct = dict.fromkeys(cells)
        numbers = {cell: number for cell in distinct if (number := _number(cell)) is not None}
        iris = [cell.value for cell in distinct if cell is not None and cell.kind == "uri"]
        self._numbers = NumberRule(name, numbers.values(), settings) if numbers else None
        self._iris = IriRule(name, iris) if iris else None
        self._ids: dict[str, int] = {}
        self._tags: set[str] = set()
        self.several: list[tuple[int, ...]] = []
        self._several_codes: dict[tuple[int, ...], int] = {}
        classes = {cell: self._enter(self._key(cell, numbers.get(cell))) for cell in distinct}
        self.classes = list(map(classes.__getitem__, cells))
        self.guards = tuple(self._guards(name, distinct))
        readers = list(self._readers())
        self._finders = [find for find, _ in readers]
        self._literal_finders = [find for find, decorated in readers if decorated]
        self._known = self._as_given(classes)
        self._room = len(self._known) + _REMEMBERED

    @property
    def mixed(self) -> bool:
        """Whether a text may stand for several classes here. Unbound meets another kind only in the empty string."""
        return len(self._tags - {"0"}) > 1 or ("0" in self._tags and "t" in self._ids)

    def read(self, texts: Sequence[str]) -> list[int]:
        """The code of each text: one dictionary look-up for those printed as the key prints them."""
        codes = list(map(self._known.get, texts))
        if None in codes:
            return [self._read(text) if code is None else code for text, code in zip(texts, codes, strict=True)]
        return cast("list[int]", codes)

    def _enter(self, key: str) -> int:
        self._tags.add(key[0])
        return self._ids.setdefault(key, len(self._ids))

    def _key(self, cell: Cell, number: tuple[str, bool] | None) -> str:
        """The class of a reference cell; the first letter is its kind."""
        if cell is None:
            return "0"
        if cell.kind == "uri" and self._iris is not None:
            return self._iris.key(cell.value)
        if cell.kind == "bnode":
            return "_" + cell.value.removeprefix("_:")
        if number is not None and self._numbers is not None:
            return self._numbers.key(number[0], tolerant=number[1])
        return _literal_key(cell)

    def _guards(self, name: str, distinct: Iterable[Cell]) -> Iterator[Guard]:
        for rule in (self._iris, self._numbers):
            if rule is not None and rule.guard is not None:
                yield rule.guard
        blank = next((cell for cell in distinct if cell is not None and cell.kind == "bnode"), None)
        if blank is not None:
            yield Guard(
                guard="blank_nodes",
                column=name,
                reason=f"{shown(lexical(blank))} is a blank node: its label is compared, though no engine promises it.",
            )

    def _as_given(self, classes: dict[Cell, int]) -> dict[str, int]:
        """The code of each text that the key itself prints."""
        if not self.mixed:
            return {lexical(cell): number for cell, number in classes.items()}
        return {text: self._find(text, self._finders) for text in map(lexical, classes)}

    def _read(self, text: str) -> int:
        """The code of a text that was not seen before; a few are remembered for the next column or answer."""
        code = self._find(text, self._finders)
        if code == NOTHING and text.startswith('"'):
            inner = undecorated(text)
            if inner is not None:
                code = self._find(inner, self._literal_finders)
        if len(self._known) < self._room and len(text) < _LONG:
            self._known[text] = code
        return code

    def _find(self, text: str, finders: Iterable[_Finder]) -> int:
        found = NOTHING
        for find in finders:
            for key in find(text):
                number = self._ids.get(key, NOTHING)
                if found == NOTHING:
                    found = number
                elif number not in (NOTHING, found):
                    return self._several_code(
                        {self._ids[key] for find in finders for key in find(text) if key in self._ids}
                    )
        return found

    def _several_code(self, found: set[int]) -> int:
        classes = tuple(sorted(found))
        code = self._several_codes.setdefault(classes, -2 - len(self.several))
        if code == -2 - len(self.several):
            self.several.append(classes)
        return code

    def _readers(self) -> Iterator[tuple[_Finder, bool]]:
        """How a text is read in a column of these kinds, and whether a decorated one is read so too."""
        tags = self._tags
        if "0" in tags:
            yield _unbound_keys, False
        if self._iris is not None:
            yield self._iris.keys, False
        if "_" in tags:
            yield _blank_keys, False
        if self._numbers is not None:
            yield self._numbers.keys, True
        for tag, find in (("n", _named_keys), ("b", _truth_keys), ("m", _moment_keys), ("t", _text_keys)):
            if tag in tags:
                yield find, True


def _unbound_keys(text: str) -> Sequence[str]:
    return () if text else ("0",)


def _blank_keys(text: str) -> Sequence[str]:
    return ("_" + text.removeprefix("_:"),)


def _named_keys(text: str) -> Sequence[str]:
    named = named_number(text)
    return () if named is None else ("n" + named,)


def _truth_keys(text: str) -> Sequence[str]:
    return (_TRUTHS.get(text.lower(), "b?"),) if len(text) < 6 else ()


def _moment_keys(text: str) -> Sequence[str]:
    moment = date_key(text) or moment_key(text)
    return () if moment is None else ("m" + moment,)


def _text_keys(text: str) -> Sequence[str]:
    return ("t" + plain_text(text),)


def _number(cell: Cell) -> tuple[str, bool] | None:
    """The canonical number of a numeric reference cell, and whether engines print its type differently."""
    if cell is None or cell.kind != "literal" or cell.language:
        return None
    if cell.datatype in _EXACT or cell.datatype in _TOLERANT:
        number = canonical(cell.value)
        return None if number is None else (number, cell.datatype in _TOLERANT)
    if cell.datatype in {"", XSD + "string"}:
        number = plain_number(cell.value)
        return None if number is None else (number, "." in cell.value)
    return None


def _literal_key(cell: Term) -> str:
    """The class of a literal that is no number."""
    if cell.datatype in _BINARY and (named := named_number(cell.value)) is not None:
        return "n" + named
    if cell.datatype == XSD + "boolean" and (truth := _TRUTHS.get(cell.value.lower())) is not None:
        return truth
    if cell.datatype in _MOMENTS and (moment := _MOMENTS[cell.datatype](cell.value)) is not None:
        return "m" + moment
    return "t" + plain_text(cell.value)
