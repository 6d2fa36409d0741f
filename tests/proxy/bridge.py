"""Puts a stdio MCP server on streamable HTTP for clients that speak nothing else: a child per session, line by line.

Each POSTed request is answered by an event stream with whatever the child says until the answer is among it. A foreign
Host or Origin is refused, as a server on loopback must.
"""

import json
import queue
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = {"127.0.0.1", "localhost", "::1", None}


class Session:
    """One child and who waits for it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waiting: dict[str, queue.Queue[bytes]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: dict[str, Any]) -> None:
        assert self.child.stdin is not None
        with self._lock:
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            self.child.stdin.flush()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            message = json.loads(line)
            key = json.dumps(message.get("id"))
            # What answers nobody in particular goes with the newest request, whose doing it most likely is.
            target = self.waiting.get(key) if "method" not in message else next(reversed(self.waiting.values()), None)
            if target is not None:
                target.put(line)

    def close(self) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        self.child.wait(10)
        self._reader.join(5)
        self.child.stdout.close()


class Handler(BaseHTTPRequestHandler):
    """A POST per message; the class is made anew for each bridge, with its command and its sessions."""

    protocol_version = "HTTP/1.1"
    served: Sequence[str]
    sessions: dict[str, Session]

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._plain(405)

    def do_DELETE(self) -> None:
        self._plain(200)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        said = ("//" + self.headers.get("host", ""), self.headers.get("origin", ""))
        name = self.headers.get("mcp-session-id", "")
        if not {urlsplit(one).hostname for one in said} <= LOOPBACK:
            return self._plain(403)
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
            self.sessions[name] = Session(self.served)
        if name not in self.sessions:
            return self._plain(404)
        if "id" not in message or "method" not in message:
            self.sessions[name].send(message)
            return self._plain(202)
        return self._stream(self.sessions[name], name, message)

    def _stream(self, session: Session, name: str, message: dict[str, Any]) -> None:
        key = json.dumps(message["id"])
        session.waiting[key] = queue.Queue()
        session.send(message)
        self.send_response(200)
        for header, value in (("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")):
            self.send_header(header, value)
        self.send_header("Mcp-Session-Id", name)
        self.end_headers()
        answered = False
        while not answered:
            line = session.waiting[key].get(timeout=30)
            answered = json.loads(line).get("id") == message["id"]
            data = b"event: message\ndata: " + line.rstrip(b"\n") + b"\n\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
        session.waiting.pop(key)
        self.wfile.write(b"0\r\n\r\n")

    def _plain(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def bridged(command: Sequence[str]) -> Iterator[str]:
    """The URL under which ``command`` is served."""
    sessions: dict[str, Session] = {}
    made = type("Bridge", (Handler,), {"sessions": sessions, "served": tuple(command)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), made)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
        for session in sessions.values():
            session.close()
