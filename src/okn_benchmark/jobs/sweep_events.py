"""What a running sweep tells whoever watches it."""

from dataclasses import dataclass
from typing import TypeAlias

from okn_benchmark.host.episode import Event
from okn_benchmark.runs.shapes import AttemptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in the sweep something happens; both counts start at 1."""

    record: str
    attempt: int
    attempts: int
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """An episode begins."""

    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something happened inside the running episode."""

    place: Place
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """An attempt has its result; ``resumed`` says that it was recorded by an earlier sweep."""

    place: Place
    result: AttemptResult
    resumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A sentence for whoever runs the sweep."""

    text: str


SweepEvent: TypeAlias = Started | Heard | Finished | Noted
