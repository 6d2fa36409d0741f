"""Clients for the tests: over a pair of descriptors, to a server directly or to a proxy that runs in this process."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import HttpUpstream, Profile, StdioUpstream, Upstream
from okn_benchmark.proxy.front import Outlet
from okn_benchmark.proxy.plan import Plan, connect, planned
from okn_benchmark.proxy.serving import serve

TOY = [sys.executable, str(Path(__file__).with_name("toy.py"))]
WAIT_S = 20.0
Json = dict[str, Any]

MODERN_META: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": True}},
}
HELLO: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {"listChanged": True}, "experimental": {"x": {"y": 1.5}}},
    "clientInfo": {"name": "test", "version": "0"},
}


def stdio_toy(*flags: str, env: Mapping[str, str] | None = None) -> StdioUpstream:
    """The toy as an upstream."""
    return StdioUpstream(command=TOY[0], args=(TOY[1], *flags), env=env or {})


class Line:
    """A client over two descriptors. Replies are kept by id, everything else in ``others``, in order."""

    def __init__(self, fd_read: int, fd_write: int) -> None:
        self._fd_write = fd_write
        self._arrived: queue.Queue[bytes | None] = queue.Queue()
        self._raw: dict[str, bytes] = {}
        self.others: list[Json] = []
        self.order: list[str] = []
        self._next = 0
        threading.Thread(target=self._read, args=(fd_read,), daemon=True).start()

    def _read(self, fd: int) -> None:
        with os.fdopen(fd, "rb") as stream:
            for line in stream:
                self._arrived.put(line)
        self._arrived.put(None)

    def send(self, message: Json | list[Json]) -> None:
        self.send_raw(json.dumps(message).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd_write, view) :]

    def ask(self, method: str, params: Json | None = None, *, request_id: Any = None) -> Any:
        """Send a request, return its id."""
        if request_id is None:
            self._next += 1
            request_id = self._next
        message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return request_id

    def notify(self, method: str, params: Json | None = None) -> None:
        message: Json = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def raw_reply(self, request_id: Any, wait_s: float = WAIT_S) -> bytes:
        """The line that answers ``request_id``; fails when it does not come."""
        key, until = json.dumps(request_id), time.monotonic() + wait_s
        while key not in self._raw:
            self._take(max(0.0, until - time.monotonic()), f"an answer to {key}")
        return self._raw.pop(key)

    def reply(self, request_id: Any, wait_s: float = WAIT_S) -> Json:
        return json.loads(self.raw_reply(request_id, wait_s))

    def rpc(self, method: str, params: Json | None = None, **more: Any) -> Json:
        return self.reply(self.ask(method, params, **more))

    def other(self, method: str, wait_s: float = WAIT_S) -> Json:
        """The first message of the other side with this method."""
        until = time.monotonic() + wait_s
        while not (found := [m for m in self.others if m.get("method") == method]):
            self._take(max(0.0, until - time.monotonic()), method)
        return found[0]

    def _take(self, wait_s: float, what: str) -> None:
        try:
            line = self._arrived.get(timeout=wait_s)
        except queue.Empty:
            raise AssertionError(f"{what} did not come") from None
        if line is None:
            self._arrived.put(None)
            raise EOFError(f"the other side closed before {what}")
        message = json.loads(line)
        if "method" in message:
            self.others.append(message)
            self.order.append(message["method"])
        else:
            self._raw[json.dumps(message["id"])] = line
            self.order.append(json.dumps(message["id"]))

    # MCP in short.

    def hello(self) -> Json:
        opened = self.rpc("initialize", HELLO)
        if "result" in opened:
            self.notify("notifications/initialized")
        return opened

    def pages(self, meta: Json | None = None) -> list[Json]:
        """Every page of the tool list."""
        got, cursor = [], None
        while True:
            params = ({"cursor": cursor} if cursor else {}) | ({"_meta": meta} if meta else {})
            got.append(self.rpc("tools/list", params)["result"])
            cursor = got[-1].get("nextCursor")
            if not cursor:
                return got

    def tool_names(self) -> list[str]:
        return [tool["name"] for page in self.pages() for tool in page["tools"]]

    def call(self, tool: str, arguments: Json | None = None, meta: Json | None = None) -> Json:
        return self.reply(self.ask_call(tool, arguments, meta))

    def ask_call(self, tool: str, arguments: Json | None = None, meta: Json | None = None) -> Any:
        params: Json = {"name": tool, "arguments": arguments or {}}
        return self.ask("tools/call", params if meta is None else {**params, "_meta": meta})

    def submit(self, csv: str = "a,b\n1,2\n") -> Json:
        return self.call("submit_csv", {"csv": csv})["result"]

    def submit_ms(self) -> float:
        """The best of three 10 kB submissions, in milliseconds: what it takes when nobody else holds the machine."""
        table = "a,b\n" + "some text,more text\n" * 500
        best = float("inf")
        for _ in range(3):
            started = time.perf_counter()
            assert not self.submit(table)["isError"]
            best = min(best, (time.perf_counter() - started) * 1000)
        return best

    def close_input(self) -> None:
        os.close(self._fd_write)


class Direct(Line):
    """Straight to a stdio server."""

    def __init__(self, upstream: StdioUpstream) -> None:
        self.child = subprocess.Popen([upstream.command, *upstream.args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
        self.child.stdin.close()
        self.child.stdout.close()

    def close(self) -> None:
        self.close_input()
        try:
            self.child.wait(1)
        except subprocess.TimeoutExpired:  # some servers do not care
            self.child.kill()
            self.child.wait(10)


class DirectHttp:
    """Straight to an HTTP server: a POST per message; enough of a client for comparisons, on the standard library."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._headers: dict[str, str] = {}
        self._next = 0
        self.others: list[Json] = []

    def rpc(self, method: str, params: Json | None = None, *, request_id: Any = None) -> Json:
        if request_id is None:
            self._next += 1
            request_id = self._next
        message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
        return self._post(message if params is None else {**message, "params": params})

    def notify(self, method: str, params: Json | None = None) -> None:
        self._post({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def _post(self, message: Json) -> Json:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self._headers}
        request = urllib.request.Request(self._url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=WAIT_S) as response:
            if session := response.headers.get("mcp-session-id"):
                self._headers["Mcp-Session-Id"] = session
            body, kind = response.read(), response.headers.get("content-type", "")
        if "event-stream" in kind:
            data = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
            messages = [json.loads(item) for item in data if item]
        else:
            messages = [json.loads(body)] if body else []
        replies = [m for m in messages if "method" not in m]
        self.others += [m for m in messages if "method" in m]
        return replies[0] if replies else {}

    hello = Line.hello
    pages = Line.pages

    def call(self, tool: str, arguments: Json | None = None, meta: Json | None = None) -> Json:
        params: Json = {"name": tool, "arguments": arguments or {}}
        return self.rpc("tools/call", params if meta is None else {**params, "_meta": meta})

    def close(self) -> None:
        pass


class Proxied(Line):
    """To a proxy that runs in a thread of this process, in front of ``upstream``."""

    def __init__(
        self,
        upstream: Upstream | None,
        log_dir: Path | None,
        *,
        start_timeout_s: float = 20.0,
        message_bound: int | None = None,
        **settings: Any,
    ) -> None:
        level = "sparql-only" if upstream is None else "all-tools"
        profile = None if upstream is None else Profile(name="toy", upstream=upstream)
        settings.setdefault("call_timeout_s", 10.0)
        plan = planned(ProxyLaunch(level=level, log_dir=log_dir, **settings), profile)
        changed = {"start_timeout_s": start_timeout_s} | (
            {} if message_bound is None else {"message_bound": message_bound}
        )
        self.plan = Plan(launch=plan.launch, profile=profile, policy=plan.policy, **changed)
        host_read, proxy_out = os.pipe()
        proxy_in, host_write = os.pipe()
        super().__init__(host_read, host_write)
        self.log_dir, self.code, self._proxy_in, self._proxy_out = log_dir, None, proxy_in, proxy_out
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        outlet = Outlet(self._proxy_out)
        self.code = serve(self.plan, connect(self.plan, outlet), outlet, self._proxy_in, signals=False)
        outlet.close()
        os.close(self._proxy_out)

    def close(self, wait_s: float = 10.0) -> int:
        """End of input; the exit code."""
        self.close_input()
        return self.ended(wait_s)

    def ended(self, wait_s: float = 10.0) -> int:
        self._thread.join(wait_s)
        assert not self._thread.is_alive(), "the proxy did not end"
        assert self.code is not None
        return self.code

    def record(self) -> Json:
        assert self.log_dir is not None
        return json.loads((self.log_dir / "calls.json").read_text())

    def events(self, kind: str) -> list[Json]:
        assert self.log_dir is not None
        lines = (self.log_dir / "calls.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["event"] == kind]


def http(url: str, headers: Mapping[str, str] | None = None) -> HttpUpstream:
    """An HTTP upstream."""
    return HttpUpstream(url=url, headers=headers or {})
