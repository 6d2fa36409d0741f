"""An upstream as a child process: lines over its pipes, its whole process group ended with us.

The child gets a small environment (paths, locale, the profile's own values), never the agent's credentials. What it
says on stderr is passed on with secrets masked, and its last words explain a failure.
"""

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from okn_benchmark.jsonrpc import MESSAGE_BOUND, Lines, Message, Oversize, decode, guess_id, one_line
from okn_benchmark.profile import StdioUpstream
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Failed, Junk

_CHUNK: Final = 1 << 20
_GRACE_S: Final = 1.0
"""For each step of the way out: stdin closed, SIGTERM, SIGKILL."""
_STDERR_KEPT: Final = 2000
_QUEUED_EVENTS: Final = 512
_PR_SET_PDEATHSIG: Final = 1

_INHERITED: Final = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"})


def child_environment(upstream: StdioUpstream, env: Mapping[str, str]) -> dict[str, str]:
    """PATH, HOME, locale and the like from ``env``, then everything the profile sets."""
    kept = {name: value for name, value in env.items() if name in _INHERITED or name.startswith("LC_")}
    return {**kept, **upstream.env}


def find_command(command: str, env: Mapping[str, str]) -> str:
    """The program to start: as given, on PATH, or installed beside our own interpreter."""
    if os.sep in command or shutil.which(command, path=env.get("PATH", os.defpath)):
        return command
    beside = Path(sys.executable).parent / command
    return str(beside) if beside.exists() else command


class StdioWire:
    """A ``Wire`` to a child process; made inside a running loop."""

    def __init__(
        self,
        upstream: StdioUpstream,
        *,
        env: Mapping[str, str] | None = None,
        redact: Callable[[str], str] = str,
        bound: int = MESSAGE_BOUND,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._lines = Lines(bound)
        self._bound = bound
        self._redact = redact
        self._waiting: deque[memoryview] = deque()
        self._last_words = deque[str](maxlen=20)
        self._exited = asyncio.Event()
        self._quiet = asyncio.Event()
        self._closing = False
        self._paused = False
        self._child = self._spawn(upstream, os.environ if env is None else env)

    def send(self, message: Message, raw: bytes) -> None:
        """Write the line as it is."""
        del message
        if self._child is None or self._closing:
            return
        self._waiting.append(memoryview(raw))
        if len(self._waiting) == 1:
            self._write()

    async def receive(self) -> Event:
        """The next event."""
        event = await self._events.get()
        if self._paused and self._events.qsize() < _QUEUED_EVENTS // 2:
            self._paused = False
            self._watch()
        return event

    async def close(self) -> None:
        """Close its stdin, then SIGTERM, then SIGKILL, each a second apart, to the whole group."""
        child, self._closing = self._child, True
        if child is None:
            return
        self._unwatch()
        self._close_stdin()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            if await self._gone():
                break
            _signal_group(child.pid, ending)
        await self._gone()
        # The leader may be gone while others of its group are not.
        if _signal_group(child.pid, signal.SIGTERM):
            await asyncio.sleep(0.1)
            _signal_group(child.pid, signal.SIGKILL)

    async def _gone(self) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), _GRACE_S)
        return self._exited.is_set()

    def _spawn(self, upstream: StdioUpstream, env: Mapping[str, str]) -> "subprocess.Popen[bytes] | None":
        given = child_environment(upstream, env)
        try:
            child = subprocess.Popen(
                [find_command(upstream.command, given), *upstream.args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=upstream.cwd,
                env=given,
                bufsize=0,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call into libc, loaded before the fork
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._events.put_nowait(Closed(reason=self._redact(f"{upstream.command} could not be started: {reason}")))
            return None
        assert child.stdin is not None
        assert child.stdout is not None
        for pipe in (child.stdin, child.stdout):
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe.fileno())
        self._stdin, self._stdout = child.stdin.fileno(), child.stdout.fileno()
        self._watching = False
        self._writing = False
        self._watch()
        for work, name in ((self._listen, "stderr"), (self._wait, "wait")):
            threading.Thread(target=work, args=(child,), name=f"upstream {name}", daemon=True).start()
            self._child = child
        return child

    def _watch(self) -> None:
        if not self._closing and not self._watching:
            self._watching = True
            self._loop.add_reader(self._stdout, self._read)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._stdout)

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._unwatch()
            last = self._lines.rest()
            if last is not None:
                self._take(last)
            self._loop.create_task(self._explain_end())
            return
        for line in self._lines.feed(chunk):
            self._take(line)
        if self._events.qsize() > _QUEUED_EVENTS:
            self._paused = True
            self._unwatch()

    def _take(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            reason = f"its reply of {line.size:,} bytes is over the limit of {self._bound:,} and was dropped"
            self._events.put_nowait(Failed(request_id=guess_id(line), reason=reason))
            return
        if not line.strip():
            return
        messages = decode(line)
        if messages is None:
            self._events.put_nowait(Junk(size=len(line)))
        elif len(messages) == 1 and not line.startswith(b"["):
            self._events.put_nowait(Arrived(message=messages[0], raw=line if line.endswith(b"\n") else one_line(line)))
        else:
            self._events.put_nowait(Junk(size=len(line)))

    async def _explain_end(self) -> None:
        """Stdout has ended; give the process a moment to say with which code, and its stderr to be read."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), _GRACE_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), _GRACE_S / 4)
        code = self._child.returncode if self._child is not None else None
        ending = "closed its output" if code is None else _ending(code)
        words = " ".join(" ".join(self._last_words).split())[-400:]
        self._events.put_nowait(Closed(reason=f"the server process {ending}" + (f": {words}" if words else "")))

    def _write(self) -> None:
        while self._waiting:
            view = self._waiting[0]
            try:
                written = os.write(self._stdin, view)
            except BlockingIOError:
                written = 0
            except OSError:
                self._waiting.clear()  # the end of its stdout will tell the rest
                break
            if written < len(view):
                self._waiting[0] = view[written:]
                if not self._writing:
                    self._writing = True
                    self._loop.add_writer(self._stdin, self._write)
                return
            self._waiting.popleft()
        self._stop_writing()

    def _stop_writing(self) -> None:
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._stdin)

    def _close_stdin(self) -> None:
        self._stop_writing()
        assert self._child is not None
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()

    def _listen(self, child: "subprocess.Popen[bytes]") -> None:
        """Pass stderr on, masked. In a thread: whatever it says must not wait for us, nor we for it."""
        stderr = child.stderr
        assert stderr is not None
        for raw in iter(lambda: stderr.readline(8192), b""):
            text = self._redact(raw.decode("utf-8", "replace"))
            self._last_words.append(text.strip()[:_STDERR_KEPT])
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(text)
                sys.stderr.flush()
        self._tell(self._quiet)

    def _wait(self, child: "subprocess.Popen[bytes]") -> None:
        child.wait()
        self._tell(self._exited)

    def _tell(self, what: asyncio.Event) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(what.set)


_prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux alone has it


def _die_with_parent() -> None:
    """In the child, before exec: were this proxy killed outright, the kernel ends the server."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_group(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _widen(fd: int) -> None:
    """A pipe of 64 KiB costs a context switch per 64 KiB; ask for more where the system lets us."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _CHUNK)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
