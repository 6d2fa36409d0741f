"""Rows as multisets: how many rows of an answer find a row of their own in the key, and whether in the same order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final, TypeAlias

from okn_benchmark.scoring.cells import NOTHING, Classes

Codes: TypeAlias = Sequence[Sequence[int]]
"""One list of codes per reference column."""

Reading: TypeAlias = tuple[int, ...]
_Paths: TypeAlias = dict[Reading, tuple[Reading, Reading | None]]

_MOST_STEPS: Final = 200_000
_MOST_READINGS: Final = 4_096  # of one row; more would take five columns of six kinds each


def is_ordered(columns: Sequence[Classes], got: Codes) -> bool:
    """Whether the answer's rows are the key's rows in the key's order."""
    return all(same_sequence(column, codes) for column, codes in zip(columns, got, strict=True))


def same_sequence(column: Classes, got: Sequence[int]) -> bool:
    """Whether a column of the answer matches a reference column row by row."""
    if len(column.classes) != len(got):
        return False
    several = column.several
    if not several:
        return column.classes == got
    return all(
        want == code or (code < NOTHING and want in several[-2 - code])
        for want, code in zip(column.classes, got, strict=True)
    )


def overlap(columns: Sequence[Classes], got: Codes) -> int:
    """How many rows of the answer match, each with a row of the key of its own: the largest such number.

    A row whose cells stand for one class each has one place to go, so those go first; what is left is a small
    matching problem between rows of several readings.
    """
    if any(codes.count(NOTHING) == len(codes) for codes in got):
        return 0
    left = Counter(zip(*(column.classes for column in columns), strict=True))
    several = [column.several for column in columns]
    open_rows: Counter[Reading] = Counter()
    matched = 0
    for row in zip(*got, strict=True):
        if left.get(row, 0):
            left[row] -= 1
            matched += 1
        elif any(several) and min(row) < NOTHING and NOTHING not in row:
            open_rows[row] += 1
    if not open_rows:
        return matched
    places = {row: [reading for reading in readings(row, several) if left.get(reading, 0)] for row in open_rows}
    return matched + _Flow(left=left, places=places).total(open_rows)


def readings(row: Sequence[int], several: Sequence[Sequence[Reading]]) -> Iterator[Reading]:
    """The reference rows that a row of codes may stand for, at most a few thousand."""
    choices = [several[at][-2 - code] if code < NOTHING else (code,) for at, code in enumerate(row)]
    for count, reading in enumerate(product(*choices)):
        if count >= _MOST_READINGS:
            return
        yield reading


def merged(codes: Sequence[int], several: Sequence[Reading]) -> list[int]:
    """Codes with all classes that one text may stand for counted as one: coarser than the truth, never finer."""
    if not several:
        return list(codes)
    joined = _joined(several)
    first = (several[-2 - code][0] if code < NOTHING else code for code in codes)
    return [joined.get(code, code) for code in first]


def _joined(several: Sequence[Reading]) -> dict[int, int]:
    """Each class that shares a text with another → one representative of all that hang together."""
    parent: dict[int, int] = {}

    def root(item: int) -> int:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for classes in several:
        for other in classes[1:]:
            parent[root(other)] = root(classes[0])
    return {item: root(item) for item in list(parent)}


@dataclass(slots=True)
class _Flow:
    """A maximum flow from rows with several readings (each with its count) to the rows of the key that are left."""

    left: Counter[Reading]
    places: dict[Reading, list[Reading]]
    holders: dict[Reading, Counter[Reading]] = field(default_factory=dict)
    steps: int = _MOST_STEPS

    def total(self, wanted: Counter[Reading]) -> int:
        """How many of the wanted rows find a place."""
        return sum(self._settle(row, count) for row, count in wanted.items())

    def _settle(self, row: Reading, count: int) -> int:
        settled = 0
        while settled < count and (pushed := self._push(row, count - settled)):
            settled += pushed
        return settled

    def _push(self, start: Reading, wanted: int) -> int:
        """Send rows along one augmenting path, breadth first; how many went."""
        came_from: _Paths = {}
        queue: list[tuple[Reading, Reading | None]] = [(start, None)]
        for row, held in queue:
            for place in self.places[row]:
                if place in came_from:
                    continue
                came_from[place] = (row, held)
                if self.left[place]:
                    return self._shift(place, wanted, came_from)
                self.steps -= 1
                if self.steps > 0:  # beyond the budget rows only take places that are free
                    queue += [(holder, place) for holder, count in self.holders[place].items() if count]
        return 0

    def _shift(self, place: Reading, wanted: int, came_from: _Paths) -> int:
        path = [place]
        amount = min(wanted, self.left[place])
        while (held := came_from[path[-1]][1]) is not None:
            amount = min(amount, self.holders[held][came_from[path[-1]][0]])
            path.append(held)
        self.left[place] -= amount
        for taken in path:
            row, held = came_from[taken]
            self.holders.setdefault(taken, Counter())[row] += amount
            if held is not None:
                self.holders[held][row] -= amount
        return amount
