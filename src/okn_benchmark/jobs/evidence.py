"""What is on disk about one attempt, broken files and all."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from okn_benchmark.errors import InputError
from okn_benchmark.host.transcript import read_transcript
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.call_events import compile_calls, read_events
from okn_benchmark.runs.layout import AttemptPaths
from okn_benchmark.runs.readers import read_attempt_header, read_calls, read_episode
from okn_benchmark.runs.shapes import AttemptHeader, Calls, Episode
from okn_benchmark.runs.tree import read_file

T = TypeVar("T")

RECOVERED: Final = "agent.json"
"""The ``source`` of an episode that only the agent program's own last message tells of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEvidence:
    """One attempt as read. ``faults`` are sentences about files that could not be."""

    header: AttemptHeader | None
    episode: Episode | None
    calls: Calls | None
    answer: bytes | None
    rejected: int
    last_rejected: bytes | None
    finished: bool
    faults: tuple[str, ...]


def read_attempt(attempt: AttemptPaths) -> AttemptEvidence:
    """Everything on disk about one attempt; a broken file becomes a fault, never an exception."""
    faults: list[str] = []
    header = _optional(attempt.header, read_attempt_header, faults)
    episode = _optional(attempt.episode, read_episode, faults)
    finished = attempt.episode.exists()
    if not finished and not attempt.header.exists():
        episode = _optional(attempt.agent, recover_episode, faults)
        finished = episode is not None
    rejected = attempt.rejected()
    return AttemptEvidence(
        header=header,
        episode=episode,
        calls=_calls(attempt, faults),
        answer=_optional(attempt.answer, lambda data, _: data, faults),
        rejected=len(rejected),
        last_rejected=_optional(rejected[-1], lambda data, _: data, faults) if rejected else None,
        finished=finished,
        faults=tuple(faults),
    )


def _calls(attempt: AttemptPaths, faults: list[str]) -> Calls | None:
    """``calls.json``; where the proxy was killed before it wrote that, what its log of events adds up to."""
    if attempt.calls.exists():
        return _optional(attempt.calls, read_calls, faults)
    return _optional(attempt.calls_log, _compile, faults)


def _compile(data: bytes, source: str) -> Calls:
    try:
        return compile_calls(read_events(data.decode("utf-8", "replace")))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{source} is not the proxy's log of events.") from error


def recover_episode(data: bytes, source: str) -> Episode:
    """What the agent program's final message tells of an episode recorded before ``episode.json`` was.

    Its wall time is the program's own clock, which leaves out the start of the process; ``source`` says so.

    Raises:
        InputError: it is not a final message.
    """
    facts = read_transcript([data])
    duration = (facts.final or {}).get("duration_ms")
    if facts.final is None or not isinstance(duration, int | float):
        raise InputError(f"{source} is not the final message of an agent program.")
    return Episode(
        host="claude",
        host_version=None,
        exit_code=None,
        wall_s=duration / 1000,
        timed_out=False,
        started_at="",
        source=RECOVERED,
        model_resolved=facts.model_resolved,
        final=facts.final,
        turns=_turns(facts.final),
        tokens=facts.tokens,
        usage_by_model=facts.usage_by_model,
    )


def _optional(path: Path, read: Callable[[bytes, str], T], faults: list[str]) -> T | None:
    if not path.exists():
        return None
    name = f"{path.parent.name}/{path.name}"
    try:
        return read(read_file(path), name)
    except InputError as error:
        faults.append(error.message.replace(str(path), name))
        return None


def _turns(final: JsonObject) -> int | None:
    found = final.get("num_turns")
    return found if isinstance(found, int) and not isinstance(found, bool) else None
