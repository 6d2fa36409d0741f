"""Lines over file descriptors: our own stdin and stdout, and the pipes of a child process.

Reading is done in a thread, since stdin may be a pipe, a file or the null device and only a thread can wait for all
three. Writing never blocks whoever writes: what the pipe will surely take goes out at once, the rest through a thread.
"""

import contextlib
import fcntl
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from okn_benchmark.jsonrpc import MESSAGE_BOUND, Lines, Oversize

_SMALL_CHUNK: Final = 1 << 14
_LARGE_CHUNK: Final = 1 << 20
_BACKLOG: Final = 4 << 20
Incoming: TypeAlias = list[bytes | Oversize]


class Inlet:
    """Lines from ``fd``, delivered batch by batch from a thread of its own; None is delivered at the end."""

    def __init__(
        self, fd: int, deliver: Callable[[Incoming | None], None], *, bound: int = MESSAGE_BOUND, name: str = "stdin"
    ) -> None:
        self._fd = fd
        self._deliver = deliver
        self._lines = Lines(bound)
        self._size = _SMALL_CHUNK
        self._thread = threading.Thread(target=self._read, name=name, daemon=True)

    def start(self) -> None:
        """Begin reading."""
        self._thread.start()

    def ended(self, wait_s: float) -> bool:
        """Whether the end has been reached, waiting for it this long."""
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _read(self) -> None:
        while chunk := self._chunk():
            batch = list(self._lines.feed(chunk))
            del chunk
            if batch:
                self._deliver(batch)
        last = self._lines.rest()
        if last is not None:
            self._deliver([last])
        self._deliver(None)

    def _chunk(self) -> bytes:
        """What there is to read. A large buffer costs more than a small message: it is taken only after a full one."""
        try:
            chunk = os.read(self._fd, self._size)
        except OSError:
            return b""
        self._size = _LARGE_CHUNK if len(chunk) == self._size else _SMALL_CHUNK
        return chunk


class Outlet:
    """Lines to ``fd`` in the order they were given."""

    def __init__(self, fd: int, *, name: str = "stdout") -> None:
        self._fd = fd
        self._broken: Callable[[], None] | None = None
        self._name = name
        self._waiting: deque[bytes] = deque()
        self._backlog = 0
        self._gone = False
        self._state = threading.Condition(threading.RLock())
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._thread: threading.Thread | None = None
        _widen(fd)

    def on_broken(self, call: Callable[[], None]) -> None:
        """Have ``call`` called once, from any thread, when nobody reads any more."""
        self._broken = call

    def send(self, line: bytes) -> None:
        """Queue one line, newline included."""
        with self._state:
            if self._gone:
                return
            # POSIX: a pipe that polls as writable takes PIPE_BUF bytes without blocking.
            if not self._backlog and len(line) <= select.PIPE_BUF and self._poll.poll(0):
                self._write(line)
                return
            self._waiting.append(line)
            self._backlog += len(line)
            self._state.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_waiting, name=self._name, daemon=True)
                self._thread.start()

    @property
    def crowded(self) -> bool:
        """Whether so much waits to be written that whoever produces it should pause."""
        return self._backlog > _BACKLOG and not self._gone

    def wait_for_room(self) -> None:
        """Pause until the reader on the other side has caught up."""
        if self.crowded:
            with self._state:
                self._state.wait_for(lambda: not self.crowded)

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is written; False when that took too long or nobody reads any more."""
        with self._state:
            return self._state.wait_for(lambda: self._gone or not self._backlog, timeout_s) and not self._gone

    def close(self) -> None:
        """Write no more."""
        with self._state:
            self._gone = True
            self._waiting.clear()
            self._state.notify_all()

    def _write_waiting(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._waiting or self._gone)
                if self._gone:
                    return
                line = self._waiting.popleft()
            self._write(line)
            with self._state:
                self._backlog -= len(line)
                self._state.notify_all()
            del line

    def _write(self, line: bytes) -> None:
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError:
            with self._state:
                already, self._gone = self._gone, True
                self._waiting.clear()
                self._state.notify_all()
            if not already and self._broken is not None:
                self._broken()


def _widen(fd: int) -> None:
    """A pipe holds 64 KiB unless asked for more, and both sides are woken for each of them."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a file, a socket, a limit of the system
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _LARGE_CHUNK)
