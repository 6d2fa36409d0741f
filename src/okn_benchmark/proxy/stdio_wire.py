"""An upstream as a child process: lines over its pipes, its whole process group ended with us.

The child gets a small environment (paths, locale, the profile's own values), never the agent's credentials. What it
says on stderr is passed on with secrets masked, and its last words explain a failure.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final

from okn_benchmark.jsonrpc import MESSAGE_BOUND, Message, Oversize, decode, guess_id, one_line
from okn_benchmark.profile import StdioUpstream
from okn_benchmark.proxy.front import Incoming, Inlet, Outlet
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Failed, Noted, Receive
from okn_benchmark.proxy.words import last_words

_GRACE_S: Final = 1.0
"""For each step of the way out: stdin closed, SIGTERM, SIGKILL."""
_LAST_WORDS: Final = 20
_LINE_KEPT: Final = 2000
_STDERR_LINE: Final = 65536
_PIPE_SIZE: Final = 1 << 20
_PR_SET_PDEATHSIG: Final = 1

_INHERITED: Final = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"})


def child_environment(upstream: StdioUpstream, env: Mapping[str, str]) -> dict[str, str]:
    """PATH, HOME, locale and the like from ``env``, then everything the profile sets."""
    kept = {name: value for name, value in env.items() if name in _INHERITED or name.startswith("LC_")}
    return {**kept, **upstream.env}


def find_command(command: str, env: Mapping[str, str]) -> str:
    """The program to start: as given, on PATH, or installed beside our own interpreter."""
    # shutil.which would do, and loads four compression libraries first.
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    if os.sep in command or any(os.access(Path(folder, command), os.X_OK) for folder in folders):
        return command
    beside = Path(sys.executable).parent / command
    return str(beside) if beside.exists() else command


class StdioWire:
    """A ``Wire`` to a child process. ``pace`` is called between batches and may pause the reading."""

    def __init__(
        self,
        upstream: StdioUpstream,
        *,
        env: Mapping[str, str],
        redact: Callable[[str], str] = str,
        pace: Callable[[], None] = lambda: None,
        bound: int = MESSAGE_BOUND,
    ) -> None:
        self._redact = redact
        self._pace = pace
        self._bound = bound
        self._last_words = deque[str](maxlen=_LAST_WORDS)
        self._exited = threading.Event()
        self._quiet = threading.Event()
        self._receive: Receive | None = None
        self._outlet: Outlet | None = None
        self._inlets: list[tuple[Inlet, IO[bytes]]] = []
        # Started here and listened to later: the server gets going while the rest of this process still loads.
        self._child = self._spawn(upstream, child_environment(upstream, env))

    def start(self, receive: Receive) -> None:
        """Begin to listen to the child, or report that there is none."""
        self._receive = receive
        if isinstance(self._child, str):
            receive(Closed(reason=self._child))
            return
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._outlet = Outlet(child.stdin.fileno(), name="to the server")
        reader = Inlet(child.stdout.fileno(), self._arrived, bound=self._bound, name="from the server")
        listener = Inlet(child.stderr.fileno(), self._said, bound=_STDERR_LINE, name="stderr of the server")
        self._inlets = [(reader, child.stdout), (listener, child.stderr)]
        for inlet, _ in self._inlets:
            inlet.start()
        threading.Thread(target=self._wait, args=(child,), name="exit of the server", daemon=True).start()

    def send(self, message: Message, raw: bytes) -> None:
        """Write the line as it is."""
        del message
        if self._outlet is not None:
            self._outlet.send(raw)

    def close(self) -> None:
        """Close its stdin, then SIGTERM, then SIGKILL, each a second apart, to the whole group."""
        child = self._child
        if isinstance(child, str):
            return
        if self._outlet is not None:
            self._outlet.close()
        assert child.stdin is not None
        with contextlib.suppress(OSError):
            child.stdin.close()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            if self._exited.wait(_GRACE_S):
                break
            _signal_group(child.pid, ending)
        self._exited.wait(_GRACE_S)
        # The leader may be gone while others of its group are not.
        if _signal_group(child.pid, signal.SIGTERM):
            _wait_for_group(child.pid, _GRACE_S / 4)
            _signal_group(child.pid, signal.SIGKILL)
        for inlet, stream in self._inlets:
            # A pipe that somebody who got away still holds is left to the end of this process.
            if inlet.ended(_GRACE_S / 4):
                stream.close()

    def _spawn(self, upstream: StdioUpstream, env: Mapping[str, str]) -> "subprocess.Popen[bytes] | str":
        try:
            child = subprocess.Popen(
                [find_command(upstream.command, env), *upstream.args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=upstream.cwd,
                env=env,
                bufsize=0,
                pipesize=_PIPE_SIZE,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call into libc, loaded before the fork
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if upstream.cwd is not None and not upstream.cwd.is_dir():
                reason = f"its folder {upstream.cwd} is not there"
            return self._redact(f"{upstream.command} could not be started: {reason}")
        return child

    def _arrived(self, batch: Incoming | None) -> None:
        assert self._receive is not None
        if batch is None:
            self._receive(Closed(reason=self._ending()))
            return
        for line in batch:
            event = self._read(line)
            if event is not None:
                self._receive(event)
        self._pace()

    def _read(self, line: bytes | Oversize) -> Event | None:
        if isinstance(line, Oversize):
            reason = f"its reply of {line.size:,} bytes is over the limit of {self._bound:,} and was dropped"
            return Failed(request_id=guess_id(line), reason=reason)
        messages = decode(line)
        if messages is not None and len(messages) == 1 and not line.startswith(b"["):
            return Arrived(message=messages[0], raw=line if line.endswith(b"\n") else one_line(line))
        return Noted(what="junk_lines") if line.strip() else None

    def _ending(self) -> str:
        """Why its output has ended: give it a moment to exit, and its stderr to be read."""
        self._exited.wait(_GRACE_S)
        self._quiet.wait(_GRACE_S / 4)
        code = None if isinstance(self._child, str) else self._child.returncode
        how = "closed its output" if code is None else _how_it_ended(code)
        words = last_words(self._last_words)
        return f"the server process {how}" + (f": {words}" if words else "")

    def _said(self, batch: Incoming | None) -> None:
        if batch is None:
            self._quiet.set()
            return
        for line in batch:
            raw = line.head + b" [cut]\n" if isinstance(line, Oversize) else line
            text = self._redact(raw.decode("utf-8", "replace"))
            self._last_words.append(text.rstrip()[:_LINE_KEPT])
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(text)
                sys.stderr.flush()

    def _wait(self, child: "subprocess.Popen[bytes]") -> None:
        child.wait()
        self._exited.set()


_prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux alone has it


def _die_with_parent() -> None:
    """In the child, before exec: were this proxy killed outright, the kernel ends the server."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _wait_for_group(group: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while _signal_group(group, 0) and time.monotonic() < until:
        time.sleep(0.01)


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
