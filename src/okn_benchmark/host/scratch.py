"""The agent's working directory: fresh, empty, outside any repository and outside the runs root."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from okn_benchmark.errors import InputError

LEFTOVER_BYTES: Final = 64 * 1024 * 1024
"""What an episode may leave behind before the rest is dropped by name."""
_REPOSITORY_MARKS: Final = (".git", ".hg", ".svn")


@contextlib.contextmanager
def scratch_folder(avoid: Path, parent: Path | None = None) -> Iterator[Path]:
    """An empty folder that is gone afterwards. ``avoid`` is the runs root (or attempt folder) it must not lie in.

    Raises:
        InputError: the temporary folder lies inside a repository or inside ``avoid``.
    """
    base = Path(tempfile.gettempdir() if parent is None else parent).resolve()
    for folder in (base, *base.parents):
        for mark in _REPOSITORY_MARKS:
            if (folder / mark).exists():
                raise InputError(
                    f"The temporary folder {base} lies inside the repository {folder}.",
                    hint="Point TMPDIR at a folder outside any repository.",
                )
    if base.is_relative_to(avoid.resolve()):
        raise InputError(f"The temporary folder {base} lies inside the runs root.", hint="Point TMPDIR elsewhere.")
    folder = Path(tempfile.mkdtemp(prefix="okn-episode-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect_leftovers(folder: Path, target: Path) -> list[str]:
    """Copy what an episode left into ``target``, in path order; the names of what was not kept come back.

    Links are not followed and count as not kept: they could point at anything.
    """
    dropped: list[str] = []
    total = 0
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_dir() and not path.is_symlink():
            continue
        size = path.lstat().st_size
        if path.is_symlink() or not path.is_file() or total + size > LEFTOVER_BYTES:
            dropped.append(str(name))
            continue
        total += size
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name, follow_symlinks=False)
    return dropped
