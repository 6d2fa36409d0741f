"""A wire whose upstream is this very process: a few methods answered by hand, in both protocol eras.

The control condition is served through it, so one path, one log and one clock serve every level.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

from okn_benchmark import __version__
from okn_benchmark.jsonrpc import (
    HANDSHAKE_VERSIONS,
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
    id_key,
    kind_of,
    params_of,
)
from okn_benchmark.proxy.wire import Arrived, Event

_NO_CACHE: Final = {"ttlMs": 0, "cacheScope": "private"}


class LocalServer(Protocol):
    """What is served: a name, instructions, tools, and a way to call them."""

    name: str
    instructions: str
    tools: tuple[Message, ...]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Message | None:
        """The result of one call, or None for a tool that does not exist."""

    async def close(self) -> None:
        """Let go of connections."""


class LocalWire:
    """A ``Wire`` that answers in this process."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._running: dict[str, asyncio.Task[None]] = {}

    def send(self, message: Message, raw: bytes) -> None:
        """Answer a request; a cancellation ends the call it names; other notifications are heard and ignored."""
        del raw
        if kind_of(message) == "request":
            key = id_key(message["id"])
            task = asyncio.get_running_loop().create_task(self._answer(message))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        elif message.get("method") == "notifications/cancelled":
            running = self._running.get(id_key(params_of(message).get("requestId")))
            if running is not None:
                running.cancel()

    async def receive(self) -> Event:
        """The next answer."""
        return await self._events.get()

    async def close(self) -> None:
        """Stop what is running."""
        for task in list(self._running.values()):
            task.cancel()
        await self._server.close()

    async def _answer(self, message: Message) -> None:
        reply = await self._reply(message)
        self._events.put_nowait(Arrived(message=reply, raw=encode(reply)))

    async def _reply(self, message: Message) -> Message:
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
            arguments = params.get("arguments")
            given = arguments if isinstance(arguments, Mapping) else {}
            result = await self._server.call(str(params.get("name")), given)
            if result is not None:
                return answer(message, result)
            return failure(message["id"], -32602, f"Unknown tool: {params.get('name')}")
        if method == "ping" and envelope is None:
            return answer(message, {})
        return failure(message["id"], METHOD_NOT_FOUND, "Method not found")

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
