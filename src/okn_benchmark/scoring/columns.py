"""Which column of the answer stands for which column of the key: by name, or by one assignment for the whole table.

A sort inside each row would be simpler and wrong: a table that swaps source and target in some rows would pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from okn_benchmark.scoring.cells import NOTHING
from okn_benchmark.scoring.readings import Order, Readings
from okn_benchmark.scoring.rows import same_sequence
from okn_benchmark.scoring.search import Search


def by_name(wanted: Sequence[str], given: Sequence[str]) -> Order | None:
    """The order of equal names; None unless both sides have the same names, each once. A leading ``?`` is nothing."""
    want = [name.removeprefix("?") for name in wanted]
    have = [name.removeprefix("?") for name in given]
    if len(want) != len(have) or len(set(want)) != len(want) or set(want) != set(have):
        return None
    at = {name: index for index, name in enumerate(have)}
    return tuple(at[name] for name in want)


def in_order(readings: Readings) -> Order | None:
    """An assignment under which the rows match one by one, if there is any: columns matched as whole sequences."""
    width = len(readings.key)
    fits = [[have for have in range(width) if _same_column(readings, want, have)] for want in range(width)]
    owner: dict[int, int] = {}
    for want in range(width):
        if not _claim(want, fits, owner, set()):
            return None
    order = [0] * width
    for have, want in owner.items():
        order[want] = have
    return tuple(order)


def _same_column(readings: Readings, want: int, have: int) -> bool:
    column, texts = readings.key[want], readings.columns[have]
    first = column.read(texts[:8])
    if any(code == NOTHING for code in first) or (not column.several and first != column.classes[:8]):
        return False
    return same_sequence(column, readings.codes(want, have))


def _claim(want: int, fits: Sequence[Sequence[int]], owner: dict[int, int], tried: set[int]) -> bool:
    for have in fits[want]:
        if have not in tried:
            tried.add(have)
            if have not in owner or _claim(owner[have], fits, owner, tried):
                owner[have] = want
                return True
    return False


def _only_way(readings: Readings, goal: int) -> Order | None:
    """The one assignment that could match every row, where each column of the key leaves a single choice.

    So it is for most right answers, and then nothing has to be searched.
    """
    width = range(len(readings.key))
    order = []
    for want in width:
        choices = [have for have in width if readings.known(want, have, goal) is not None]
        if len(choices) != 1 or choices[0] in order:
            return None
        order += choices
    return tuple(order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The chosen order, how many rows match under it, and whether the search ran out of budget."""

    order: Order
    matched: int
    exhausted: bool = False


def assign(readings: Readings, seeds: Sequence[Order] = ()) -> Assignment:
    """The assignment that matches most rows; among equals one in sequence, then the answer's own order.

    Args:
        readings: as many answer columns as key columns, at least one row on either side.
        seeds: assignments known to be good (the other tier's), so that a spent budget cannot lose them.
    """
    sequential = in_order(readings)
    if sequential is not None:
        return Assignment(order=sequential, matched=len(readings.columns[0]))
    own = tuple(range(len(readings.key)))
    if len(own) == 1:
        return Assignment(order=own, matched=readings.overlap(own))
    goal = min(len(readings.key[0].classes), len(readings.columns[0]))
    only = _only_way(readings, goal)
    if only is not None and readings.overlap(only) == goal:
        return Assignment(order=only, matched=goal)
    best, order = max(((readings.overlap(seed), seed) for seed in seeds), default=(0, own))
    search = Search(readings=readings, best=best, goal=goal)
    search.run()
    if search.pairs is not None:
        best, order = search.best, tuple(have for _, have in search.pairs)
    if order != own and readings.reaches(own, best):
        order = own
    return Assignment(order=order, matched=best, exhausted=search.exhausted)
