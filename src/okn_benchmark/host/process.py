"""One agent process and everything it starts: fed a prompt, read line by line, ended as a group."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from okn_benchmark.errors import OutsideFailure

INTERRUPT_GRACE_S: Final = 1.5
"""After SIGINT the agent program still says what it used, if it is given this long."""
TERMINATE_GRACE_S: Final = 3.0
"""Between SIGTERM and SIGKILL for the group: long enough for the proxy to compile its log."""
DRAIN_S: Final = 6.0
"""How long the rest of the group may take after the agent left by itself; the proxy promises 5 s."""
STDERR_KEPT: Final = 8_000
LINE_LIMIT: Final = 32 * 1024 * 1024
_TICK_S: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the process went. ``exit_code`` is None when a signal ended it, ``signal`` None when it left by itself."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    wall_s: float
    stderr: str


def run_group(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: str,
    timeout_s: float,
    on_line: Callable[[bytes], None],
    drain_s: float = DRAIN_S,
) -> Ended:
    """Run ``argv`` as the leader of its own process group; nothing of the group is left when this returns.

    ``on_line`` gets each line of stdout as it comes, without its newline, from another thread. An exception in the
    calling thread (an interrupt above all) ends the group as well.

    Raises:
        OutsideFailure: the program could not be started.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise OutsideFailure(
            f"{argv[0]} could not be started: {error.strerror or error}.",
            hint="Install the agent program, or name it with --claude.",
        ) from error
    with process:
        stderr = bytearray()
        faults: list[BaseException] = []
        threads = _start_threads(process, stdin, _keeping(faults, on_line), stderr)
        timed_out = False
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            _interrupt(process)
            end_group(process.pid, TERMINATE_GRACE_S)
            process.wait()
        except BaseException:
            end_group(process.pid, TERMINATE_GRACE_S)
            process.wait()
            _join(threads)
            raise
        wall_s = time.monotonic() - began
        if not group_gone(process.pid, drain_s):
            end_group(process.pid, TERMINATE_GRACE_S)
        _join(threads)
    if faults:
        raise faults[0]
    code = process.returncode
    return Ended(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        wall_s=wall_s,
        stderr=stderr.decode("utf-8", "replace"),
    )


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ask the agent alone to stop; its final message is the only source of what a cut-off episode used."""
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(INTERRUPT_GRACE_S)


def _keeping(faults: list[BaseException], on_line: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """A fault of the listener is raised once the process is over; until then its output must be drained."""

    def take(line: bytes) -> None:
        if faults:
            return
        try:
            on_line(line)
        except BaseException as error:  # noqa: BLE001
            faults.append(error)

    return take


def _start_threads(
    process: subprocess.Popen[bytes], stdin: str, on_line: Callable[[bytes], None], stderr: bytearray
) -> list[threading.Thread]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    threads = [
        threading.Thread(target=_feed, args=(process.stdin, stdin.encode()), daemon=True),
        threading.Thread(target=_lines, args=(process.stdout, on_line), daemon=True),
        threading.Thread(target=_tail, args=(process.stderr, stderr), daemon=True),
    ]
    for thread in threads:
        thread.start()
    return threads


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(TERMINATE_GRACE_S)


def _feed(stream: BinaryIO, data: bytes) -> None:
    with contextlib.suppress(OSError), stream:
        stream.write(data)


def _lines(stream: BinaryIO, on_line: Callable[[bytes], None]) -> None:
    """Whole lines; one over the limit is dropped up to its newline, so that no server can fill the memory."""
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(LINE_LIMIT):
            if not line.endswith(b"\n") and len(line) >= LINE_LIMIT:
                while (rest := stream.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                    pass
                line = b'{"type":"okn-benchmark","note":"a line over the limit was dropped"}'
            on_line(line.rstrip(b"\r\n"))


def _tail(stream: BinaryIO, kept: bytearray) -> None:
    with contextlib.suppress(OSError, ValueError):
        while chunk := stream.read1(65_536):  # type: ignore[attr-defined]
            kept += chunk
            del kept[:-STDERR_KEPT]


def end_group(pgid: int, grace_s: float) -> None:
    """SIGTERM to the whole group, SIGKILL to what is left of it after ``grace_s``."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pgid, number)
        if group_gone(pgid, grace_s):
            return


def group_gone(pgid: int, within_s: float) -> bool:
    """Whether the group has no living member, looked at until ``within_s`` have passed."""
    deadline = time.monotonic() + within_s
    while group_alive(pgid):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK_S)
    return True


def group_alive(pgid: int) -> bool:
    """A zombie does not count: nobody may be there to reap the orphans of a container."""
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return True
    return any(_in_group(entry, pgid) for entry in proc.iterdir() if entry.name.isdigit())


def _in_group(entry: Path, pgid: int) -> bool:
    try:
        after_name = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return int(after_name[2]) == pgid and after_name[0] not in "ZX"
