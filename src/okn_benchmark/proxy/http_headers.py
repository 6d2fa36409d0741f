"""The headers each message needs on its way over HTTP, derived from the message itself. Pure.

Up to 2025-11-25: the negotiated version and the session. In the 2026-07-28 era: the envelope's version, the method,
the name of what is called, and every argument whose schema asks to be mirrored; a server checks them against the body
and answers 400 where one is missing.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from okn_benchmark.jsonrpc import VERSION_KEY, Message, envelope_of, params_of

ACCEPT: Final = "application/json, text/event-stream"
SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MIRROR: Final = "x-mcp-header"
_PLAIN: Final = re.compile(r"[\x20-\x7E]*")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ENCODED: Final = re.compile(r"=\?base64\?.*\?=")
_MIRRORED_TYPES: Final = frozenset({"string", "integer", "boolean"})
_DEEPEST: Final = 8


class Headers:
    """Keeps what the conversation has settled: version, session, and which arguments are mirrored."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.version: str | None = None
        self._mirrors: dict[str, dict[tuple[str, ...], str]] = {}

    def of(self, message: Message) -> dict[str, str]:
        """For one POST."""
        made = {"accept": ACCEPT, "content-type": "application/json"}
        if message.get("method") == "initialize":
            return made
        if self.session:
            made[SESSION] = self.session
        envelope = envelope_of(message)
        if envelope is None:
            return {**made, VERSION: self.version} if self.version else made
        made |= {VERSION: str(envelope[VERSION_KEY]), "mcp-method": str(message["method"])}
        params = params_of(message)
        name = params.get(_NAMED_BY.get(message["method"], ""))
        if isinstance(name, str):
            made["mcp-name"] = header_value(name)
        return made | self._mirrored(message["method"], params)

    def of_session(self) -> dict[str, str]:
        """For what carries no message: the DELETE at the end."""
        made = {"accept": ACCEPT, "content-type": "application/json"}
        if self.session:
            made[SESSION] = self.session
        if self.version:
            made[VERSION] = self.version
        return made

    def of_stream(self, last_event: str | None = None) -> dict[str, str]:
        """For a GET stream, a new one or one that goes on after ``last_event``."""
        made = {**self.of_session(), "cache-control": "no-store"}
        return {**made, "last-event-id": last_event} if last_event else made

    def learn(self, tools: Any) -> None:
        """Remember from a tool list which arguments are mirrored into headers."""
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, Mapping):
                self._mirrors[str(tool.get("name"))] = dict(_mirrored_paths(tool.get("inputSchema"), (), 0))

    def _mirrored(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        if method != "tools/call":
            return {}
        made = {}
        for path, token in self._mirrors.get(str(params.get("name")), {}).items():
            value: Any = params.get("arguments")
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(value, bool):
                made[f"mcp-param-{token}"] = "true" if value else "false"
            elif isinstance(value, str | int | float):
                made[f"mcp-param-{token}"] = header_value(str(value))
        return made


def header_value(text: str) -> str:
    """``text`` where it survives as a header value, else wrapped in base64 the way the protocol says."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def _mirrored_paths(schema: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Properties that carry the mark, reachable through properties alone."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    token = schema.get(_MIRROR)
    if path and isinstance(token, str) and _TOKEN.fullmatch(token) and schema.get("type") in _MIRRORED_TYPES:
        yield path, token
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield from _mirrored_paths(inner, (*path, str(name)), depth + 1)
