"""Where records come from: a folder, a git repository at a ref, or the corpora bundled with this package.

A clone is shallow, made once per URL and ref, and reused without asking the network again. What was resolved stands
in ``commit``; ``dirty`` says whether the files differ from it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.corpus.git import GitSource, clone, revision
from okn_benchmark.corpus.record import Record, RecordError, parse_record
from okn_benchmark.errors import InputError
from okn_benchmark.places import cache_home

_LARGEST_RECORD = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecord:
    """A file that is no record: its name, the line at fault (from 1), and what to write instead."""

    name: str
    line: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Records in order of their file names. ``commit`` and ``dirty`` are None outside a git checkout."""

    records: tuple[Record, ...]
    bad: tuple[BadRecord, ...]
    source: str
    """What was asked for, as text for a record of a run; no credentials."""
    folder: Path
    commit: str | None
    dirty: bool | None

    def require_good(self) -> None:
        """Stop where a file of the corpus cannot be read.

        Raises:
            InputError: naming every such file and line.
        """
        if not self.bad:
            return
        faults = "; ".join(f"{bad.name}:{bad.line}: {bad.message}" for bad in self.bad)
        many = "file cannot be read as a record" if len(self.bad) == 1 else "files cannot be read as records"
        raise InputError(
            f"{len(self.bad)} {many} in {self.source}: {faults}.",
            hint=f"Mend or remove them; `okn-benchmark corpus check --corpus {self.source}` lists every fault.",
        )


def open_corpus(spec: str, cache_dir: Path | None = None, *, refresh: bool = False) -> Corpus:
    """Read the corpus a user named: a folder, ``git+<url>[@ref][#subdir]``, or the name of a bundled corpus.

    ``cache_dir`` replaces the user cache folder; ``refresh`` clones a git source again.

    Raises:
        InputError: no such folder, no record in it, or a git source that is refused.
        OutsideFailure: git could not fetch it.
    """
    if spec.startswith("git+"):
        git = GitSource.parse(spec)
        top = clone(git, cache_home(cache_dir) / "corpora", refresh=refresh)
        folder = git.folder(top)
        return _read(folder, str(git), inside=top)
    folder = Path(spec).expanduser()
    if not folder.exists() and spec in bundled_names():
        return _read(bundled(spec), f"bundled:{spec}", inside=bundled(spec))
    if not folder.exists():
        raise InputError(f"There is no corpus at {spec}.", hint=_choices())
    if not folder.is_dir():
        raise InputError(f"{spec} is a file; a corpus is a folder of .rq records.")
    return _read(folder, spec, inside=None)


def bundled_names() -> tuple[str, ...]:
    """The corpora that come with this package, found by listing; none is named in the code."""
    return tuple(sorted(_bundled()))


def bundled(name: str) -> Path:
    """The folder of one bundled corpus.

    Raises:
        InputError: there is none of that name.
    """
    found = _bundled()
    if name not in found:
        raise InputError(f"No corpus named {name!r} comes with this package.", hint=_choices())
    return found[name]


def _bundled() -> dict[str, Path]:
    """The wheel's copies, or the folders of a checkout: an editable install has only the second."""
    package = Path(__file__).parent.parent
    homes = (package / "corpora", package.parent.parent)
    for home in homes:
        found = {path.parent.name: path.parent for path in home.glob("benchmarks-*/*.rq")}
        if found:
            return found
    return {}


def _choices() -> str:
    names = ", ".join(bundled_names())
    bundled_text = f" Bundled corpora: {names}." if names else ""
    return f"Give a folder of .rq records or git+<url>[@ref][#subdir].{bundled_text}"


def _read(folder: Path, source: str, *, inside: Path | None) -> Corpus:
    paths = sorted(_record_paths(folder), key=lambda path: path.name)
    if not paths:
        raise _no_records(folder, source)
    records: list[Record] = []
    bad: list[BadRecord] = []
    for path in paths:
        try:
            records.append(parse_record(_text(path, inside), path.name))
        except RecordError as error:
            hint = f" ({error.hint})" if error.hint else ""
            bad.append(BadRecord(name=error.name, line=error.line, message=error.reason + hint))
    commit, dirty = revision(folder)
    return Corpus(records=tuple(records), bad=tuple(bad), source=source, folder=folder, commit=commit, dirty=dirty)


def _record_paths(folder: Path) -> Iterator[Path]:
    try:
        for path in folder.iterdir():
            if path.suffix == ".rq" and not path.name.startswith(".") and not path.is_dir():
                yield path
    except OSError as error:
        raise InputError(f"{folder} cannot be listed: {error.strerror}.") from error


def _text(path: Path, inside: Path | None) -> str:
    """The text of a record; in a clone nothing outside the clone is followed."""
    if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
        raise RecordError(path.name, 1, "this is a link out of the corpus; put the file itself there")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise RecordError(path.name, 1, f"the file cannot be read ({error.strerror})") from error
    if len(raw) > _LARGEST_RECORD:
        raise RecordError(path.name, 1, f"{len(raw):,} bytes are no record; a question with its key has a few thousand")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RecordError(path.name, line, "the text is not UTF-8; save it in that encoding") from error


def _no_records(folder: Path, source: str) -> InputError:
    below = []
    for top, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))[:200]
        if len(Path(top).relative_to(folder).parts) >= 3:
            names.clear()
        if any(file.endswith(".rq") for file in files):
            below.append(Path(top).relative_to(folder).as_posix())
    if not below:
        return InputError(f"{source} holds no .rq record.", hint=_choices())
    mark = "#" if source.startswith("git+") else "/"
    shown = ", ".join(f"{source}{mark}{name}" for name in below[:12])
    return InputError(
        f"{source} holds no .rq record itself, but {len(below)} folder{'s' if len(below) > 1 else ''} below it "
        f"{'do' if len(below) > 1 else 'does'}.",
        hint=f"Name one of them: {shown}.",
    )
