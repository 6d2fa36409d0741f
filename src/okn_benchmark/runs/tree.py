"""A runs root read back: condition records, results per question, and every file that could not be read, by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from okn_benchmark.errors import InputError
from okn_benchmark.runs.freeze import Marker, read_marker, require_root
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import read_condition, read_question_result, read_truth
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult, TruthRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was left out, and why. ``path`` is relative to the root."""

    path: str
    message: str

    @property
    def reason(self) -> str:
        """The message to stand behind the path: errors name their file too, and once is enough."""
        if not self.message.startswith(self.path):
            return self.message
        rest = self.message[len(self.path) :]
        return rest.removeprefix(": ") if rest.startswith(": ") else f"it{rest}"


@dataclass(frozen=True, slots=True)
class Truths(Mapping[str, TruthRecord]):
    """The ground truth of each record, read when it is asked for: a root holds far more of it than a report shows."""

    root: RunsRoot
    records: tuple[str, ...]

    def __getitem__(self, record: str) -> TruthRecord:
        """Raises InputError where the file is missing or cannot be read; KeyError for a record that is not here."""
        if record not in self.records:
            raise KeyError(record)
        path = self.root.truth_json(record)
        return read_truth(read_file(path), str(path))

    def __iter__(self) -> Iterator[str]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class RootView:
    """What a report is made from. Conditions and records are sorted by name."""

    root: RunsRoot
    conditions: Mapping[str, ConditionRecord]
    questions: Mapping[str, Mapping[str, QuestionResult]]
    """Record → condition → result, for the questions each condition record lists."""
    truths: Mapping[str, TruthRecord]
    unfinished: Mapping[str, int]
    """Condition → attempts on disk, where a sweep was cut off before its condition record."""
    problems: tuple[Problem, ...]
    frozen: Marker | None = None
    replaced: int = 0
    """How many times old evidence was set aside."""


@dataclass(slots=True)
class _Reading:
    root: RunsRoot
    problems: list[Problem] = field(default_factory=list)

    def attempt(self, path: Path, read: Callable[[bytes, str], T]) -> T | None:
        """Read one file, or name it among the problems."""
        try:
            return read(read_file(path), str(path))
        except InputError as error:
            self.note(path, error.message)
            return None

    def note(self, path: Path, message: str) -> None:
        shown = path.relative_to(self.root.path).as_posix()
        self.problems.append(Problem(shown, message.replace(str(path), shown)))


def load_root(root: RunsRoot) -> RootView:
    """Read a root, whatever state a crash or an editor left it in.

    Raises:
        InputError: the folder is no runs root at all.
    """
    require_root(root)
    reading = _Reading(root)
    conditions = _conditions(reading)
    records = root.records()
    on_disk = {record: root.arms(record) for record in records}
    questions = {}
    for record in records:
        arms = {c: found for c in conditions if (found := _result(reading, conditions[c], record, on_disk)) is not None}
        if arms:
            questions[record] = arms
    _name_missing(reading, conditions, on_disk)
    return RootView(
        root=root,
        conditions=conditions,
        questions=questions,
        truths=Truths(root, tuple(records)),
        unfinished=_unfinished(root, conditions, on_disk),
        problems=tuple(reading.problems),
        frozen=read_marker(root),
        replaced=len(list(root.replaced.glob("*"))) if root.replaced.is_dir() else 0,
    )


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: it is missing or cannot be opened.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def _conditions(reading: _Reading) -> dict[str, ConditionRecord]:
    found = {}
    for name in reading.root.condition_names():
        path = reading.root.conditions / f"{name}.json"
        record = reading.attempt(path, read_condition)
        if record is not None and record.name != name:
            reading.note(
                path, f"it says that its name is {record.name!r}; a condition file is named after its condition."
            )
        elif record is not None:
            found[name] = record
    return found


def _result(
    reading: _Reading, condition: ConditionRecord, record: str, on_disk: Mapping[str, list[str]]
) -> QuestionResult | None:
    if record not in condition.questions or condition.name not in on_disk[record]:
        return None
    path = reading.root.result(record, condition.name)
    found = reading.attempt(path, read_question_result)
    if found is not None and (found.record, found.condition) != (record, condition.name):
        reading.note(path, f"it is of {found.record!r} under {found.condition!r}; it was copied here from elsewhere.")
        return None
    return found


def _name_missing(
    reading: _Reading, conditions: Mapping[str, ConditionRecord], on_disk: Mapping[str, list[str]]
) -> None:
    for name, condition in conditions.items():
        for record in condition.questions:
            if name not in on_disk.get(record, ()):
                path = reading.root.conditions / f"{name}.json"
                reading.note(path, f"it lists {record!r}, of which this root holds no attempts.")


def _unfinished(
    root: RunsRoot, conditions: Mapping[str, ConditionRecord], on_disk: Mapping[str, list[str]]
) -> dict[str, int]:
    # A record that is there but broken is a problem already named, not a sweep that was cut off.
    known = set(conditions) | set(root.condition_names())
    counts: dict[str, int] = {}
    for record, arms in on_disk.items():
        for name in arms:
            if name not in known:
                counts[name] = counts.get(name, 0) + len(root.attempts(record, name))
    return dict(sorted(counts.items()))
