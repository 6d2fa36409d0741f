"""Judge recorded answers again, from disk alone, and rewrite what is derived.

Evidence is read and never written. Nothing here depends on a clock or a machine, so that a second time changes
no byte.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.derive import Key, derive_condition, read_key
from okn_benchmark.runs.freeze import require_open, require_root
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import hold
from okn_benchmark.runs.readers import read_condition, read_question_result
from okn_benchmark.runs.replaced import finish_pending
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult
from okn_benchmark.runs.store import DEFAULT_WRITE, DerivedWriter, Write
from okn_benchmark.runs.tree import Problem, load_root, read_file

Regenerate = Callable[[Path], object]

SCORES: Final = ("exact", "f1", "ordered", "strict_exact", "strict_f1", "strict_ordered")
"""The numbers of a verdict that a reader would miss; the first stand first in what is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One attempt whose judgement changed: each number old and new, and the contracts they were reached under."""

    record: str
    condition: str
    attempt: int
    changes: tuple[tuple[str, Any, Any], ...]
    old_contract: int | None
    new_contract: int | None

    def __str__(self) -> str:
        changes = ", ".join(f"{name} {_shown(old)} → {_shown(new)}" for name, old, new in self.changes)
        contracts = f"contract {_shown(self.old_contract)} → {_shown(self.new_contract)}"
        return f"{self.record} · {self.condition} · attempt {self.attempt}: {changes} ({contracts})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """What a rescore did. ``judged`` counts attempts, ``built`` those that had no earlier result to compare with."""

    moves: tuple[Move, ...]
    problems: tuple[Problem, ...]
    judged: int
    built: int
    dropped: tuple[tuple[str, str], ...]
    """(condition, record) that have attempts here and stand in no condition record any more."""


@dataclass(slots=True)
class _Work:
    root: RunsRoot
    writer: DerivedWriter
    keys: dict[str, Key | InputError] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    judged: int = 0
    built: int = 0

    def key(self, record: str) -> Key:
        """A record's key, read once for all its conditions; raises InputError."""
        if record not in self.keys:
            try:
                self.keys[record] = read_key(self.root, record)
            except InputError as error:
                self.keys[record] = error
        found = self.keys[record]
        if isinstance(found, InputError):
            raise found
        return found


def rescore(root: RunsRoot, regenerate: Regenerate | None = None, put: Write = DEFAULT_WRITE) -> Rescored:
    """Re-judge every attempt of every recorded condition. ``regenerate`` then rewrites the reports of the root.

    Raises:
        InputError: the folder is no runs root.
        Refusal: it is frozen, or another command is writing into it.
        OutsideFailure: the disk would not take a file; what was written stands, and a second rescore finishes it.
    """
    require_root(root)
    require_open(root)
    with hold(root, "okn-benchmark rescore"):
        finish_pending(root)
        work = _Work(root, DerivedWriter(root, put))
        for name in root.condition_names():
            _rescore_condition(work, name)
        if regenerate is not None:
            regenerate(root.path)
    unfinished = load_root(root).unfinished
    problems = [
        Problem(f"conditions/{name}.json", f"{name} has {count} attempts and no record yet: its run was cut off.")
        for name, count in unfinished.items()
    ]
    return Rescored(
        moves=tuple(work.moves),
        problems=(*work.problems, *problems),
        judged=work.judged,
        built=work.built,
        dropped=tuple(work.dropped),
    )


def _rescore_condition(work: _Work, name: str) -> None:
    path = work.root.conditions / f"{name}.json"
    source = f"conditions/{name}.json"
    try:
        record = read_condition(read_file(path), source)
        if record.name != name:
            raise InputError(f"{source} says that its name is {record.name!r}.")
        derived = derive_condition(work.root, record, work.key)
    except InputError as error:
        work.problems.append(Problem(source, error.message.replace(str(path), source)))
        return
    for result in derived.results:
        _settle(work, result)
    work.writer.condition(derived.record)
    work.problems.extend(derived.problems)
    work.dropped.extend(
        (name, question)
        for question in work.root.records()
        if question not in derived.record.questions and work.root.arm(question, name).is_dir()
    )


def _settle(work: _Work, result: QuestionResult) -> None:
    """Compare with the recorded result, and write it if it changed."""
    old = _recorded(work, result)
    before = {a.attempt: a for a in old.attempts} if old is not None else {}
    for attempt in result.attempts:
        then = before.get(attempt.attempt)
        work.judged += 1
        work.built += then is None
        if then is not None:
            changes = _changes(then, attempt)
            if changes:
                work.moves.append(_move(result, then, attempt, changes))
    for number in sorted(set(before) - {attempt.attempt for attempt in result.attempts}):
        where = f"{result.record}_results/{result.condition}/attempt-{number}"
        work.problems.append(
            Problem(where, f"attempt {number} had a result and has no finished evidence here any more.")
        )
    work.writer.result(result)


def _recorded(work: _Work, result: QuestionResult) -> QuestionResult | None:
    path = work.root.result(result.record, result.condition)
    if not path.exists():
        return None
    shown = path.relative_to(work.root.path).as_posix()
    try:
        return read_question_result(read_file(path), shown)
    except InputError as error:
        work.problems.append(Problem(shown, f"{error.message} It was derived, and has been built again."))
        return None


def _changes(old: AttemptResult, new: AttemptResult) -> tuple[tuple[str, Any, Any], ...]:
    pairs: list[tuple[str, Any, Any]] = [("outcome", old.outcome, new.outcome)]
    then, now = old.verdict or {}, new.verdict or {}
    pairs += [(name, then.get(name), now.get(name)) for name in SCORES]
    return tuple((name, was, is_) for name, was, is_ in pairs if was != is_)


def _move(
    result: QuestionResult, old: AttemptResult, new: AttemptResult, changes: tuple[tuple[str, Any, Any], ...]
) -> Move:
    return Move(
        record=result.record,
        condition=result.condition,
        attempt=new.attempt,
        changes=changes,
        old_contract=(old.verdict or {}).get("contract"),
        new_contract=(new.verdict or {}).get("contract"),
    )


def _shown(value: Any) -> str:
    """A score as printed: two decimals unless that would hide the difference, a dash for unknown."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
