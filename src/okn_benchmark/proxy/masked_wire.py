"""A wire whose server may repeat our credentials: what we log in with is masked before anybody reads it.

A server under test that echoes a header, in a result or in an error, would otherwise put it before the model and into
every transcript. Nothing else of a message is touched, and a message without a credential passes as the bytes it was.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from okn_benchmark.jsonrpc import Message, decode
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Failed, Noted, Receive, Wire

MASKED_NOTED: Final = "messages with a credential masked"
_MASK: Final = b"[redacted]"


class MaskedWire:
    """A ``Wire`` around another. ``redact`` masks the reasons of failures, which are texts of our own."""

    def __init__(self, inner: Wire, credentials: Iterable[str], redact: Callable[[str], str]) -> None:
        written = {form for value in credentials for form in _forms(value)}
        self._inner = inner
        self._needles = sorted(written, key=len, reverse=True)
        self._redact = redact
        self._receive: Receive | None = None

    def start(self, receive: Receive) -> None:
        """Connect the server behind."""
        self._receive = receive
        self._inner.start(self._came)

    def send(self, message: Message, raw: bytes) -> None:
        """Pass on."""
        self._inner.send(message, raw)

    def close(self) -> None:
        """End the server behind."""
        self._inner.close()

    def _came(self, event: Event) -> None:
        assert self._receive is not None
        match event:
            case Arrived(raw=raw) if any(needle in raw for needle in self._needles):
                self._receive(Noted(what=MASKED_NOTED))
                event = self._masked(raw)
            case Failed() | Closed():
                event = replace(event, reason=self._redact(event.reason))
        self._receive(event)

    def _masked(self, raw: bytes) -> Event:
        for needle in self._needles:
            raw = raw.replace(needle, _MASK)
        messages = decode(raw)
        assert messages is not None, "a mask inside a JSON string leaves JSON"
        return Arrived(message=messages[0], raw=raw)


def _forms(value: str) -> list[bytes]:
    """``value`` as JSON may write it: as it stands, with everything outside of ASCII escaped, with slashes escaped."""
    plain = [json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)]
    return [form.encode() for text in plain for form in (text, text.replace("/", "\\/"))]
