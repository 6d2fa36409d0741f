"""The answer's columns as codes: each read under each key column it is tried against, once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from okn_benchmark.scoring.cells import NOTHING, Column
from okn_benchmark.scoring.rows import is_ordered, overlap

_SAMPLE: Final = 512

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

    def ordered(self, order: Order) -> bool:
        """Whether the rows match in sequence."""
        return is_ordered(self.key, self.under(order))

    def overlap(self, order: Order) -> int:
        """How many rows match."""
        return overlap(self.key, self.under(order))

    def promise(self, want: int, have: int) -> float:
        """The share of a sample of the column's texts that the key column knows."""
        texts = self.columns[have][:: max(1, len(self.columns[have]) // _SAMPLE)]
        return sum(code != NOTHING for code in self.key[want].read(texts)) / len(texts) if texts else 0.0
