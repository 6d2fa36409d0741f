"""Every path of a runs root, and for each whether it is evidence or derived.

    README.md  README.html  summary.csv  report.html      derived (anything else at the top is evidence)
    .frozen  .lock  .replaced/                            state, older evidence
    conditions/<condition>.json                           meta is evidence, the rest derived
    <record>_results/
      ground_truth.csv  ground_truth.json  summary.csv
      <condition>/
        result.json
        attempt-<n>/                                      evidence, every file of it

Record ids and condition names come from files and flags; one that would leave its folder is refused here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from okn_benchmark.errors import InputError

Kind: TypeAlias = Literal["evidence", "derived", "condition", "state"]

RESULTS: Final = "_results"
CONDITIONS: Final = "conditions"
FROZEN: Final = ".frozen"
LOCK: Final = ".lock"
REPLACED: Final = ".replaced"
_DERIVED_TOP: Final = frozenset({"README.md", "README.html", "summary.csv", "report.html"})
_ATTEMPT: Final = re.compile(r"attempt-([1-9][0-9]{0,5})")
_LONGEST_BYTES: Final = 200


def checked_name(name: str, what: str) -> str:
    """``name`` where it is safe as one folder name.

    Raises:
        InputError: it is empty, too long, hidden, or holds a slash, a backslash or a control character.
    """
    unsafe = any(ord(c) < 32 or c in "/\\\x7f" or 0xD800 <= ord(c) <= 0xDFFF for c in name)
    if unsafe or not name or name.startswith(".") or name != name.strip():
        raise InputError(f"The {what} {name!r} cannot be a folder name.", hint=f"Rename the {what}.")
    if len(name.encode()) > _LONGEST_BYTES:
        raise InputError(f"The {what} {name[:40]}… is longer than {_LONGEST_BYTES} bytes.", hint=f"Shorten the {what}.")
    return name


@dataclass(frozen=True, slots=True)
class AttemptPaths:
    """The files of one attempt: evidence, all of it."""

    folder: Path

    @property
    def number(self) -> int:
        """The n of ``attempt-<n>``."""
        return int(self.folder.name.removeprefix("attempt-"))

    @property
    def header(self) -> Path:
        """``attempt.json``: written first."""
        return self.folder / "attempt.json"

    @property
    def prompt(self) -> Path:
        """What the agent was asked."""
        return self.folder / "prompt.txt"

    @property
    def command(self) -> Path:
        """The literal command of the agent program."""
        return self.folder / "command.txt"

    @property
    def transcript(self) -> Path:
        """The agent program's event stream."""
        return self.folder / "transcript.jsonl"

    @property
    def agent(self) -> Path:
        """The agent program's final message."""
        return self.folder / "agent.json"

    @property
    def calls(self) -> Path:
        """What the proxy saw."""
        return self.folder / "calls.json"

    @property
    def calls_log(self) -> Path:
        """What ``calls.json`` is compiled from: one line per event, flushed as it happened."""
        return self.folder / "calls.jsonl"

    @property
    def answer(self) -> Path:
        """The last accepted submission."""
        return self.folder / "answer.csv"

    @property
    def episode(self) -> Path:
        """``episode.json``: written last; without it the attempt did not finish."""
        return self.folder / "episode.json"

    @property
    def cwd(self) -> Path:
        """What the episode left in its scratch folder."""
        return self.folder / "cwd"

    def rejected(self) -> list[Path]:
        """The refused submissions, in order of their number."""
        return sorted(self.folder.glob("rejected-*.csv"), key=lambda path: (len(path.name), path.name))


