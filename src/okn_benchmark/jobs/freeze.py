"""Close a runs root, and hold a closed one against what it was."""

from datetime import date
from pathlib import Path

from okn_benchmark.runs.freeze import Change, Marker, close, require_root, verify
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import hold


def freeze(path: Path, reason: str, today: date) -> Marker:
    """Write the marker, with the digest of every evidence file.

    Raises:
        InputError: no reason, or the folder is no runs root.
        Refusal: it is frozen already, or another command is writing into it.
        OutsideFailure: the marker could not be written.
    """
    root = RunsRoot(path)
    require_root(root)
    with hold(root, "okn-benchmark freeze"):
        return close(root, reason, today.isoformat())


def check(path: Path) -> list[Change]:
    """Evidence of a closed root that is not what it was; empty when every byte is.

    Raises:
        InputError: the folder is no runs root, is open, or its marker holds no digests.
    """
    root = RunsRoot(path)
    require_root(root)
    return verify(root)
