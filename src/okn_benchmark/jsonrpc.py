"""JSON-RPC 2.0 as MCP speaks it: lines in, objects out, ids nobody interprets, both protocol eras.

Before 2026-07-28 a connection opens with ``initialize`` and has a session. From that version on there is no session:
every request carries an envelope under ``params._meta``. The era is therefore a property of each message, never of a
connection. Ids are opaque: ``"1"`` and ``1`` are two ids.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Message: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["request", "notification", "response", "junk"]

ENVELOPE_PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = ENVELOPE_PREFIX + "protocolVersion"
CLIENT_INFO_KEY: Final = ENVELOPE_PREFIX + "clientInfo"
CLIENT_CAPABILITIES_KEY: Final = ENVELOPE_PREFIX + "clientCapabilities"
SERVER_INFO_KEY: Final = ENVELOPE_PREFIX + "serverInfo"

MODERN: Final = "2026-07-28"
"""The first version without a handshake; the envelope names it on every request."""
HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
OPENING_METHODS: Final = frozenset({"initialize", "server/discover"})

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = -32001
UNSUPPORTED_VERSION: Final = -32022

MESSAGE_BOUND: Final = 64 * 1024 * 1024
"""Bytes one message may have before it is thrown away unread."""
_EDGE: Final = 2048
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def kind_of(message: Mapping[str, Any]) -> Kind:
    """What a message is, by its members alone; ``id: null`` counts as an id only beside an error."""
    if isinstance(message.get("method"), str):
        return "notification" if message.get("id") is None else "request"
    if "result" in message or "error" in message:
        return "response"
    return "junk"


def id_key(request_id: object) -> str:
    """A key under which an id can be kept; distinct for ids of distinct type."""
    return str(request_id) if type(request_id) is int else json.dumps(request_id, sort_keys=True)


def envelope_of(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The 2026 envelope of a request, or None for a message of the handshake era."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    if isinstance(meta, Mapping) and isinstance(meta.get(VERSION_KEY), str):
        return meta
    return None


def params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The params where they are an object, else nothing."""
    params = message.get("params")
    return params if isinstance(params, Mapping) else {}


def request(request_id: object, method: str, params: Mapping[str, Any] | None = None) -> Message:
    """A request."""
    made: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return made if params is None else {**made, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> Message:
    """A notification."""
    made: Message = {"jsonrpc": "2.0", "method": method}
    return made if params is None else {**made, "params": dict(params)}


def answer(asked: Mapping[str, Any], result: Mapping[str, Any]) -> Message:
    """A result for ``asked``, in its era: with an envelope the result says that it is complete."""
    whole = {"resultType": "complete", **result} if envelope_of(asked) is not None else dict(result)
    return {"jsonrpc": "2.0", "id": asked.get("id"), "result": whole}


def failure(request_id: object, code: int, message: str, data: object = None) -> Message:
    """An error reply."""
    error: Message = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def tool_text(text: str, *, is_error: bool = False) -> Message:
    """The result of a tool that says one thing."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def encode(message: Mapping[str, Any]) -> bytes:
    """One line with its newline. Lone surrogates, legal in JSON, are escaped so that the bytes stay UTF-8."""
    try:
        return _COMPACT.encode(message).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def decode(raw: bytes) -> list[Message] | None:
    """The messages in one line or body (a batch holds several), or None for anything else."""
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) and kind_of(item) != "junk" for item in items):
        return None
    return items


def one_line(raw: bytes) -> bytes:
    """``raw`` JSON as one line. A newline inside JSON is always between tokens, so a blank takes its place."""
    body = raw.strip()
    if b"\n" in body or b"\r" in body:
        body = body.replace(b"\r", b" ").replace(b"\n", b" ")
    return body + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversize:
    """A line that was longer than the bound: its length and both ends, enough to look for an id."""

    size: int
    head: bytes
    tail: bytes


class Lines:
    """Gather chunks into whole lines in linear time; a line over the bound is dropped up to its newline."""

    __slots__ = ("_bound", "_head", "_parts", "_size", "_tail")

    def __init__(self, bound: int = MESSAGE_BOUND) -> None:
        self._bound = bound
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""
        self._tail = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversize]:
        """The lines that ``chunk`` completes, newline included."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._keep(chunk[start : end + 1])
            start = end + 1
            yield self._take()
        if start < len(chunk):
            self._keep(chunk[start:] if start else chunk)

    @property
    def pending(self) -> int:
        """Bytes of the line that is not yet complete."""
        return self._size

    def rest(self) -> bytes | Oversize | None:
        """What stands after the last newline, once the stream has ended."""
        return self._take() if self._size else None

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._bound:
            self._parts.append(piece)
            return
        if self._parts:
            self._head = b"".join(self._parts)[:_EDGE]
            self._parts = []
        self._head = self._head or piece[:_EDGE]
        self._tail = (self._tail + piece[-_EDGE:])[-_EDGE:]

    def _take(self) -> bytes | Oversize:
        size, parts = self._size, self._parts
        self._size, self._parts = 0, []
        if size <= self._bound:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        head, tail = self._head, self._tail
        self._head = self._tail = b""
        return Oversize(size=size, head=head, tail=tail)


_ID: Final = re.compile(rb'(?<!\\)"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]')


def guess_id(oversize: Oversize) -> object:
    """The id of a message that was never held whole, where one of its ends shows it; else None.

    Most programs write the id first or last. An ``"id"`` inside a quoted payload has its quotes escaped and is not
    mistaken for it.
    """
    found = _ID.search(oversize.head)
    if found is None or any(word in oversize.head[: found.start()] for word in (b'"params"', b'"result"')):
        at_the_end = list(_ID.finditer(oversize.tail))
        found = at_the_end[-1] if at_the_end else None
    return None if found is None else json.loads(found.group(1))
