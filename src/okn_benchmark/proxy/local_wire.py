"""A wire whose upstream is this very process: a few methods answered by hand, in both protocol eras.

The control condition is served through it, so one path, one log and one clock serve every level.
"""

import threading
import traceback
from collections.abc import Mapping
from typing import Any, Final, Protocol

from okn_benchmark import __version__
from okn_benchmark.jsonrpc import (
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MODERN,
    SERVER_INFO_KEY,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Message,
    answer,
    encode,
    envelope_of,
    failure,
    kind_of,
    params_of,
)
from okn_benchmark.proxy.wire import Arrived, Receive

_NO_CACHE: Final = {"ttlMs": 0, "cacheScope": "private"}


class LocalServer(Protocol):
    """What is served: a name, instructions, tools, and a way to call them."""

    name: str
    instructions: str
    tools: tuple[Message, ...]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Message | None:
        """The result of one call, or None for a tool that does not exist. May take its time."""

    def close(self) -> None:
        """Let go of connections."""


class LocalWire:
    """A ``Wire`` that answers in this process: every request in a thread of its own, so none waits for another."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._receive: Receive | None = None

    def start(self, receive: Receive) -> None:
        """There is nothing to connect to."""
        self._receive = receive

    def send(self, message: Message, raw: bytes) -> None:
        """Answer a request; notifications are heard and ignored, and a cancelled query's result nobody waits for."""
        del raw
        if kind_of(message) == "request":
            threading.Thread(target=self._answer, args=(message,), name="local server", daemon=True).start()

    def close(self) -> None:
        """Let go of connections; what still runs ends with the process."""
        self._server.close()

    def _answer(self, message: Message) -> None:
        assert self._receive is not None
        try:
            reply = self._reply(message)
        except Exception as error:  # noqa: BLE001 - whoever waits is told, as any server would
            traceback.print_exc()
            reply = failure(message["id"], INTERNAL_ERROR, f"{type(error).__name__} in the proxy; see its stderr")
        self._receive(Arrived(message=reply, raw=encode(reply)))

    def _reply(self, message: Message) -> Message:
        method, params = message["method"], params_of(message)
        envelope = envelope_of(message)
        if envelope is not None and envelope[VERSION_KEY] != MODERN:
            known = {"supported": [MODERN], "requested": envelope[VERSION_KEY]}
            return failure(message["id"], UNSUPPORTED_VERSION, "Unsupported protocol version", known)
        if method == "initialize" and envelope is None:
            return answer(message, self._initialized(params))
        if method == "server/discover" and envelope is not None:
            return answer(message, self._discovered())
        if method == "tools/list":
            return answer(message, {"tools": list(self._server.tools), **({} if envelope is None else _NO_CACHE)})
        if method == "tools/call":
            return self._called(message, params)
        if method == "ping" and envelope is None:
            return answer(message, {})
        return failure(message["id"], METHOD_NOT_FOUND, "Method not found")

    def _called(self, message: Message, params: Mapping[str, Any]) -> Message:
        arguments = params.get("arguments")
        given = arguments if isinstance(arguments, Mapping) else {}
        result = self._server.call(str(params.get("name")), given)
        if result is None:
            return failure(message["id"], INVALID_PARAMS, f"Unknown tool: {params.get('name')}")
        return answer(message, result)

    def _initialized(self, params: Mapping[str, Any]) -> Message:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self._server.name, "version": __version__},
            "instructions": self._server.instructions,
        }

    def _discovered(self) -> Message:
        return {
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {}},
            "instructions": self._server.instructions,
            "_meta": {SERVER_INFO_KEY: {"name": self._server.name, "version": __version__}},
            **_NO_CACHE,
        }
