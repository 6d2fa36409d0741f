"""Closing a runs root: a marker with a reason, a date and the digest of every evidence file."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.jsonio import parse_object, pretty
from okn_benchmark.runs.layout import RunsRoot, evidence_files
from okn_benchmark.runs.store import DEFAULT_WRITE, Write
from okn_benchmark.runs.upgrade import schema_of

UNKNOWN: Final = "(the marker does not say why)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """``.frozen``. ``digests``: path inside the root to SHA-256."""

    reason: str
    date: str | None
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """An evidence file that is not what it was when the root was closed. ``what``: changed, missing or added."""

    path: str
    what: str


def read_marker(root: RunsRoot) -> Marker | None:
    """The marker, or None for an open root. A marker that cannot be read still closes the root."""
    try:
        raw = root.frozen.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Marker(reason=UNKNOWN, date=None, digests={})
    try:
        value = parse_object(raw, str(root.frozen))
    except InputError:
        # Written by hand, perhaps: its first line is the best reason there is.
        said = raw.decode("utf-8", "replace").strip().splitlines()
        return Marker(reason=said[0][:200] if said else UNKNOWN, date=None, digests={})
    reason, date, files = (value.get(key) for key in ("reason", "date", "files"))
    return Marker(
        reason=reason if isinstance(reason, str) and reason.strip() else UNKNOWN,
        date=date if isinstance(date, str) else None,
        digests={name: str(found) for name, found in files.items()} if isinstance(files, dict) else {},
    )


def require_open(root: RunsRoot) -> None:
    """Refuse to write into a closed root.

    Raises:
        Refusal: it is frozen; the sentence quotes the root and the reason.
    """
    marker = read_marker(root)
    if marker is not None:
        raise Refusal(
            f"{root.path} is frozen: {marker.reason}",
            hint=f"Write to another folder, or open this one again by deleting {root.frozen} by hand.",
        )


def close(root: RunsRoot, reason: str, date: str, put: Write = DEFAULT_WRITE) -> Marker:
    """Write the marker.

    Raises:
        InputError: no reason, or the folder is no runs root.
        Refusal: it is frozen already.
    """
    require_root(root)
    require_open(root)
    if not reason.strip():
        raise InputError("A root is closed for a reason, and none was given.", hint='Add --reason "…".')
    marker = Marker(reason=reason.strip(), date=date, digests=evidence_digests(root))
    body = {"schema": schema_of("frozen"), "reason": marker.reason, "date": date, "files": dict(marker.digests)}
    put(root.frozen, pretty(body).encode())
    return marker


def verify(root: RunsRoot) -> list[Change]:
    """Evidence that differs from the marker, in path order; empty when every byte is what it was.

    Raises:
        InputError: the root is open, or its marker holds no digests.
    """
    marker = read_marker(root)
    if marker is None:
        raise InputError(f"{root.path} is not frozen, so there is nothing to verify it against.")
    if not marker.digests:
        raise InputError(f"{root.frozen} holds no digests; it was not written by okn-benchmark freeze.")
    now = evidence_digests(root)
    paths = sorted(set(marker.digests) | set(now))
    found = ((path, _difference(marker.digests.get(path), now.get(path))) for path in paths)
    return [Change(path, what) for path, what in found if what is not None]


def _difference(then: str | None, now: str | None) -> str | None:
    if then == now:
        return None
    return "added" if then is None else "missing" if now is None else "changed"


def evidence_digests(root: RunsRoot) -> dict[str, str]:
    """Path inside the root to SHA-256, for every evidence file and condition record."""
    return {_readable(path.relative_to(root.path).as_posix()): file_digest(path) for path in evidence_files(root)}


def _readable(name: str) -> str:
    """A path as JSON can hold it: an episode may leave a file whose name is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; of a link, what it points to and not what is there."""
    if path.is_symlink():
        return hashlib.sha256(b"link:" + os.fsencode(path.readlink())).hexdigest()
    if not path.is_file():
        return hashlib.sha256(b"special").hexdigest()  # a socket or pipe an episode left: never opened
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_root(root: RunsRoot) -> None:
    """Refuse a folder that is no runs root.

    Raises:
        InputError: it does not exist, or holds neither conditions nor results.
    """
    if not root.path.is_dir():
        raise InputError(f"{root.path} does not exist or is not a folder.", hint="Name the --out folder of a run.")
    if not root.conditions.is_dir() and not root.records():
        raise InputError(
            f"{root.path} is not a runs root: it has no {root.conditions.name} folder and no results.",
            hint="Name the --out folder of a run.",
        )
