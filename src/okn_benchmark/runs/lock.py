"""One writer per runs root, and notice of other sweeps on the same machine."""

import fcntl
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import filelock

from okn_benchmark.errors import OutsideFailure, Refusal
from okn_benchmark.runs.layout import RunsRoot

_TRIES: Final = 20
_HOLDER_BYTES: Final = 1000


@contextmanager
def hold(root: RunsRoot, doing: str) -> Iterator[None]:
    """Keep every other writer out of a root. ``doing`` is the command, for the message others get.

    A root that did not exist is made, and removed again when nothing was written into it.

    Raises:
        Refusal: another process holds it; the sentence names its pid, host and command.
        OutsideFailure: the folder cannot be written to.
    """
    made = not root.path.exists()
    lock = _acquire(root, doing)
    try:
        yield
    finally:
        # Removed while still held; whoever waits for this very file sees that it is gone and opens the next one.
        root.lock.unlink(missing_ok=True)
        lock.release()
        if made:
            with suppress(OSError):
                root.path.rmdir()


def _acquire(root: RunsRoot, doing: str) -> filelock.BaseFileLock:
    for _ in range(_TRIES):
        held: list[int] = []
        try:
            root.path.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(root.lock, timeout=0, on_acquired=held.append)
            lock.acquire()
        except filelock.Timeout as error:
            raise _busy(root) from error
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OutsideFailure(
                f"{root.path} cannot be locked for writing: {reason}.",
                hint="Choose a folder you may write to, on a file system that supports locks.",
            ) from error
        if _still_there(root.lock, held[0]):
            _sign(held[0], doing)
            return lock
        lock.release()  # its last holder removed the file between our opening and our locking it
    raise _busy(root)


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _sign(descriptor: int, doing: str) -> None:
    holder = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "doing": doing})
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, holder.encode()[:_HOLDER_BYTES], 0)


def _busy(root: RunsRoot) -> Refusal:
    try:
        with root.lock.open("rb") as stream:
            holder = json.loads(stream.read(_HOLDER_BYTES))
        who = f"{holder['doing']} (process {int(holder['pid'])} on {holder['host']})"
    except (OSError, ValueError, TypeError, KeyError):
        who = "another process"
    return Refusal(
        f"{root.path} is in use by {who}.",
        hint="Wait until it has ended, or choose another --out; one command at a time writes into a root.",
    )


@dataclass(slots=True)
class SweepMarker:
    """This process's sign that it is sweeping, and its view of the others on this machine."""

    folder: Path
    own: Path | None

    def contended(self) -> bool:
        """Whether another sweep is running now; False too where that cannot be seen."""
        try:
            others = [path for path in self.folder.iterdir() if path.suffix == ".sweep" and path != self.own]
        except OSError:
            return False
        return any([_is_live(path) for path in others])  # noqa: C419 - each stale one is cleared on the way


@contextmanager
def sweeping(folder: Path | None = None) -> Iterator[SweepMarker]:
    """Be seen by other sweeps for as long as this lasts.

    ``folder`` is where sweeps of every user and every root meet; by default one in the system's temporary folder.
    """
    place = folder or Path(tempfile.gettempdir()) / "okn-benchmark-sweeps"
    descriptor, own = _raise_marker(place)
    try:
        yield SweepMarker(place, own)
    finally:
        if own is not None:
            with suppress(OSError):
                own.unlink()
        if descriptor is not None:
            os.close(descriptor)


def _raise_marker(place: Path) -> tuple[int | None, Path | None]:
    try:
        if not place.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o1777)  # shared by everyone on the machine, like the folder it stands in
        for _ in range(_TRIES):
            own = place / f"{os.getpid()}-{os.urandom(4).hex()}.sweep"
            descriptor = os.open(own, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(descriptor).st_nlink:
                    return descriptor, own
            os.close(descriptor)  # someone looked before it was locked and took it for a dead one
    except OSError:
        pass
    return None, None  # not being seen costs a note in a record, never a run


def _is_live(path: Path) -> bool:
    """Whether the process behind a marker still runs: it holds an exclusive lock for as long as it does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two that look at the same dead marker do not take each other for its owner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        with suppress(OSError):
            path.unlink()
        return False
    finally:
        os.close(descriptor)
