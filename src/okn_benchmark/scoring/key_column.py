"""The two readings of a reference column: text by text, and each cell by the rule for its kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from okn_benchmark.scoring.cells import (
    NOTHING,
    TRUTHS,
    lexical,
    literal_key,
    number_of,
    plain_text,
    undecorated,
)
from okn_benchmark.scoring.iri import IriRule
from okn_benchmark.scoring.moment import date_key, moment_key
from okn_benchmark.scoring.number import NumberRule, named_number
from okn_benchmark.scoring.settings import Guard, Settings, shown
from okn_benchmark.table import Cell

_PIECE: Final = 1_024
_LONG: Final = 200
_REMEMBERED: Final = 2_000  # short texts; more would cost memory on large answers, where hardly one comes twice

_Finder: TypeAlias = Callable[[str], Sequence[str]]


class StrictColumn:
    """The strict tier: a text is itself."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.texts = ["" if cell is None else cell.value if cell.kind != "bnode" else lexical(cell) for cell in cells]
        self._ids: dict[str, int] | None = None
        self._classes: list[int] | None = None
        self.several: Sequence[tuple[int, ...]] = ()
        self.mixed = False

    @property
    def classes(self) -> list[int]:
        """The class of each reference row."""
        if self._classes is None:
            self._classes = list(map(self._numbered().__getitem__, self.texts))
        return self._classes

    def _numbered(self) -> dict[str, int]:
        if self._ids is None:
            self._ids = {text: at for at, text in enumerate(dict.fromkeys(self.texts))}
        return self._ids

    def read(self, texts: Sequence[str]) -> list[int]:
        """The class of each text, or `NOTHING`."""
        find = self._numbered().get
        return [find(text, NOTHING) for text in texts]


class KeyColumn:
    """The normalized tier: each reference cell by the rule for its kind.

    Args:
        name: of the column, for guards.
        cells: its reference cells, top to bottom.
        settings: digits and tolerance.
    """

    def __init__(self, name: str, cells: Sequence[Cell], settings: Settings) -> None:
        self._cells = cells
        self._distinct = distinct = list(dict.fromkeys(cells))
        iris = [cell.value for cell in distinct if cell is not None and cell.kind == "uri"]
        self._iris = IriRule(name, iris) if iris else None
        self._numbers = NumberRule(name, self._numeric_of, settings) if any(map(number_of, distinct)) else None
        self.guards = tuple(self._guards(name, distinct))
        self.several: list[tuple[int, ...]] = []
        self._several_codes: dict[tuple[int, ...], int] = {}
        self._reading: _Reading | None = None

    def _numeric_of(self) -> Iterator[tuple[str, bool]]:
        """The distinct numbers of the column, one by one: a guard is often settled by the first of them."""
        return (number for cell in self._distinct if (number := number_of(cell)) is not None)

    @property
    def classes(self) -> list[int]:
        """The class of each reference row."""
        return self._ready().classes

    def _ready(self) -> "_Reading":
        """What reading needs, made when something is read: an answer equal text by text asks only for the guards."""
        if self._reading is None:
            tags: set[str] = set()
            ids: dict[str, int] = {}
            numbered: dict[Cell, int] = {}
            distinct = self._distinct
            numeric: dict[Cell, tuple[str, bool]] = {}
            if self._numbers is not None:
                numeric = {cell: number for cell in distinct if (number := number_of(cell)) is not None}
                self._numbers.prepare(numeric.values())
            for cell in distinct:
                key = self._key(cell, numeric.get(cell))
                tags.add(key[0])
                numbered[cell] = ids.setdefault(key, len(ids))
            readers = list(self._readers(tags))
            self._reading = _Reading(
                ids=ids,
                # Unbound meets another kind only in the empty string.
                mixed=len(tags - {"0"}) > 1 or ("0" in tags and "t" in ids),
                classes=list(map(numbered.__getitem__, self._cells)),
                finders=[find for find, _ in readers],
                literal_finders=[find for find, decorated in readers if decorated],
            )
            self._reading.known = self._as_given(self._reading, numbered)
            self._reading.room = len(self._reading.known) + _REMEMBERED
        return self._reading

    @property
    def mixed(self) -> bool:
        """Whether a text may stand for several classes here."""
        return self._ready().mixed

    def read(self, texts: Sequence[str]) -> list[int]:
        """The code of each text: one dictionary look-up for those printed as the key prints them."""
        reading, one, codes = self._ready(), self._read, cast("list[int]", [])
        for start in range(0, len(texts), _PIECE):  # piece by piece, so that what is remembered helps the rest
            piece = texts[start : start + _PIECE]
            found = list(map(reading.known.get, piece))
            if None in found:
                codes += [one(text, reading) if code is None else code for text, code in zip(piece, found, strict=True)]
            else:
                codes += cast("list[int]", found)
        return codes

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
        return literal_key(cell)

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

    def _as_given(self, reading: "_Reading", numbered: dict[Cell, int]) -> dict[str, int]:
        """The code of each text that the key itself prints."""
        if not reading.mixed:
            return {lexical(cell): number for cell, number in numbered.items()}
        return {text: self._find(text, reading.ids, reading.finders) for text in map(lexical, numbered)}

    def _read(self, text: str, reading: "_Reading") -> int:
        """The code of a text that was not seen before; a few are remembered for the next column or answer."""
        code = self._find(text, reading.ids, reading.finders)
        if code == NOTHING and text.startswith('"'):
            inner = undecorated(text)
            if inner is not None:
                code = self._find(inner, reading.ids, reading.literal_finders)
        if len(reading.known) < reading.room and len(text) < _LONG:
            reading.known[text] = code
        return code

    def _find(self, text: str, ids: Mapping[str, int], finders: Iterable[_Finder]) -> int:
        found = NOTHING
        for find in finders:
            for key in find(text):
                number = ids.get(key, NOTHING)
                if found == NOTHING:
                    found = number
                elif number not in (NOTHING, found):
                    return self._several_code({ids[key] for find in finders for key in find(text) if key in ids})
        return found

    def _several_code(self, found: set[int]) -> int:
        classes = tuple(sorted(found))
        code = self._several_codes.setdefault(classes, -2 - len(self.several))
        if code == -2 - len(self.several):
            self.several.append(classes)
        return code

    def _readers(self, tags: AbstractSet[str]) -> Iterator[tuple[_Finder, bool]]:
        """How a text is read in a column of these kinds, and whether a decorated one is read so too."""
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


@dataclass(slots=True, kw_only=True)
class _Reading:
    """The classes of a column by key and by printed text, and the ways to read a text that the key does not print."""

    ids: dict[str, int]
    mixed: bool
    classes: list[int]
    finders: list[_Finder]
    literal_finders: list[_Finder]
    known: dict[str, int] = field(default_factory=dict)
    room: int = 0


def _unbound_keys(text: str) -> Sequence[str]:
    return () if text else ("0",)


def _blank_keys(text: str) -> Sequence[str]:
    return ("_" + text.removeprefix("_:"),)


def _named_keys(text: str) -> Sequence[str]:
    named = named_number(text)
    return () if named is None else ("n" + named,)


def _truth_keys(text: str) -> Sequence[str]:
    return (TRUTHS.get(text.lower(), "b?"),) if len(text) < 6 else ()


def _moment_keys(text: str) -> Sequence[str]:
    moment = date_key(text) or moment_key(text)
    return () if moment is None else ("m" + moment,)


def _text_keys(text: str) -> Sequence[str]:
    return ("t" + plain_text(text),)
