"""The two ways anything is written into a runs root.

``EvidenceWriter`` writes what was observed, once. ``DerivedWriter`` writes what it means, as often as one likes, and
cannot touch evidence. Both write through one function, a parameter, so that a test can stop them at any point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.files import replace_whole
from okn_benchmark.jsonio import pretty
from okn_benchmark.runs.layout import AttemptPaths, Kind, RunsRoot
from okn_benchmark.runs.readers import (
    attempt_header_json,
    condition_json,
    episode_json,
    question_result_json,
    read_condition,
    read_question_result,
    truth_json,
)
from okn_benchmark.runs.shapes import AttemptHeader, ConditionRecord, Episode, QuestionResult, TruthRecord

Write: TypeAlias = Callable[[Path, bytes], None]

DEFAULT_WRITE: Final[Write] = replace_whole


@dataclass(frozen=True, slots=True)
class EvidenceWriter:
    """Writes each piece of evidence once."""

    root: RunsRoot
    put: Write = DEFAULT_WRITE

    def write(self, path: Path, data: bytes | str) -> None:
        """Write a file of the tree that is not there yet.

        Raises:
            Refusal: it is there already, or the place is one of a derived file.
            OutsideFailure: the disk would not take it.
        """
        _require(self.root, path, "evidence")
        if path.exists() or path.is_symlink():
            raise Refusal(
                f"{path} is recorded evidence and is not overwritten.",
                hint="Use --force to set the old attempts aside and run anew, or --resume to keep them.",
            )
        self.put(path, _bytes(data))

    def header(self, attempt: AttemptPaths, header: AttemptHeader) -> None:
        """``attempt.json``, the first file of an attempt."""
        self.write(attempt.header, pretty(attempt_header_json(header)))

    def episode(self, attempt: AttemptPaths, episode: Episode) -> None:
        """``episode.json``, the last file of an attempt: from here on it counts as finished."""
        self.write(attempt.episode, pretty(episode_json(episode)))

    def truth(self, record: str, truth: TruthRecord, csv: bytes | str) -> None:
        """The rows an answer is judged against; the JSON last, since it is the one that is read back."""
        for path, data in (
            (self.root.truth_csv(record), _bytes(csv)),
            (self.root.truth_json(record), _bytes(pretty(truth_json(truth)))),
        ):
            if not path.exists():
                self.write(path, data)

    def condition(self, record: ConditionRecord) -> None:
        """``conditions/<name>.json`` with its ``meta``: written when the condition ends, again when it was resumed."""
        self.put(self.root.condition(record.name), _bytes(pretty(condition_json(record))))


@dataclass(frozen=True, slots=True)
class DerivedWriter:
    """Writes what can be rebuilt, and leaves a file alone whose bytes would not change."""

    root: RunsRoot
    put: Write = DEFAULT_WRITE

    def write(self, path: Path, data: bytes | str) -> bool:
        """Write a derived file; False when it holds these bytes already.

        Raises:
            Refusal: the place is one of evidence.
            OutsideFailure: the disk would not take it.
        """
        _require(self.root, path, "derived")
        return self._settle(path, _bytes(data))

    def result(self, result: QuestionResult) -> bool:
        """``result.json`` of one record under one condition; keys that others added to it stay."""
        path = self.root.result(result.record, result.condition)
        return self.write(path, pretty(question_result_json(_with_unknown_keys(path, result))))

    def condition(self, record: ConditionRecord) -> bool:
        """A condition's ``questions`` and ``aggregate``; its ``meta`` has to be what the file says.

        Raises:
            Refusal: ``meta`` differs from what is recorded, or nothing is recorded.
        """
        path = self.root.condition(record.name)
        if not path.exists() or read_condition(path.read_bytes(), str(path)).meta != record.meta:
            raise Refusal(f"{path}: meta is recorded evidence and is not rewritten.")
        return self._settle(path, _bytes(pretty(condition_json(record))))

    def _settle(self, path: Path, data: bytes) -> bool:
        if path.is_file() and path.read_bytes() == data:
            return False
        self.put(path, data)
        return True


def _with_unknown_keys(path: Path, result: QuestionResult) -> QuestionResult:
    try:
        old = read_question_result(path.read_bytes(), str(path))
    except (OSError, InputError):
        return result  # not there, or nothing in it that could be kept
    extras = {attempt.attempt: attempt.extra for attempt in old.attempts}
    attempts = (replace(a, extra=extras.get(a.attempt, {}) | a.extra) for a in result.attempts)
    return replace(result, attempts=tuple(attempts), extra=old.extra | result.extra)


def _require(root: RunsRoot, path: Path, kind: Kind) -> None:
    found = root.kind_of(path)
    if found != kind:
        raise Refusal(f"{path} is {_WHAT[found]} and is not written as {_WHAT[kind]}.")


_WHAT: Final[dict[Kind, str]] = {
    "evidence": "evidence",
    "derived": "a derived file",
    "condition": "a condition record",
    "state": "a marker of the root",
}


def _bytes(data: bytes | str) -> bytes:
    return data.encode("utf-8") if isinstance(data, str) else data
