"""What ``run --drift-check`` left in a condition record: which keys were not what they had been, and when."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from okn_benchmark.jsonio import JsonObject

ENDS: Final = ("start", "end")
DRIFTED: Final = "drifted"
"""The one state that takes a question out of the rates; a tie cut differently or a reload is a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One key at one end of the sweep. Counts of rows are None where nothing could be compared."""

    record: str
    when: str
    state: str
    rows_then: int | None = None
    rows_now: int | None = None
    lost: int | None = None
    gained: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCheck:
    """The ends of the sweep that were looked at, and every key that was not stable there."""

    checked: tuple[str, ...]
    moved: tuple[Moved, ...]

    @property
    def apart(self) -> frozenset[str]:
        """Records whose key drifted at either end: their answers were judged against rows that had changed."""
        return frozenset(one.record for one in self.moved if one.state == DRIFTED)

    def of(self, record: str) -> tuple[Moved, ...]:
        """What was found about one record."""
        return tuple(one for one in self.moved if one.record == record)


def read_drift(meta: JsonObject) -> DriftCheck | None:
    """``meta.drift``; None: the keys were not checked. What cannot be understood there is passed over."""
    value = meta.get("drift")
    if not isinstance(value, dict):
        return None
    checked = tuple(end for end in ENDS if isinstance(value.get(end), dict))
    if not checked:
        return None
    return DriftCheck(checked=checked, moved=tuple(one for end in checked for one in _moved(value[end], end)))


def _moved(found: JsonObject, when: str) -> Iterator[Moved]:
    for record, facts in sorted(found.items()):
        if isinstance(facts, dict):
            counts = {name: _whole(facts.get(name)) for name in ("rows_then", "rows_now", "lost", "gained")}
            yield Moved(record=record, when=when, state=str(facts.get("state") or "unknown"), **counts)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
