"""What asking a query gives, and the ways it can fail: the words every engine shares."""

from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A table, the W3C JSON document it was read from, the seconds it took, and what looked odd on the way."""

    table: Table
    document: dict[str, Any] = field(repr=False)
    elapsed_s: float
    warnings: tuple[str, ...] = ()


class Endpoint(Protocol):
    """Something that answers SELECT queries. A context manager; ``close`` may be called twice."""

    @property
    def name(self) -> str:
        """The identity of what is asked: part of every cache key. Never a path of this machine."""
        ...

    @property
    def url(self) -> str | None:
        """Where others can ask the same, or None for an engine inside this program."""
        ...

    @property
    def engine(self) -> str:
        """Which program answers, as far as it says."""
        ...

    def select(self, query: str) -> Result:
        """Ask.

        Raises:
            QueryRejected: the query itself is at fault.
            OutsideFailure: no answer, a broken one, or none within the time limit.
        """
        ...

    def close(self) -> None:
        """Let go of processes and connections."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class QueryRejected(InputError):
    """An engine says that the query is at fault: a syntax error, an unknown function, SERVICE where it is refused."""


class UnreadableData(InputError):
    """The RDF an embedded engine was given cannot be loaded: no query has an answer there."""


class QueryTimeout(OutsideFailure):
    """No complete answer within the time limit."""


class EndpointFailure(OutsideFailure):
    """No connection, a refusal, or a body that is no SPARQL result."""


class Unreachable(EndpointFailure):
    """Nothing answers at the address: the next query would fail the same way."""


def legible(text: str, limit: int = 400) -> str:
    """A stranger's message on one line: no control characters, clipped."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
