"""The toy over streamable HTTP in a thread of the test, and the ways in which such a server goes wrong.

``fault`` decides what happens to a ``tools/call`` of the tool ``echo``; everything else is answered as the toy does.
"""

import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.proxy.toy import Toy


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] | None


@dataclass
class HttpToy:
    """A running server. ``kind`` is the form of its replies: sse or json."""

    kind: str = "sse"
    fault: str = ""
    session: str | None = "s-1"
    toy: Toy = field(default_factory=Toy)
    requests: list[Seen] = field(default_factory=list)
    pushes: "queue.Queue[dict[str, Any] | None]" = field(default_factory=queue.Queue)
    released: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def push(self, message: dict[str, Any]) -> None:
        """Send something on the GET stream."""
        self.pushes.put(message)

    def calls(self) -> list[dict[str, Any]]:
        """Every ``tools/call`` that arrived."""
        return [s.body for s in self.requests if s.body is not None and s.body.get("method") == "tools/call"]


@contextmanager
def http_toy(**options: Any) -> Iterator[HttpToy]:
    """Serve until the block ends; nothing it started stays."""
    state = HttpToy(**options)

    class Handler(_Handler):
        served = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.stopped.set()
        state.released.set()
        state.pushes.put(None)
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: HttpToy

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        self._note(body)
        moved = {"/moved": (307, "/mcp"), "/elsewhere": (307, "http://127.0.0.2:9/mcp"), "/changed": (303, "/mcp")}
        if self.path in moved:
            status, location = moved[self.path]
            return self._plain(status, b"", Location=location)
        fault = self._fault(body)
        if fault and getattr(self, "_fault_" + fault.replace("-", "_"))(body):
            return None
        replies: list[dict[str, Any]] = []
        self.served.toy.answer(body, replies.append)
        if body.get("id") is None or "method" not in body:
            for reply in replies:  # an answer to what the server asked earlier completes a call on another stream
                self.served.pushes.put(reply)
            return self._plain(202, b"")
        return self._reply(body, replies)

    def _fault(self, body: dict[str, Any]) -> str:
        fault = self.served.fault
        if fault.startswith("initialize-"):
            return fault.removeprefix("initialize-") if body.get("method") in {"initialize", "server/discover"} else ""
        faulty = body.get("method") == "tools/call" and body["params"]["name"] == "echo"
        return fault if faulty else ""

    def _reply(self, body: dict[str, Any], replies: list[dict[str, Any]]) -> None:
        waiting = (body.get("params") or {}).get("name") == "hang"
        if self.served.kind == "json" and len(replies) == 1 and "method" not in replies[0] and not waiting:
            return self._json(replies[0])
        self._begin_stream()
        for reply in replies:
            self._event(reply)
        if waiting:
            self.served.released.wait(30)
        elif all("method" in reply for reply in replies):
            later = self.served.pushes.get(timeout=30)  # the answer to a question of ours unlocks the call
            if later is not None:
                self._event(later)
        return self._end_stream()

    def do_GET(self) -> None:
        self._note(None)
        state = self.served
        if state.fault == "resumes" and self.headers.get("last-event-id"):
            self._begin_stream()
            self._event({"jsonrpc": "2.0", "id": state.calls()[-1]["id"], "result": {"content": [], "resumed": True}})
            return self._end_stream()
        if not self.headers.get("mcp-session-id") or state.fault.startswith("sse-ends"):
            return self._plain(405, b"")
        self._begin_stream()
        while not state.stopped.is_set():
            message = state.pushes.get()
            if message is None or not self._event(message):
                break
        self.close_connection = True
        return None

    def do_DELETE(self) -> None:
        self._note(None)
        self._plain(200, b"")

    def _note(self, body: dict[str, Any] | None) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.served.requests.append(Seen(self.command, self.path, headers, body))

    def _plain(self, status: int, data: bytes, kind: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        if self.served.session:
            self.send_header("Mcp-Session-Id", self.served.session)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def _json(self, message: dict[str, Any]) -> None:
        # Spread over lines, as pretty printers do: a line protocol behind it must cope.
        self._plain(200, json.dumps(message, indent=1).encode(), "application/json; charset=utf-8")

    def _begin_stream(self) -> None:
        self.send_response(200)
        if self.served.session:
            self.send_header("Mcp-Session-Id", self.served.session)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _event(self, message: dict[str, Any]) -> bool:
        return self._chunk(b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")

    def _chunk(self, data: bytes) -> bool:
        try:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
        except OSError:
            return False
        return True

    def _end_stream(self) -> None:
        try:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
        except OSError:
            self.close_connection = True

    def _abort(self) -> bool:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()
        self.close_connection = True
        return True

    # Faults: each says whether it has dealt with the request.

    def _fault_429(self, body: dict[str, Any]) -> bool:
        self._plain(429, b"slow down")
        return True

    def _fault_429_retry(self, body: dict[str, Any]) -> bool:
        self._plain(429, b'{"error": "rate limited"}', "application/json", Retry_After="7")
        return True

    def _fault_500(self, body: dict[str, Any]) -> bool:
        self._plain(500, b"boom")
        return True

    def _fault_404(self, body: dict[str, Any]) -> bool:
        self._plain(404, b"no session")
        return True

    def _fault_400_rpc(self, body: dict[str, Any]) -> bool:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad header", "data": 1}}
        self._plain(400, json.dumps(error).encode(), "application/json")
        return True

    def _fault_html(self, body: dict[str, Any]) -> bool:
        self._plain(200, b"<html>gateway</html>", "text/html")
        return True

    def _fault_202(self, body: dict[str, Any]) -> bool:
        self._plain(202, b"")
        return True

    def _fault_truncated(self, body: dict[str, Any]) -> bool:
        self._plain(200, b'{"jsonrpc": "2.0", "id":', "application/json")
        return True

    def _fault_other_id(self, body: dict[str, Any]) -> bool:
        self._json({"jsonrpc": "2.0", "id": "somebody else", "result": {"content": []}})
        return True

    def _fault_dropped(self, body: dict[str, Any]) -> bool:
        return self._abort()

    def _fault_sse_ends(self, body: dict[str, Any]) -> bool:
        self._begin_stream()
        self._end_stream()
        return True

    def _fault_sse_ends_after_id(self, body: dict[str, Any]) -> bool:
        self._begin_stream()
        self._chunk(b"id: e1\nretry: 20\ndata: \n\n")
        self._end_stream()
        return True

    def _fault_resumes(self, body: dict[str, Any]) -> bool:
        return self._fault_sse_ends_after_id(body)

    def _fault_sse_cut(self, body: dict[str, Any]) -> bool:
        self._begin_stream()
        self._chunk(b'event: message\ndata: {"jsonrpc": "2.0", ')
        return self._abort()

    def _fault_hang_before_headers(self, body: dict[str, Any]) -> bool:
        self.served.released.wait(30)
        self.close_connection = True
        return True

    def _fault_hang_after_headers(self, body: dict[str, Any]) -> bool:
        self._begin_stream()
        self._chunk(b": hello\n\n")
        return self._fault_hang_before_headers(body)

    def _fault_slow(self, body: dict[str, Any]) -> bool:
        self._begin_stream()
        for _ in range(5):
            self._chunk(b": still here\n\n")
            self.served.stopped.wait(0.1)
        self._event({"jsonrpc": "2.0", "id": body["id"], "result": {"content": [{"type": "text", "text": "slow"}]}})
        self._end_stream()
        return True

    def _fault_oversize(self, body: dict[str, Any]) -> bool:
        reply = {"jsonrpc": "2.0", "id": body["id"], "result": {"content": [{"type": "text", "text": "y" * 3_000_000}]}}
        self._begin_stream()
        self._event(reply)
        self._end_stream()
        return True
