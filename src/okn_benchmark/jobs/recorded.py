"""What a root already holds, against what is asked of it."""

from pathlib import Path

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.prepare import Sweep
from okn_benchmark.runs.identity import (
    Identity,
    clash,
    first_disagreement,
    guard_tier,
    identity_of_meta,
    read_identity,
    same_again,
)
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import read_attempt_header, read_condition
from okn_benchmark.runs.replaced import set_aside_condition
from okn_benchmark.runs.shapes import ConditionRecord
from okn_benchmark.runs.store import Write
from okn_benchmark.runs.tree import read_file
from okn_benchmark.runs.truth import require_same_truth


def require_free(root: RunsRoot, sweep: Sweep) -> None:
    """Refuse to mix two runs: another tier, other truth, other settings, or the same ones without being told how.

    Raises:
        Refusal: naming the first thing that differs and the ways out.
    """
    guard_tier([(name, found) for name, found in _identities(root) if name != sweep.condition], sweep.identity)
    require_same_truth(root, sweep.truths)
    if sweep.request.force:
        return
    recorded = _recorded_identity(root, sweep.condition)
    if recorded is not None and (found := first_disagreement(recorded, sweep.identity)) is not None:
        raise clash(sweep.condition, found)
    attempts = _attempt_count(root, sweep.condition)
    if attempts and not sweep.request.resume:
        raise same_again(sweep.condition, attempts)


def set_aside_if_forced(root: RunsRoot, sweep: Sweep, put: Write) -> None:
    """``--force``: what was recorded under this condition moves to ``.replaced/``; nothing is deleted."""
    if sweep.request.force:
        set_aside_condition(root, sweep.condition, put)


def recorded_condition(root: RunsRoot, condition: str) -> ConditionRecord:
    """The record of a condition that is being resumed; an empty one where there is none yet.

    Raises:
        InputError: it cannot be read.
    """
    path = root.condition(condition)
    return _read(path) if path.exists() else ConditionRecord(name=condition, meta={})


def _read(path: Path) -> ConditionRecord:
    """Raises InputError with the way out: the attempts say all that resuming needs."""
    try:
        return read_condition(read_file(path), str(path))
    except InputError as error:
        raise InputError(
            error.message,
            hint=error.hint
            or f"Put it back, or move {path.name} out of the root and run this condition again with --resume: "
            "that keeps its attempts and writes the record anew.",
        ) from error


def _identities(root: RunsRoot) -> list[tuple[str, Identity]]:
    """Of every condition that has anything here, an unfinished sweep's too."""
    on_disk = {condition for record in root.records() for condition in root.arms(record)}
    names = sorted(on_disk | set(root.condition_names()))
    return [(name, found) for name in names if (found := _recorded_identity(root, name)) is not None]


def _recorded_identity(root: RunsRoot, condition: str) -> Identity | None:
    """From the condition's record, else from the first attempt of a sweep that was cut off."""
    path = root.condition(condition)
    if path.exists():
        return identity_of_meta(_read(path).meta, str(path))
    for record in root.records():
        for attempt in root.attempts(record, condition):
            try:
                header = read_attempt_header(read_file(attempt.header), str(attempt.header))
            except InputError:
                continue
            if header.identity:
                return read_identity(header.identity, str(attempt.header))
    return None


def _attempt_count(root: RunsRoot, condition: str) -> int:
    return sum(len(root.attempts(record, condition)) for record in root.records())
