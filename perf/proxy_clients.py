"""Blocking clients that do as little as possible, so that what is measured is the other side."""

import contextlib
import http.client
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LONGEST_S = 15.0
HELLO: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}}
HELLO["clientInfo"] = {"name": "bench", "version": "0"}


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


class Stdio:
    """A child and its pipes. ``rpc`` returns the line that answers, unparsed where it is long."""

    def __init__(self, command: Sequence[str]) -> None:
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self._to, self._from = self.child.stdin, self.child.stdout
        self._number = 0
        self._asked_at: float | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Some proxies never answer; looked at once a second, so that measuring costs nothing."""
        while self.child.poll() is None:
            asked = self._asked_at
            if asked is not None and time.perf_counter() - asked > LONGEST_S:
                self.child.kill()
            time.sleep(1)

    def rpc(self, method: str, params: dict[str, Any]) -> bytes:
        """Send a request, wait for its answer."""
        self._number += 1
        self._asked_at = time.perf_counter()
        self._to.write(request(self._number, method, params) + b"\n")
        self._to.flush()
        while True:
            line = self._from.readline()
            if not line:
                raise EOFError(f"no answer within {LONGEST_S:g} s, or closed")
            # A notification, or a request of the server's own, is not what is waited for.
            if b'"method"' not in line[:200]:
                self._asked_at = None
                return line

    def open(self) -> None:
        """The handshake."""
        self.rpc("initialize", HELLO)
        self._to.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n")
        self._to.flush()

    def call(self, size: int) -> bytes:
        """One call that is answered with ``size`` characters."""
        return self.rpc("tools/call", {"name": "blob", "arguments": {"n": size}})

    def memory_mib(self) -> float:
        """Resident memory of the child itself."""
        pages = int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20

    def peak_mib(self) -> float:
        """The most it ever held."""
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self) -> float:
        """Seconds from the end of input to the exit."""
        started = time.perf_counter()
        with contextlib.suppress(OSError):
            self._to.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self._from.close()
        return time.perf_counter() - started


class Http:
    """One connection that is kept."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._path = parts.path
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._number = 0

    def rpc(self, method: str, params: dict[str, Any]) -> bytes:
        """Send a request, wait for its answer."""
        self._number += 1
        self._connection.request("POST", self._path, request(self._number, method, params), self._headers)
        response = self._connection.getresponse()
        if session := response.getheader("mcp-session-id"):
            self._headers["Mcp-Session-Id"] = session
        return response.read()

    def open(self) -> None:
        """The handshake."""
        self.rpc("initialize", HELLO)
        self._headers["MCP-Protocol-Version"] = HELLO["protocolVersion"]
        note = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._connection.request("POST", self._path, note, self._headers)
        self._connection.getresponse().read()

    def call(self, size: int) -> bytes:
        """One call that is answered with ``size`` characters."""
        return self.rpc("tools/call", {"name": "blob", "arguments": {"n": size}})

    def close(self) -> float:
        """There is no process to wait for."""
        self._connection.close()
        return 0.0


def profile(folder: Path, name: str, *, command: Sequence[str] = (), url: str = "") -> Path:
    """A profile file for the proxy."""
    path = folder / f"{name}.toml"
    if url:
        lines = ['transport = "http"', f'url = "{url}"']
    else:
        program, arguments = json.dumps(command[0]), json.dumps(list(command[1:]))
        lines = ['transport = "stdio"', f"command = {program}", f"args = {arguments}"]
    path.write_text("\n".join(['name = "bare"', "[upstream]", *lines, ""]))
    return path


def proxy(path: Path, log: Path | None = None) -> list[str]:
    """The command that starts our proxy."""
    argv = [sys.executable, "-P", "-m", "okn_benchmark.proxy", "--profile", str(path)]
    return argv if log is None else [*argv, "--log", str(log)]


def load() -> str:
    """How busy the machine is, to stand beside every figure."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
