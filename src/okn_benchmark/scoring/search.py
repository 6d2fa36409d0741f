"""Branch and bound for the pairs of columns under which most rows match.

A node adds one pair. Its bound is the number of rows that match on the columns paired so far; a further pair can only
lose rows. Equal rows are one row with a weight. The narrower side gives the slots, so that an answer with a column too
many, or one too few, can be tried with the same search.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from okn_benchmark.scoring.readings import Readings
from okn_benchmark.scoring.rows import merged

MOST_NODES: Final = 200_000
_MOST_VISITS: Final = 1_000_000  # of rows: a node over many rows must not make the search long either
_MOST_READ: Final = 1_000_000  # of cells, under every column of the key
_WIDEST: Final = 100

Pair: TypeAlias = tuple[int, int]
"""A column of the key and a column of the answer."""


class _Rows(NamedTuple):
    """The rows still alive at a node, and the group each is in: equal on the columns paired so far."""

    at: list[int]
    group: list[int]


class _State(NamedTuple):
    want: _Rows
    have: _Rows


class _Weights(NamedTuple):
    """How often each distinct row occurs; None where each occurs once."""

    want: list[int] | None = None
    have: list[int] | None = None


_ONCE: Final = _Weights()


class _Coded(NamedTuple):
    """The codes of the distinct rows of both sides, from 1; 0 matches nothing, and all are below ``span``."""

    want: list[int]
    have: list[int]
    span: int


@dataclass(slots=True)
class Search:
    """Look for more than ``best`` matching rows, up to ``goal``.

    A first pass asks only whether the goal can be met, which decides fast, for a pair that loses a row is out. A second
    pass looks for the best there is.

    After ``run``: ``pairs`` is None if there was nothing better, else one pair per slot in the order of the key's
    columns; ``best`` is how many rows match under it; ``exhausted`` says the budget ended first.
    """

    readings: Readings
    best: int
    goal: int
    pairs: tuple[Pair, ...] | None = None
    exhausted: bool = False
    _floor: int = 0
    _nodes: int = MOST_NODES
    _visits: int = 0
    _wanted: list[tuple[int, ...]] = field(default_factory=list)
    _given: list[int] = field(default_factory=list)
    _weights: _Weights = _ONCE
    _codes: dict[Pair, _Coded | None] = field(default_factory=dict)
    _slots: list[list[Pair]] = field(default_factory=list)

    def run(self) -> None:
        """Search until the goal is met, nothing better is left, or the budget is spent."""
        key, columns = self.readings.key, self.readings.columns
        if max(len(key), len(columns)) > _WIDEST:
            self.exhausted = True
            return
        if self.best >= self.goal:
            return
        wanted = Counter(zip(*(column.classes for column in key), strict=True))
        given: dict[tuple[str, ...], list[int]] = {}
        for at, row in enumerate(zip(*columns, strict=True)):
            given.setdefault(row, []).append(at)
        self._wanted = list(wanted)
        self._given = [rows[0] for rows in given.values()]
        self._weights = _Weights(
            list(wanted.values()) if len(wanted) < wanted.total() else None,
            [len(rows) for rows in given.values()] if len(given) < len(columns[0]) else None,
        )
        self._pass(self.goal - 1)
        if self.pairs is None and self.best < self.goal - 1:
            self._pass(self.best)

    def _pass(self, floor: int) -> None:
        """One search for more than ``floor`` matching rows, with a budget of its own."""
        self._floor, self.exhausted = floor, False
        self._codes = {pair: coded for pair, coded in self._codes.items() if coded is not None}
        wanted, given = len(self._wanted), len(self._given)
        # Enough for one dive over the whole table, however large; from there on the budget is a constant.
        self._visits = _MOST_VISITS + 2 * min(len(self.readings.key), len(self.readings.columns)) * (wanted + given)
        slots = self._ranked()
        if slots is not None:
            self._slots = slots
            self._extend((), self._everything(), self.goal)

    def _everything(self) -> _State:
        wanted, given = len(self._wanted), len(self._given)
        return _State(_Rows(list(range(wanted)), [0] * wanted), _Rows(list(range(given)), [0] * given))

    def _ranked(self) -> list[list[Pair]] | None:
        """For each slot its pairs, the likeliest first; slots with the fewest likely pairs first. None: hopeless."""
        wants, haves = range(len(self.readings.key)), range(len(self.readings.columns))
        slots = (
            [[(want, have) for have in haves] for want in wants]
            if len(wants) <= len(haves)
            else [[(want, have) for want in wants] for have in haves]
        )
        small = len(wants) * len(haves) * len(self._given) <= _MOST_READ
        measured = small or self._floor == self.goal - 1
        every = self._everything()
        ranked = []
        for pairs in slots:
            bounds = {pair: self._total(every, pair) if measured else self._promise(pair) for pair in pairs}
            likely = [pair for pair in pairs if bounds[pair] > self._floor]
            if not likely:
                return None  # every assignment needs a pair for this slot, so none can beat the floor
            ranked.append(sorted(likely, key=partial(_rank, bounds)))
        return sorted(ranked, key=len)

    def _promise(self, pair: Pair) -> int:
        """In place of the total, where that means much reading: never too small, and more where it is likelier."""
        return self.goal + self.readings.promise(*pair)

    def _extend(self, chosen: tuple[Pair, ...], state: _State, bound: int) -> None:
        if len(chosen) == len(self._slots):
            self._arrive(tuple(sorted(chosen)), bound)
            return
        later: list[tuple[int, Pair]] = []
        for pair in self._open(chosen):
            if self._spent(state):
                return
            total = self._total(state, pair)
            if total > self._floor and (total == bound or not later):
                # It lost no row, so no sibling can do better; or it is the likeliest, and a quick dive gives a bound.
                self._extend((*chosen, pair), self._narrow(state, pair), total)
            elif total > self._floor:
                later.append((total, pair))
        for total, pair in sorted(later, key=lambda child: -child[0]):
            if self._floor < total and not self._over():
                self._extend((*chosen, pair), self._narrow(state, pair), total)

    def _open(self, chosen: Sequence[Pair]) -> Iterator[Pair]:
        wants, haves = {want for want, _ in chosen}, {have for _, have in chosen}
        return (pair for pair in self._slots[len(chosen)] if pair[0] not in wants and pair[1] not in haves)

    def _arrive(self, pairs: tuple[Pair, ...], bound: int) -> None:
        matched = bound
        if any(self.readings.key[want].several for want, _ in pairs) and len(pairs) == len(self.readings.key):
            matched = self.readings.overlap(tuple(have for _, have in pairs))
        if matched > self.best:
            self.best, self.pairs = matched, pairs
            self._floor = max(self._floor, matched)

    def _over(self) -> bool:
        return self.exhausted or self.best >= self.goal

    def _spent(self, state: _State) -> bool:
        if self._over():
            return True
        self._nodes -= 1
        self._visits -= len(state.want.at) + len(state.have.at)
        self.exhausted = self._nodes < 0 or self._visits < 0
        return self.exhausted

    def _total(self, state: _State, pair: Pair) -> int:
        """How many rows still match when a pair is added: a bound for all that follows."""
        coded = self._coded(pair)
        if coded is None:
            return 0
        want = _counted(_keys(state.want, coded.want, coded.span), state.want.at, self._weights.want)
        have = _counted(_keys(state.have, coded.have, coded.span), state.have.at, self._weights.have)
        if len(want) > len(have):
            want, have = have, want
        return sum(min(count, have.get(key, 0)) for key, count in want.items())

    def _narrow(self, state: _State, pair: Pair) -> _State:
        """The rows that still match, grouped by what they are equal in."""
        coded = self._coded(pair)
        assert coded is not None
        want_keys = _keys(state.want, coded.want, coded.span)
        have_keys = _keys(state.have, coded.have, coded.span)
        groups = {key: group for group, key in enumerate(set(want_keys) & set(have_keys))}
        return _State(_kept(state.want, want_keys, groups), _kept(state.have, have_keys, groups))

    def _coded(self, pair: Pair) -> _Coded | None:
        """The distinct rows of both sides in a pair of columns; None for a pair that cannot beat the floor.

        In a column of mixed kinds, classes that one text may stand for count as one: the bound stays a bound.
        """
        if pair not in self._codes:
            codes = self.readings.known(*pair, self._floor + 1)
            self._codes[pair] = None
            if codes is not None:
                several = self.readings.key[pair[0]].several
                want = [code + 1 for code in merged([row[pair[0]] for row in self._wanted], several)]
                have = [code + 1 for code in merged([codes[at] for at in self._given], several)]
                self._codes[pair] = _Coded(want, have, max(want) + 1)
        return self._codes[pair]


def _rank(bounds: Mapping[Pair, int], pair: Pair) -> tuple[int, bool]:
    """The likeliest first; of equals the one in the answer's own place."""
    return -bounds[pair], pair[0] != pair[1]


def _keys(rows: _Rows, codes: Sequence[int], span: int) -> list[int]:
    """Group and code of each row as one number."""
    return [group * span + codes[at] for at, group in zip(rows.at, rows.group, strict=True)]


def _counted(keys: Sequence[int], rows: Sequence[int], weights: Sequence[int] | None) -> Mapping[int, int]:
    if weights is None:
        return Counter(keys)
    counts: dict[int, int] = {}
    for key, row in zip(keys, rows, strict=True):
        counts[key] = counts.get(key, 0) + weights[row]
    return counts


def _kept(rows: _Rows, keys: Sequence[int], groups: Mapping[int, int]) -> _Rows:
    kept = [(at, groups[key]) for at, key in zip(rows.at, keys, strict=True) if key in groups]
    return _Rows([at for at, _ in kept], [group for _, group in kept])
