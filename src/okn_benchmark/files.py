"""Whole-file replacement: a reader sees the old bytes or the new ones, never a part."""

import contextlib
import os
import secrets
from pathlib import Path

from okn_benchmark.errors import OutsideFailure


def replace_whole(path: Path, data: bytes | str) -> None:
    """Write to a temporary name beside ``path``, flush to disk, rename over it.

    Raises:
        OutsideFailure: the folder is read-only, the disk is full, or the path runs through a file. What stood at
            ``path`` before is untouched then, and nothing half written is left.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise OutsideFailure(
            f"{path} could not be written: {error.strerror or error}",
            hint="Free some space or choose a folder you may write to; nothing half written was left behind.",
        ) from error
