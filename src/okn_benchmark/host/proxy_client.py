"""A small MCP client over one proxy process: what the oracle, ``probe`` and a run's preflight speak.

It introduces itself as the agent program does, so that a server which looks at its caller shows the same tools.
"""

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host.process import end_group, group_gone
from okn_benchmark.jsonio import JsonObject, line

PROTOCOL_VERSION: Final = "2025-11-25"
START_TIMEOUT_S: Final = 60.0
"""Above the 50 s after which the proxy itself gives a server up."""
REPLY_SLACK_S: Final = 30.0
CLOSE_TIMEOUT_S: Final = 6.0
MAX_PAGES: Final = 200
STDERR_KEPT: Final = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """Who the client says it is; the default is what the agent program sends."""

    name: str = "claude-code"
    version: str = "2.1.332"
    capabilities: Mapping[str, Any] = field(
        default_factory=lambda: {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to one tool call. ``error`` is a protocol-level failure; then there is no result."""

    result: JsonObject | None
    error: str | None

    @property
    def ok(self) -> bool:
        """Whether a tool answered and did not call its answer a failure."""
        return self.result is not None and self.result.get("isError") is not True

    @property
    def text(self) -> str:
        """The text blocks of the result in order, or the failure's own words."""
        if self.result is None:
            return self.error or ""
        blocks = self.result.get("content")
        texts = [b.get("text") for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
        return "\n".join(t for t in texts if isinstance(t, str))


class ProxyClient:
    """Start a proxy, talk to it, end it. One caller at a time; every wait is bounded."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        announce: Announcement | None = None,
        start_timeout_s: float = START_TIMEOUT_S,
        call_timeout_s: float = 120.0,
    ) -> None:
        """Start ``argv`` in a process group of its own; nothing is said to it yet.

        Raises:
            OutsideFailure: it could not be started.
        """
        self.announce = announce or Announcement()
        self.start_timeout_s = start_timeout_s
        self.call_timeout_s = call_timeout_s
        self._id = 0
        self._replies: queue.SimpleQueue[JsonObject | None] = queue.SimpleQueue()
        self._stderr = bytearray()
        self._write_lock = threading.Lock()
        try:
            self._process = subprocess.Popen(
                argv,
                env=None if env is None else dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise OutsideFailure(f"{argv[0]} could not be started: {error.strerror or error}.") from error
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._drain)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def initialize(self) -> JsonObject:
        """Shake hands; the server's own result (instructions, serverInfo, capabilities, protocolVersion).

        Raises:
            OutsideFailure: an error, silence, or a process that left.
        """
        result = self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": dict(self.announce.capabilities),
                "clientInfo": {"name": self.announce.name, "version": self.announce.version},
            },
            timeout_s=self.start_timeout_s,
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def list_tools(self) -> tuple[JsonObject, ...]:
        """Every page of the list.

        Raises:
            OutsideFailure: an error, silence, or pages without an end.
        """
        tools: list[JsonObject] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = self.request("tools/list", {} if cursor is None else {"cursor": cursor})
            listed = page.get("tools")
            tools += [tool for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []
            following = page.get("nextCursor")
            if not isinstance(following, str) or not following:
                return tuple(tools)
            cursor = following
        raise OutsideFailure(f"The server's tool list does not end after {MAX_PAGES} pages.")

    def call_tool(self, name: str, arguments: Mapping[str, Any], *, timeout_s: float | None = None) -> Reply:
        """Call one tool; a failure of any kind is part of the reply."""
        try:
            result = self.request("tools/call", {"name": name, "arguments": dict(arguments)}, timeout_s=timeout_s)
        except OutsideFailure as error:
            return Reply(result=None, error=error.message)
        return Reply(result=result, error=None)

    def request(self, method: str, params: JsonObject, *, timeout_s: float | None = None) -> JsonObject:
        """One request and its result.

        Raises:
            OutsideFailure: a JSON-RPC error, silence, or a process that left.
        """
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        deadline = time.monotonic() + (self.call_timeout_s + REPLY_SLACK_S if timeout_s is None else timeout_s)
        while True:
            try:
                message = self._replies.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise OutsideFailure(f"The proxy did not answer {method} in time.") from None
            if message is None:
                self._replies.put(None)
                raise OutsideFailure(f"The proxy ended before it answered {method}{self._last_words()}.")
            if message.get("id") != self._id:
                continue
            if (error := message.get("error")) is not None:
                text = error.get("message") if isinstance(error, dict) else None
                raise OutsideFailure(f"{method} failed: {text or error}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}

    def close(self) -> int | None:
        """End of input, then signals; the exit code, None when a signal had to end it."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_TIMEOUT_S)
        if self._process.poll() is None or not group_gone(self._process.pid, CLOSE_TIMEOUT_S):
            end_group(self._process.pid, 1.0)
        code = self._process.wait()
        for thread in self._threads:
            thread.join(CLOSE_TIMEOUT_S)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return code if code >= 0 else None

    def _send(self, message: JsonObject) -> None:
        # A process that is gone is noticed by the reader, which says so with more words than a broken pipe has.
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError), self._write_lock:
            self._process.stdin.write(line(message).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for raw in self._process.stdout:
                try:
                    message = json.loads(raw)
                except (ValueError, RecursionError):
                    continue
                if not isinstance(message, dict):
                    continue
                if "method" in message:
                    self._answer(message)
                else:
                    self._replies.put(message)
        self._replies.put(None)

    def _answer(self, message: JsonObject) -> None:
        """What a server may ask of its caller: as an agent that has nobody to ask would answer it."""
        if "id" not in message:
            return
        answers: dict[str, JsonObject] = {"ping": {}, "roots/list": {"roots": []}}
        answers["elicitation/create"] = {"action": "cancel"}
        reply: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        known = answers.get(str(message["method"]))
        if known is None:
            self._send(reply | {"error": {"code": -32601, "message": "not offered by this client"}})
        else:
            self._send(reply | {"result": known})

    def _drain(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for raw in self._process.stderr:
                self._stderr += raw[-STDERR_KEPT:]
                del self._stderr[:-STDERR_KEPT]

    def _last_words(self) -> str:
        """The last line of the proxy's own stderr, for the message."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._threads[1].join(1.0)
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""
