"""Old evidence set aside under ``.replaced/<n>/``: what ``--force`` replaces and attempts that are run again.

Nothing is deleted. What is about to move is written down first, so that a crash in the middle is finished by the next
command instead of leaving half of an old run among the files of a new one.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.jsonio import Fields, parse_object, pretty
from okn_benchmark.runs.layout import RunsRoot, is_temporary
from okn_benchmark.runs.store import DEFAULT_WRITE, Write

JOURNAL: Final = "moving.json"


def set_aside(root: RunsRoot, paths: Iterable[Path], put: Write = DEFAULT_WRITE) -> Path | None:
    """Move files and folders of the root under a new ``.replaced/<n>/``, at the same place relative to it.

    Returns the folder they are in now, or None where none of ``paths`` exists.

    Raises:
        OutsideFailure: a move failed; what was not moved stays where it was, and the next command moves it.
    """
    finish_pending(root)
    relative = [str(path.relative_to(root.path)) for path in paths if path.exists()]
    if not relative:
        return None
    folder = root.replaced / f"{_next_number(root):04d}"
    put(folder / JOURNAL, pretty({"paths": relative}).encode())
    _move(root, folder)
    return folder


def set_aside_condition(root: RunsRoot, condition: str, put: Write = DEFAULT_WRITE) -> Path | None:
    """Everything recorded under one condition, in every record's folder."""
    arms = [root.arm(record, condition) for record in root.records()]
    return set_aside(root, [root.condition(condition), *arms], put)


def finish_pending(root: RunsRoot) -> None:
    """Complete moves that a crash interrupted, and clear the temporary files of writes that never became one."""
    _clear_temporaries(root)
    if root.replaced.is_dir():
        for journal in sorted(root.replaced.glob(f"*/{JOURNAL}")):
            _move(root, journal.parent)


def _clear_temporaries(root: RunsRoot) -> None:
    """Only where this program alone writes: what is in an attempt's folder is the episode's."""
    questions = [root.question(record) for record in root.records()]
    arms = [root.arm(record, condition) for record in root.records() for condition in root.arms(record)]
    for folder in (root.path, root.conditions, *questions, *arms):
        if folder.is_dir():
            for left in filter(is_temporary, folder.iterdir()):
                left.unlink(missing_ok=True)


def _move(root: RunsRoot, folder: Path) -> None:
    journal = folder / JOURNAL
    try:
        for name in Fields(parse_object(journal.read_bytes(), str(journal)), str(journal)).texts("paths"):
            source = root.path / name
            root.kind_of(source)  # a journal is a file like any other: nothing outside the root is moved
            if source.exists():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
        journal.unlink()
    except OSError as error:
        raise OutsideFailure(
            f"Old evidence could not be moved to {folder}: {error.strerror or error}.",
            hint="Make the folder writable and repeat the command; nothing was deleted.",
        ) from error


def _next_number(root: RunsRoot) -> int:
    if not root.replaced.is_dir():
        return 1
    taken = [int(entry.name) for entry in root.replaced.iterdir() if entry.name.isascii() and entry.name.isdigit()]
    return max(taken, default=0) + 1
