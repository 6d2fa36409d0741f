"""Wires around or instead of a server: one records what it says, one answers from what was recorded.

Every arm of a study can so be shown the very same server, and a study can be run again without one.
"""

import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.jsonrpc import (
    METHOD_NOT_FOUND,
    OPENING_METHODS,
    Message,
    answer,
    encode,
    failure,
    id_key,
    kind_of,
    params_of,
    tool_text,
)
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.proxy.cassette import Cassette, Recording, request_of, server_of
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Noted, Receive, Wire

HITS: Final = "tape hits"
MISSES: Final = "tape misses"
STALE: Final = "tape stale"
_ENDLESS: Final = "subscriptions/listen"


def taped(launch: ProxyLaunch, redact: Callable[[str], str], live: Callable[[], Wire]) -> Wire:
    """The wire that ``--record`` or ``--replay`` asks for; ``live`` makes the one to the server.

    Raises:
        InputError: there is nothing to replay.
    """
    folder = launch.replay or launch.record
    assert folder is not None
    cassette = Cassette(folder=folder, redact=redact)
    if launch.replay is None:
        return RecordingWire(live(), cassette)
    if not folder.is_dir():
        raise InputError(f"There is no recording at {folder}.", hint="Make one with --record DIR.")
    return RecordingWire(live(), cassette, replay=True) if launch.then_live else ReplayWire(cassette)


def miss(tool: str) -> str:
    """What an agent reads where nothing was recorded."""
    return (
        f"No reply is recorded for this call of {tool}. This session answers from a recording and the server is not "
        "asked; a call that was made when it was recorded, with the same arguments, does get its reply."
    )


class _Mouth:
    """Hands events on from a thread of its own, in order, so that no answer comes from inside a question."""

    def __init__(self, receive: Receive) -> None:
        self._events: queue.SimpleQueue[tuple[Event, ...]] = queue.SimpleQueue()
        threading.Thread(target=self._run, args=(receive,), name="tape", daemon=True).start()

    def say(self, *events: Event) -> None:
        self._events.put(events)

    def _run(self, receive: Receive) -> None:
        while True:
            for event in self._events.get():
                receive(event)


def _played(message: Message, recording: Recording, *, stale: bool) -> tuple[Event, ...]:
    result = recording.reply.get("result")
    if isinstance(result, dict):
        made = answer(message, result)
    else:
        made = {"jsonrpc": "2.0", "id": message["id"], "error": recording.reply.get("error")}
    noted = (Noted(what=HITS), *((Noted(what=STALE),) if stale else ()))
    return (*noted, Arrived(message=made, raw=encode(made)))


class ReplayWire:
    """A ``Wire`` without a server. What was not recorded gets an error that says so."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._server: str | None = None
        self._mouth: _Mouth | None = None

    def start(self, receive: Receive) -> None:
        """There is nothing to connect to."""
        self._mouth = _Mouth(receive)

    def send(self, message: Message, raw: bytes) -> None:
        """Answer a request from the recording; notifications have nobody to go to."""
        del raw
        assert self._mouth is not None
        if kind_of(message) == "request" and message["method"] != _ENDLESS:
            self._mouth.say(*self._answered(message))

    def close(self) -> None:
        """Nothing was started."""

    def _answered(self, message: Message) -> tuple[Event, ...]:
        method = message["method"]
        try:
            found = self._cassette.find(message)
        except InputError as error:
            return (Closed(reason=error.message),)
        if found is not None:
            opening = method in OPENING_METHODS
            self._server = found.server if opening else self._server
            return _played(message, found, stale=self._server not in (None, found.server))
        if method == "tools/call":
            made = answer(message, tool_text(miss(str(params_of(message).get("name"))), is_error=True))
        elif method == "ping":
            made = answer(message, {})
            return (Arrived(message=made, raw=encode(made)),)
        elif method == "initialize":
            return (Noted(what=MISSES), Closed(reason="the recording holds no opening of this server"))
        else:
            made = failure(message["id"], METHOD_NOT_FOUND, f"{method} is not in the recording")
        return (Noted(what=MISSES), Arrived(message=made, raw=encode(made)))


class RecordingWire:
    """A ``Wire`` around the server's own that writes down each reply; with ``replay`` calls are answered from there."""

    def __init__(self, inner: Wire, cassette: Cassette, *, replay: bool = False) -> None:
        self._inner = inner
        self._cassette = cassette
        self._replay = replay
        self._asked: dict[str, JsonObject] = {}
        self._server: str | None = None
        self._receive: Receive | None = None
        self._mouth: _Mouth | None = None

    def start(self, receive: Receive) -> None:
        """Connect the server."""
        self._receive = receive
        self._mouth = _Mouth(receive) if self._replay else None
        self._inner.start(self._came)

    def send(self, message: Message, raw: bytes) -> None:
        """Pass on, and remember what was asked."""
        if kind_of(message) == "request" and message["method"] != _ENDLESS:
            if self._mouth is not None and message["method"] == "tools/call" and self._found(message, self._mouth):
                return
            self._asked[id_key(message["id"])] = request_of(message)
        self._inner.send(message, raw)

    def close(self) -> None:
        """End the server."""
        self._inner.close()

    def _found(self, message: Message, mouth: _Mouth) -> bool:
        found = self._cassette.find(message)
        if found is None:
            mouth.say(Noted(what=MISSES))
            return False
        if self._server not in (None, found.server):
            mouth.say(Noted(what=STALE))  # another server's words: this one is asked
            return False
        mouth.say(*_played(message, found, stale=False))
        return True

    def _came(self, event: Event) -> None:
        receive = self._receive
        assert receive is not None
        if isinstance(event, Arrived) and kind_of(event.message) == "response":
            asked = self._asked.pop(id_key(event.message.get("id")), None)
            if asked is not None:
                receive(Noted(what=f"tape {self._kept(asked, event.message)}"))
        receive(event)

    def _kept(self, asked: JsonObject, message: dict[str, Any]) -> str:
        reply: JsonObject = {key: message[key] for key in ("result", "error") if key in message}
        if asked["method"] in OPENING_METHODS:
            self._server = server_of(reply) or self._server
        return self._cassette.keep(asked, reply, self._server)