@dataclass(frozen=True, slots=True)
class RunsRoot:
    """A runs root at ``path``, which need not exist yet."""

    path: Path

    @property
    def readme(self) -> Path:
        """The generated summary."""
        return self.path / "README.md"

    @property
    def summary(self) -> Path:
        """One row per attempt of the whole root."""
        return self.path / "summary.csv"

    @property
    def html(self) -> Path:
        """The generated page."""
        return self.path / "report.html"

    @property
    def frozen(self) -> Path:
        """The marker of a closed root."""
        return self.path / FROZEN

    @property
    def lock(self) -> Path:
        """Held while a command writes."""
        return self.path / LOCK

    @property
    def replaced(self) -> Path:
        """Evidence that ``--force`` or a repeated attempt moved aside."""
        return self.path / REPLACED

    @property
    def conditions(self) -> Path:
        """The folder of condition records."""
        return self.path / CONDITIONS

    def condition(self, name: str) -> Path:
        """``conditions/<name>.json``."""
        return self.conditions / f"{checked_name(name, 'condition')}.json"

    def question(self, record: str) -> Path:
        """The folder of one record."""
        return self.path / f"{checked_name(record, 'record id')}{RESULTS}"

    def truth_json(self, record: str) -> Path:
        """``ground_truth.json`` of a record."""
        return self.question(record) / "ground_truth.json"

    def truth_csv(self, record: str) -> Path:
        """``ground_truth.csv`` of a record."""
        return self.question(record) / "ground_truth.csv"

    def question_summary(self, record: str) -> Path:
        """One row per attempt of one record."""
        return self.question(record) / "summary.csv"

    def arm(self, record: str, condition: str) -> Path:
        """The folder of one record under one condition."""
        return self.question(record) / checked_name(condition, "condition")

    def result(self, record: str, condition: str) -> Path:
        """``result.json``."""
        return self.arm(record, condition) / "result.json"

    def attempt(self, record: str, condition: str, number: int) -> AttemptPaths:
        """The files of attempt ``number``, counted from 1."""
        return AttemptPaths(self.arm(record, condition) / f"attempt-{number}")

    def records(self) -> list[str]:
        """Ids of the records that have a folder here, sorted; a folder whose name we would not give is no record's."""
        names = (folder.name for folder in _folders(self.path) if _is_question(folder.name))
        return sorted(name for name in (n.removesuffix(RESULTS) for n in names) if _is_safe(name))

    def arms(self, record: str) -> list[str]:
        """Conditions that have a folder under a record, sorted."""
        return sorted(folder.name for folder in _folders(self.question(record)) if _is_safe(folder.name))

    def attempts(self, record: str, condition: str) -> list[AttemptPaths]:
        """Attempts that have a folder, by number."""
        found = [AttemptPaths(f) for f in _folders(self.arm(record, condition)) if _ATTEMPT.fullmatch(f.name)]
        return sorted(found, key=lambda attempt: attempt.number)

    def condition_names(self) -> list[str]:
        """Conditions that have a record, sorted."""
        if not self.conditions.is_dir():
            return []
        files = (p for p in self.conditions.iterdir() if p.suffix == ".json" and not p.name.startswith("."))
        return sorted(path.stem for path in files if _is_safe(path.stem))

    def kind_of(self, path: Path) -> Kind:
        """Which writer a file belongs to, by its place.

        Raises:
            InputError: ``path`` is not inside this root.
        """
        try:
            parts = path.relative_to(self.path).parts
        except ValueError:
            parts = ()
        if not parts or ".." in parts:
            raise InputError(f"{path} is not inside the runs root {self.path}.")
        return kind_of_parts(parts)


def kind_of_parts(parts: tuple[str, ...]) -> Kind:
    """The kind of a file by its path inside a root."""
    match parts:
        case (".frozen" | ".lock",):
            return "state"
        case (top,) if top in _DERIVED_TOP:
            return "derived"
        case ("conditions", _):
            return "condition"
        case (question, "summary.csv") | (question, _, "result.json") if _is_question(question):
            return "derived"
    return "evidence"


def evidence_files(root: RunsRoot) -> Iterator[Path]:
    """Every evidence file and condition record, as absolute paths in a stable order; links are not followed."""
    for path in _walk(root.path):
        if root.kind_of(path) in ("evidence", "condition") and not is_temporary(path):
            yield path


def is_temporary(path: Path) -> bool:
    """Whether a crash left this behind in the middle of a write."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _walk(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != ".git":
                yield from _walk(entry)
        else:
            yield entry


def _folders(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_safe(name: str) -> bool:
    try:
        checked_name(name, "name")
    except InputError:
        return False
    return True


def _is_question(name: str) -> bool:
    return name.endswith(RESULTS) and len(name) > len(RESULTS)
