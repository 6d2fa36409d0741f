"""Requests that went up and have not come back, kept by id, each with the timer that will end its wait."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from okn_benchmark.jsonrpc import OPENING_METHODS, Message, envelope_of, id_key

START_TIMEOUT_S: Final = 50.0
"""The host gives up a server after 60 s; giving up first leaves a reason on disk."""
_ENDLESS: Final = frozenset({"subscriptions/listen"})
"""Requests whose answer is a stream that lasts as long as the session."""


class Timer(Protocol):
    """Something that will happen unless it is cancelled."""

    def cancel(self) -> None:
        """Call it off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds the upstream may take."""

    call_s: float
    start_s: float = START_TIMEOUT_S


@dataclass(slots=True, kw_only=True)
class Pending:
    """A request that went up and has not come back."""

    asked: Message
    method: str
    started: float
    tool: str = ""
    seq: int | None = None
    timer: Timer | None = None


class Outstanding:
    """The map. ``later`` has something called after some seconds."""

    def __init__(self, *, limits: Limits, later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.limits = limits
        self.later = later
        self._open: dict[str, Pending] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._open

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, message: Message, started: float, expired: Callable[[str], None]) -> Pending:
        """Keep a request; ``expired`` is called with its key when its time is up."""
        key, method = id_key(message["id"]), message["method"]
        asked = _stub(message) if method == "tools/call" else {"id": message["id"], "params": message.get("params")}
        pending = Pending(asked=asked, method=method, started=started)
        if method not in _ENDLESS:
            seconds = self.limits.start_s if method in OPENING_METHODS else self.limits.call_s
            pending.timer = self.later(seconds, lambda: expired(key))
        self._open[key] = pending
        return pending

    def take(self, request_id: object) -> Pending | None:
        """Let one go, its timer called off."""
        return self._let_go(id_key(request_id))

    def take_key(self, key: str) -> Pending | None:
        """The same by key."""
        return self._let_go(key)

    def take_only_call(self) -> Pending | None:
        """The one call there is, if there is exactly one: whom a failure without an id must mean."""
        calls = [key for key, pending in self._open.items() if pending.seq is not None]
        return self._let_go(calls[0]) if len(calls) == 1 else None

    def take_all(self) -> list[Pending]:
        """Everybody who waits."""
        return [pending for key in list(self._open) if (pending := self._let_go(key)) is not None]

    def _let_go(self, key: str) -> Pending | None:
        pending = self._open.pop(key, None)
        if pending is not None and pending.timer is not None:
            pending.timer.cancel()
        return pending


def _stub(message: Message) -> Message:
    """What an answer of ours needs of a request; its arguments may be large and are let go."""
    envelope = envelope_of(message)
    return {"id": message["id"], "params": {} if envelope is None else {"_meta": envelope}}
