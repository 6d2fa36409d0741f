"""What a verdict depends on besides the two tables, and what it says when one of its rules stood down."""

from dataclasses import dataclass
from typing import Final

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import JsonObject

CONTRACT: Final = 1
"""The number of the scoring contract. A change that can move a score raises it; see "Scores" in the changelog."""

MOST_DIGITS: Final = 17
"""Enough significant decimal digits to write any double so that reading it gives the same double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How far apart two printings of one decimal may lie.

    ``significant_digits``: 1 to 17. ``numeric_rel_tol``: relative, from 0 (no snapping) to below 0.5.

    Raises:
        InputError: a setting outside its range.
    """

    significant_digits: int = 6
    numeric_rel_tol: float = 5e-4

    def __post_init__(self) -> None:
        if not 1 <= self.significant_digits <= MOST_DIGITS:
            raise InputError(
                f"--precision {self.significant_digits} is not a number of significant digits.",
                hint=f"Give a whole number from 1 to {MOST_DIGITS}; the default is 6.",
            )
        if not 0 <= self.numeric_rel_tol < 0.5:
            raise InputError(
                f"--numeric-rel-tol {self.numeric_rel_tol} is not a relative tolerance.",
                hint="Give a number from 0 (decimals are never snapped) to below 0.5; the default is 0.0005.",
            )

    def to_json(self) -> JsonObject:
        """The two settings by name."""
        return {"significant_digits": self.significant_digits, "numeric_rel_tol": self.numeric_rel_tol}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A rule that stood down: its name, the reference column (None for the whole table), and why in a sentence."""

    guard: str
    column: str | None
    reason: str

    def to_json(self) -> JsonObject:
        """The three fields by name."""
        return {"guard": self.guard, "column": self.column, "reason": self.reason}


def shown(value: str, limit: int = 80) -> str:
    """A value quoted for a sentence, cut where it would fill the page."""
    return repr(value if len(value) <= limit else value[: limit - 1] + "…")
