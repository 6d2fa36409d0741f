"""What every wire to an upstream looks like from the relay, whatever carries the messages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from okn_benchmark.jsonrpc import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A message from the upstream: parsed, and as one line of the bytes it came in."""

    message: Message
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One request that will get no answer, while the wire itself goes on.

    ``request_id`` is None where nobody can tell which one. ``status`` and ``retry_after`` are HTTP's.
    """

    request_id: object
    reason: str
    status: int | None = None
    retry_after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something worth counting that needs no action: a junk line, an HTTP status, a resumed stream."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The wire is gone for good."""

    reason: str


Event: TypeAlias = Arrived | Failed | Noted | Closed
Receive: TypeAlias = Callable[[Event], None]


class Wire(Protocol):
    """One upstream. Nothing here raises: what goes wrong is an event."""

    def start(self, receive: Receive) -> None:
        """Connect; from now on ``receive`` is called with every event, from a thread of the wire's own."""

    def send(self, message: Message, raw: bytes) -> None:
        """Pass one message on without waiting; ``raw`` is the same message as a line."""

    def close(self) -> None:
        """End the upstream and whatever it started. Takes a few seconds at most."""
