"""Recorded replies of a server: a file per request, found by what was asked and by nothing else.

A tool call is known by its tool and the canonical form of its arguments; the other requests by method, era and
parameters. Each file names the server that gave the reply, so that one of an older server can be told.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.files import replace_whole
from okn_benchmark.interventions.treating import fingerprint
from okn_benchmark.jsonio import JsonObject, check_schema, parse_object, pretty
from okn_benchmark.jsonrpc import OPENING_METHODS, SERVER_INFO_KEY, Message, encode, envelope_of, params_of

VERSION: Final = 1
KIND: Final = "recording"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]+")

Kept: TypeAlias = Literal["new", "same", "unsteady", "replaced", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One request and its reply: ``reply`` holds ``result`` or ``error``. ``server`` is None where it never opened."""

    request: JsonObject
    reply: JsonObject
    server: str | None


@dataclass(slots=True, kw_only=True)
class Cassette:
    """A folder of recordings. ``redact`` masks secrets in what is written."""

    folder: Path
    redact: Callable[[str], str] = str
    _known: dict[Path, Recording | None] = field(default_factory=dict)

    def find(self, message: Message) -> Recording | None:
        """The reply recorded for a request. An opening for another protocol version will do: servers pick their own."""
        found = self._read(self._path(request_of(message)))
        if found is None and message["method"] in OPENING_METHODS:
            others = sorted(self.folder.glob(f"{_safe(message['method'])}-*.json"))
            found = next((entry for path in others if (entry := self._read(path)) is not None), None)
        return found

    def keep(self, request: JsonObject, reply: JsonObject, server: str | None) -> Kept:
        """Record a reply. The first of one server stays; a later one that differs is told of, not kept."""
        path = self._path(request)
        earlier = self._read(path)
        if earlier is not None and earlier.server == server:
            return "same" if self._masked(reply) == earlier.reply else "unsteady"
        value = {"schema": f"{KIND}/{VERSION}", "request": request, "server": server, "reply": reply}
        try:
            replace_whole(path, self.redact(_whole(value)))
        except OutsideFailure:
            return "refused"
        self._known.pop(path, None)  # read again where it is wanted: secrets may have been masked
        return "new" if earlier is None else "replaced"

    def _masked(self, reply: JsonObject) -> JsonObject:
        return reply if self.redact is str else parse_object(self.redact(encode(reply).decode()), "a reply")

    def _path(self, request: Mapping[str, Any]) -> Path:
        name = request.get("tool") or request["method"]
        return self.folder / f"{_safe(str(name))}-{fingerprint(request)[:24]}.json"

    def _read(self, path: Path) -> Recording | None:
        if path not in self._known:
            self._known[path] = read_recording(path) if path.is_file() else None
        return self._known[path]


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[:60].strip(".")


def _whole(value: JsonObject) -> str:
    """As every JSON file of ours; half a character, which a hostile server may send, is escaped."""
    return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) <= 0xDFFF else c for c in pretty(value))


def read_recording(path: Path) -> Recording:
    """Raises InputError for a file that is none."""
    try:
        value = parse_object(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    check_schema(value, KIND, VERSION, str(path))
    reply, request = value.get("reply"), value.get("request")
    if not isinstance(reply, dict) or not isinstance(request, dict) or not {"result", "error"} & set(reply):
        raise InputError(f"{path} holds no recorded reply.")
    server = value.get("server")
    return Recording(request=request, reply=reply, server=server if isinstance(server, str) else None)


def request_of(message: Message) -> JsonObject:
    """What a request is known by."""
    method, params = str(message["method"]), params_of(message)
    if method == "tools/call":
        return {"method": method, "tool": params.get("name"), "arguments": params.get("arguments") or {}}
    era = "handshake" if envelope_of(message) is None else "envelope"
    if method in OPENING_METHODS:
        return {"method": method, "era": era, "version": params.get("protocolVersion")}
    return {"method": method, "era": era, "params": {k: v for k, v in params.items() if k != "_meta"}}


def server_of(reply: Mapping[str, Any]) -> str | None:
    """A digest of who answered an opening request: name, version and instructions, whatever the era."""
    result = reply.get("result")
    if not isinstance(result, Mapping):
        return None
    meta = result.get("_meta")
    info = result.get("serverInfo") or (meta.get(SERVER_INFO_KEY) if isinstance(meta, Mapping) else None)
    return fingerprint([info, result.get("instructions")])[:24]
