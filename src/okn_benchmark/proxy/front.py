"""Our own stdin and stdout: one JSON object a line.

Reading is done in a thread, since stdin may be a pipe, a file or the null device and only a thread can wait for all
three. Writing never blocks the loop: what the pipe will surely take is written at once, the rest by a second thread.
"""

import asyncio
import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from okn_benchmark.jsonrpc import MESSAGE_BOUND, Lines, Oversize

_CHUNK: Final = 1 << 20
Incoming: TypeAlias = list[bytes | Oversize]


class Inlet:
    """Lines from a file descriptor; ``deliver`` is called in the loop with each batch, and with None at the end."""

    def __init__(self, fd: int, deliver: Callable[[Incoming | None], None], *, bound: int = MESSAGE_BOUND) -> None:
        self._fd = fd
        self._deliver = deliver
        self._lines = Lines(bound)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._read, name="stdin", daemon=True)

    def start(self) -> None:
        """Begin reading."""
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError:
                chunk = b""
            batch = list(self._lines.feed(chunk)) if chunk else [] if (last := self._lines.rest()) is None else [last]
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                if batch:
                    self._loop.call_soon_threadsafe(self._deliver, batch)
                if not chunk:
                    self._loop.call_soon_threadsafe(self._deliver, None)
            if not chunk:
                return


class Outlet:
    """Lines to a file descriptor, in the order they were given."""

    def __init__(self, fd: int, broken: Callable[[], None]) -> None:
        self._fd = fd
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._condition = threading.Condition()
        self._writing = False
        self._gone = False
        self._drained = asyncio.Event()
        self._drained.set()
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._thread: threading.Thread | None = None

    def send(self, line: bytes) -> None:
        """Queue one line, newline included."""
        if self._gone:
            return
        # POSIX: a pipe that polls as writable takes PIPE_BUF bytes without blocking.
        if not self._writing and len(line) <= select.PIPE_BUF and self._poll.poll(0):
            self._write_now(line)
            return
        self._drained.clear()
        with self._condition:
            self._writing = True
            self._waiting.append(line)
            self._condition.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_waiting, name="stdout", daemon=True)
            self._thread.start()

    async def drained(self) -> None:
        """Until everything given so far is written, or can no longer be."""
        await self._drained.wait()

    def _write_now(self, line: bytes) -> None:
        try:
            _write_all(self._fd, line)
        except OSError:
            self._lose()

    def _write_waiting(self) -> None:
        while True:
            with self._condition:
                while not self._waiting:
                    self._condition.wait()
                line = self._waiting.popleft()
            try:
                _write_all(self._fd, line)
            except OSError:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._lose)
                return
            del line
            with self._condition:
                idle = not self._waiting
                self._writing = not idle
            if idle:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        if not self._writing:
            self._drained.set()

    def _lose(self) -> None:
        self._gone = True
        self._waiting.clear()
        self._drained.set()
        self._broken()


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
