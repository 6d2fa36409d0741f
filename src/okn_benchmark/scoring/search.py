"""Branch and bound for the pairs of columns under which most rows match.

A node adds one pair. Its bound is the number of rows that match on the columns paired so far; a further pair can only
lose rows. Equal rows are one row with a weight. The narrower side gives the slots, so that an answer with a column too
many, or one too few, can be tried with the same search.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from okn_benchmark.scoring.readings import Readings
from okn_benchmark.scoring.rows import merged

MOST_NODES: Final = 200_000
_MOST_VISITS: Final = 5_000_000  # of rows: a node over many rows must not make the search long either
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


@dataclass(slots=True)
class Search:
    """Look for more than ``best`` matching rows, up to ``goal``.

    After ``run``: ``pairs`` is None if there was nothing better, else one pair per slot in the order of the key's
    columns; ``best`` is how many rows match under it; ``exhausted`` says the budget ended first.
    """

    readings: Readings
    best: int
    goal: int
    pairs: tuple[Pair, ...] | None = None
    exhausted: bool = False
    _nodes: int = MOST_NODES
    _visits: int = _MOST_VISITS
    _wanted: list[tuple[int, ...]] = field(default_factory=list)
    _given: list[int] = field(default_factory=list)
    _weights: _State = field(default_factory=lambda: _State(_Rows([], []), _Rows([], [])))
    _codes: dict[Pair, tuple[list[int], list[int]] | None] = field(default_factory=dict)
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
        given = Counter(zip(*columns, strict=True))
        self._wanted = list(wanted)
        first = dict(zip(reversed(list(zip(*columns, strict=True))), range(len(columns[0]) - 1, -1, -1), strict=True))
        self._given = [first[row] for row in given]
        self._weights = _State(_Rows(list(wanted.values()), []), _Rows(list(given.values()), []))
        # Enough for one dive over the whole table, however large; from there on the budget is a constant.
        self._visits += 2 * min(len(key), len(columns)) * (len(wanted) + len(given))
        self._slots = self._ranked()
        every = _State(
            _Rows(list(range(len(wanted))), [0] * len(wanted)), _Rows(list(range(len(given))), [0] * len(given))
        )
        self._extend((), every, min(wanted.total(), given.total()))

    def _ranked(self) -> list[list[Pair]]:
        """For each slot its pairs, the likeliest first; slots with the fewest likely pairs first."""
        wide, narrow = range(len(self.readings.key)), range(len(self.readings.columns))
        slots = (
            [[(want, have) for have in narrow] for want in wide]
            if len(wide) <= len(narrow)
            else [[(want, have) for want in wide] for have in narrow]
        )
        promise = {pair: self.readings.promise(*pair) for pairs in slots for pair in pairs}
        ranked = [sorted(pairs, key=lambda pair: (-promise[pair], pair[0] != pair[1])) for pairs in slots]
        return sorted(ranked, key=lambda pairs: sum(promise[pair] > 0 for pair in pairs))

    def _extend(self, chosen: tuple[Pair, ...], state: _State, bound: int) -> None:
        if len(chosen) == len(self._slots):
            self._arrive(tuple(sorted(chosen)), bound)
            return
        later: list[tuple[int, Pair, _State]] = []
        for pair in self._open(chosen):
            if self._spent(state):
                return
            total, narrowed = self._narrow(state, pair)
            if total > self.best and (total == bound or not later):
                # It lost no row, so no sibling can do better; or it is the likeliest, and a quick dive gives a bound.
                self._extend((*chosen, pair), narrowed, total)
            elif total > self.best:
                later.append((total, pair, narrowed))
        for total, pair, narrowed in sorted(later, key=lambda child: -child[0]):
            if self.best < total and not self._over():
                self._extend((*chosen, pair), narrowed, total)

    def _open(self, chosen: Sequence[Pair]) -> Iterator[Pair]:
        wants, haves = {want for want, _ in chosen}, {have for _, have in chosen}
        return (pair for pair in self._slots[len(chosen)] if pair[0] not in wants and pair[1] not in haves)

    def _arrive(self, pairs: tuple[Pair, ...], bound: int) -> None:
        matched = bound
        if any(self.readings.key[want].several for want, _ in pairs) and len(pairs) == len(self.readings.key):
            matched = self.readings.overlap(tuple(have for _, have in pairs))
        if matched > self.best:
            self.best, self.pairs = matched, pairs

    def _over(self) -> bool:
        return self.exhausted or self.best >= self.goal

    def _spent(self, state: _State) -> bool:
        if self._over():
            return True
        self._nodes -= 1
        self._visits -= len(state.want.at) + len(state.have.at)
        self.exhausted = self._nodes < 0 or self._visits < 0
        return self.exhausted

    def _narrow(self, state: _State, pair: Pair) -> tuple[int, _State]:
        """The rows that still match when a pair is added, and how many they are."""
        coded = self._coded(pair)
        if coded is None:
            return 0, _State(_Rows([], []), _Rows([], []))
        want_codes, have_codes = coded
        groups: dict[tuple[int, int], int] = {}
        wanted = [groups.setdefault((g, want_codes[k]), len(groups)) for k, g in zip(*state.want, strict=True)]
        weight = [0] * len(groups)
        found = [0] * len(groups)
        for k, group in zip(state.want.at, wanted, strict=True):
            weight[group] += self._weights.want.at[k]
        have = _Rows([], [])
        for k, g in zip(*state.have, strict=True):
            into = groups.get((g, have_codes[k]))
            if into is not None:
                found[into] += self._weights.have.at[k]
                have.at.append(k)
                have.group.append(into)
        kept = [(k, group) for k, group in zip(state.want.at, wanted, strict=True) if found[group]]
        want = _Rows([k for k, _ in kept], [group for _, group in kept])
        return sum(map(min, weight, found)), _State(want, have)

    def _coded(self, pair: Pair) -> tuple[list[int], list[int]] | None:
        """The codes of the distinct rows of both sides in a pair of columns; None for one that cannot beat the best.

        In a column of mixed kinds, classes that one text may stand for count as one: the bound stays a bound.
        """
        if pair not in self._codes:
            codes = self.readings.known(*pair, self.best + 1)
            several = self.readings.key[pair[0]].several
            self._codes[pair] = (
                None
                if codes is None
                else (
                    merged([row[pair[0]] for row in self._wanted], several),
                    merged([codes[at] for at in self._given], several),
                )
            )
        return self._codes[pair]
