"""The answer's columns as codes: each read under each key column it is tried against, once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from okn_benchmark.scoring.cells import NOTHING, Column
from okn_benchmark.scoring.rows import overlap

_SAMPLE: Final = 16
_PIECE: Final = 64

Order: TypeAlias = tuple[int, ...]
"""For each column of the key, the position of a column of the answer."""


@dataclass(slots=True)
class Readings:
    """The answer's columns read under the key's, each pair at most once."""

    key: Sequence[Column]
    columns: Sequence[Sequence[str]]
    _codes: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def codes(self, want: int, have: int) -> list[int]:
        """The codes of answer column ``have`` under key column ``want``."""
        found = self._codes.get((want, have))
        if found is None:
            found = self._codes[want, have] = self.key[want].read(self.columns[have])
        return found

    def under(self, order: Order) -> list[list[int]]:
        """The whole answer under one assignment."""
        return [self.codes(want, have) for want, have in enumerate(order)]

    def overlap(self, order: Order) -> int:
        """How many rows match."""
        return overlap(self.key, self.under(order))

    def promise(self, want: int, have: int) -> int:
        """How many of a few texts of the column the key column knows."""
        texts = self.columns[have]
        codes = self.key[want].read(texts[:: max(1, len(texts) // _SAMPLE)])
        return len(codes) - codes.count(NOTHING)

    def known(self, want: int, have: int, at_least: int) -> list[int] | None:
        """The codes of a pair; None once so many texts are unknown that fewer than ``at_least`` rows can match."""
        found = self._codes.get((want, have))
        if found is not None:
            return found if len(found) - found.count(NOTHING) >= at_least else None
        texts, codes, unknown = self.columns[have], [], 0
        for start in range(0, len(texts), _PIECE):
            piece = self.key[want].read(texts[start : start + _PIECE])
            unknown += piece.count(NOTHING)
            if len(texts) - unknown < at_least:
                return None
            codes += piece
        self._codes[want, have] = codes
        return codes

    def reaches(self, order: Order, matched: int) -> bool:
        """Whether an assignment matches at least so many rows."""
        if any(self.known(want, have, matched) is None for want, have in enumerate(order)):
            return False
        return self.overlap(order) >= matched
