"""A wire with bad luck: calls that fail before the server sees them, answers that come late. By seed, for robustness.

It stands where the server stands, so a timeout, the breaker and a cancelled call meet it as they would meet the real
thing; injected seconds count as the server's.
"""

from collections.abc import Callable
from typing import Any, Final

from okn_benchmark.interventions.arm import Arm
from okn_benchmark.interventions.chance import Fate, fate
from okn_benchmark.jsonrpc import Message, answer, encode, id_key, kind_of, params_of, tool_text
from okn_benchmark.proxy.wire import Arrived, Event, Noted, Receive, Wire

FAULTS_NOTED: Final = "injected faults"
DELAYS_NOTED: Final = "injected delays"


class ChanceWire:
    """A ``Wire`` around another. ``later`` has something called after some seconds; ``episode`` names the attempt."""

    def __init__(self, inner: Wire, arm: Arm, episode: str, later: Callable[[float, Callable[[], None]], Any]) -> None:
        self._inner = inner
        self._arm = arm
        self._episode = episode
        self._later = later
        self._receive: Receive | None = None
        self._calls = 0
        self._delayed: dict[str, float] = {}

    def start(self, receive: Receive) -> None:
        """Connect the server behind."""
        self._receive = receive
        self._inner.start(self._came)

    def send(self, message: Message, raw: bytes) -> None:
        """Pass on, unless this call is one of those that fail."""
        if kind_of(message) == "request" and message["method"] == "tools/call":
            params = params_of(message)
            self._calls += 1
            found = fate(self._arm, self._episode, self._calls, str(params.get("name")), params.get("arguments"))
            if found.delay_s:
                self._delayed[id_key(message["id"])] = found.delay_s
            if found.fault is not None:
                self._fail(message, found)
                return
        self._inner.send(message, raw)

    def close(self) -> None:
        """End the server behind."""
        self._inner.close()

    def _fail(self, message: Message, found: Fate) -> None:
        made = answer(message, tool_text(found.text, is_error=found.fault == "error"))
        self._later(0.0, lambda: self._both(Noted(what=FAULTS_NOTED), Arrived(message=made, raw=encode(made))))

    def _both(self, noted: Noted, arrived: Arrived) -> None:
        assert self._receive is not None
        self._receive(noted)
        self._came(arrived)

    def _came(self, event: Event) -> None:
        receive = self._receive
        assert receive is not None
        delay = 0.0
        if isinstance(event, Arrived) and kind_of(event.message) == "response":
            delay = self._delayed.pop(id_key(event.message.get("id")), 0.0)
        if delay:
            receive(Noted(what=DELAYS_NOTED))
            self._later(delay, lambda: receive(event))
        else:
            receive(event)
