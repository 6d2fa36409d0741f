"""Server-sent events out of chunks of bytes, bounded while they are read. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from okn_benchmark.jsonrpc import Lines, Oversize


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One event: its data as bytes, its id and retry (milliseconds) where it named them."""

    data: bytes
    event: str = "message"
    id: str | None = None
    retry_ms: int | None = None


class TooLarge(Exception):
    """An event, or a line of one, over the bound."""


class EventStream:
    """Feed chunks, get events. Lines end in LF or CRLF; no server in use ends them in CR alone."""

    def __init__(self, bound: int) -> None:
        self._lines = Lines(bound + 64)
        self._bound = bound
        self._data: list[bytes] = []
        self._event = ""
        self._id: str | None = None
        self._retry: int | None = None
        self._seen = False
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that ``chunk`` completes.

        Raises:
            TooLarge: the event being read is over the bound.
        """
        for line in self._lines.feed(chunk):
            if isinstance(line, Oversize):
                raise TooLarge
            text = line.rstrip(b"\r\n")
            if text:
                self._field(text)
            elif (event := self._complete()) is not None:
                yield event
        if self._lines.pending > self._bound:
            raise TooLarge

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value)
            if self._size > self._bound:
                raise TooLarge
            self._data.append(value)
            self._seen = True
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
            self._seen = True
        elif name == b"retry" and value.isdigit():
            self._retry = int(value[:9])
            self._seen = True

    def _complete(self) -> ServerEvent | None:
        made = None
        if self._seen:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            made = ServerEvent(data=data, event=self._event or "message", id=self._id, retry_ms=self._retry)
        self._reset()
        return made

    def _reset(self) -> None:
        self._data.clear()
        self._event, self._id, self._retry = "", None, None
        self._seen, self._size = False, 0
