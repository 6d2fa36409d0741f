"""What every kind of table has in common: names, cells to read, and one plan of changes to write it anew with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says. ``text`` None: nothing stands there."""

    text: str | None
    iri: bool = False
    """Whether the format itself says that this is an IRI."""


@dataclass(frozen=True, slots=True)
class Added:
    """A new column: behind ``after`` (None: last), a cell for each row."""

    name: str
    after: str | None
    cells: Sequence[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Changes to one table, in terms of its own columns. ``rows`` is how many stay."""

    dropped: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: tuple[Added, ...] = ()
    rows: int | None = None

    def __bool__(self) -> bool:
        return bool(self.dropped or self.renamed or self.added or self.rows is not None)

    def position(self, added: Added, columns: Sequence[str]) -> int:
        """Before which of the old columns a new one stands; their number for the end."""
        return columns.index(added.after) + 1 if added.after in columns else len(columns)


class Grid(Protocol):
    """A table inside a text. The text is written again with a plan; without one it is the same text."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names, left to right."""

    @property
    def height(self) -> int:
        """How many rows it has."""

    def cells(self, column: str) -> list[Cell]:
        """One column, row by row."""

    def written(self, plan: Plan) -> str:
        """The text with the changes in it and nothing else changed."""


def arranged(columns: Sequence[str], plan: Plan) -> list[int | Added]:
    """The new order of columns: the number of an old one, or a new one."""
    order: list[int | Added] = []
    for place in range(len(columns) + 1):
        order += [added for added in plan.added if plan.position(added, columns) == place]
        if place < len(columns) and columns[place] not in plan.dropped:
            order.append(place)
    return order
