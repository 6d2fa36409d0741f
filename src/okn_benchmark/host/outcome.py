"""What an episode's evidence means: one closed vocabulary, decided by structure first and wording second. Pure.

Blocked takes the attempt out of every denominator, so it needs positive evidence that the agent was never given a
fair chance, and an accepted submission rules it out. Where evidence is missing, the attempt is a miss.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from okn_benchmark.host.attested import attested_faults
from okn_benchmark.host.episode import TOOL_PREFIX
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import BlockedCause, Calls, Episode, OutcomeKind

STOPPING: Final[tuple[BlockedCause, ...]] = ("host_login", "host_billing", "host_limit")
"""Failures that the next episode would meet as well."""

_BY_STATUS: Final[dict[int, BlockedCause]] = {
    401: "host_login",
    402: "host_billing",
    403: "host_login",
    429: "host_limit",
}
_BY_ERROR: Final[dict[str, BlockedCause]] = {
    "authentication_failed": "host_login",
    "billing_error": "host_billing",
    "rate_limit": "host_limit",
}
# Consulted only where structure already says that the host, not the model, had the last word.
_BY_WORDING: Final[tuple[tuple[BlockedCause, re.Pattern[str]], ...]] = (
    ("host_login", re.compile(r"(?i)not logged in|/login\b|invalid api key|failed to authenticate|oauth token")),
    ("host_billing", re.compile(r"(?i)credit balance|billing|payment required")),
    ("host_limit", re.compile(r"(?i)\b(usage|session|weekly|hourly|rate|spend(ing)?) limit|hit your .{0,20}limit")),
)
_POLICY: Final = re.compile(r"usage policy|legal/aup|safeguards flagged", re.IGNORECASE)
_TOO_LONG: Final = re.compile(r"prompt is too long|context (window|length|limit)|request too large", re.IGNORECASE)
_NO_EFFORT: Final = re.compile(r"(?i)unknown --effort value")
_WORDS_KEPT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``cause`` is set exactly when ``kind`` is blocked. ``reason`` and ``warnings`` are for people."""

    kind: OutcomeKind
    cause: BlockedCause | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    cause: BlockedCause
    reason: str


def classify(episode: Episode | None, calls: Calls | None, *, accepted: bool, rejected: int) -> Outcome:
    """``accepted``: an answer was taken; ``rejected``: how many submissions were refused for their form."""
    blocks = list(_blocks(episode, calls))
    measured = _measured(episode, rejected)
    notes = tuple(_notes(episode, calls))
    if accepted:
        ending = () if measured.kind in ("no_submission", "malformed") else (f"{measured.kind}: {measured.reason}",)
        mismatches = tuple(f"{block.cause}: {block.reason}" for block in blocks)
        return Outcome(kind="answered", warnings=(*mismatches, *ending, *notes))
    if blocks:
        first, *others = blocks
        more = tuple(f"{block.cause}: {block.reason}" for block in others)
        return Outcome(kind="blocked", cause=first.cause, reason=first.reason, warnings=(*more, *notes))
    refused = (f"{rejected} submissions were refused",) if rejected and measured.kind != "malformed" else ()
    return Outcome(kind=measured.kind, reason=measured.reason, warnings=(*refused, *notes))


def _blocks(episode: Episode | None, calls: Calls | None) -> Iterator[_Block]:
    """Every piece of positive evidence, the most telling first."""
    host = None if episode is None else _host_failure(episode)
    if host is not None and host.cause in STOPPING:
        yield host
    startup = None if calls is None else calls.metrics.startup_error
    if startup is not None:
        yield _Block(cause="startup", reason=f"the server under test did not start: {startup}")
    if episode is not None:
        for cause, reason in attested_faults(episode):
            yield _Block(cause=cause, reason=reason)
    if host is not None and host.cause not in STOPPING:
        yield host


def _measured(episode: Episode | None, rejected: int) -> Outcome:
    """What the attempt counts as when nothing blocked it and nothing was accepted."""
    if episode is None:
        return Outcome(kind="no_submission", reason="there is no record of how the episode ended")
    final = episode.final or {}
    if episode.timed_out:
        return Outcome(kind="timeout", reason=f"ended after {episode.wall_s:.0f} s, the limit of an episode")
    if _reached_max_turns(final):
        return Outcome(kind="max_turns", reason=f"stopped after {_count(episode.turns)} turns, the limit")
    if _refused(final):
        return Outcome(kind="declined", reason=_words(final) or "the model refused")
    if rejected:
        return Outcome(kind="malformed", reason=f"all {rejected} submissions were refused for their form")
    if episode.host == "oracle":
        return Outcome(kind="no_submission", reason=f"{final.get('terminal_reason')}: {_words(final)}")
    return Outcome(kind="no_submission", reason=_words(final) if _too_long(final) else None)


def _host_failure(episode: Episode) -> _Block | None:
    """The agent program, its login or the model's service failed; None where the agent had its say."""
    final = episode.final
    if episode.host == "oracle":
        return None
    if final is None or (episode.timed_out and not _api_failed(final)):
        return _cut_off(episode)
    if _reached_max_turns(final) or _refused(final) or _too_long(final):
        return None
    never_answered = episode.turns == 0
    if not (final.get("is_error") is True or _api_failed(final) or never_answered):
        return None
    return _Block(cause=_cause_of(final, never_answered=never_answered), reason=_told(final))


def _api_failed(final: JsonObject) -> bool:
    """The host itself says that the service failed.

    After a time limit nothing else in its last message counts: it was written because we asked the program to stop.
    """
    return final.get("api_error_status") is not None or final.get("error") is not None


def _cause_of(final: JsonObject, *, never_answered: bool) -> BlockedCause:
    status, error = final.get("api_error_status"), final.get("error")
    if isinstance(status, int) and status in _BY_STATUS:
        return _BY_STATUS[status]
    if isinstance(error, str) and error in _BY_ERROR:
        return _BY_ERROR[error]
    words = _words(final) or ""
    for cause, pattern in _BY_WORDING:
        if pattern.search(words):
            return cause
    api_error = _api_failed(final) or final.get("terminal_reason") == "api_error"
    return "host_api" if api_error or never_answered else "host_crash"


def _cut_off(episode: Episode) -> _Block | None:
    """A program that was stopped or died: silence of the service, or a crash; a time limit alone is neither."""
    if episode.turns == 0 and episode.api_retries:
        reason = f"the model never answered in {episode.wall_s:.0f} s and {episode.api_retries} retries"
        return _Block(cause="host_api", reason=reason)
    if episode.timed_out:
        return None
    told = str(episode.extra.get("stderr_tail") or "").strip().splitlines()
    words = f": {told[-1][:_WORDS_KEPT]}" if told else ""
    if episode.signal is not None:
        return _Block(cause="host_crash", reason=f"the agent program was ended by signal {episode.signal}{words}")
    if episode.exit_code:
        return _Block(cause="host_crash", reason=f"the agent program left with exit code {episode.exit_code}{words}")
    return None


def _notes(episode: Episode | None, calls: Calls | None) -> Iterator[str]:
    """Circumstances worth a line beside any outcome."""
    if calls is not None and calls.metrics.lost_upstream is not None:
        yield f"the connection to the server was lost: {calls.metrics.lost_upstream}"
    if calls is not None and calls.metrics.breaker_opened:
        yield "the server was given up after failed calls in a row"
    init = (episode.init if episode is not None else None) or {}
    if episode is not None and _NO_EFFORT.search(str(episode.extra.get("stderr_tail") or "")):
        yield f"the host does not know the effort {episode.effort} and used its default"
    for key in ("skills", "slash_commands"):
        # A server's own prompts are listed as commands too; an agent has no way to call them.
        if names := [str(name) for name in init.get(key) or () if not str(name).startswith(TOOL_PREFIX)]:
            yield f"the host offered {key.replace('_', ' ')}: {', '.join(names[:5])}"


def _reached_max_turns(final: JsonObject) -> bool:
    return final.get("subtype") == "error_max_turns" or final.get("terminal_reason") == "max_turns"


def _refused(final: JsonObject) -> bool:
    if final.get("stop_reason") == "refusal":
        return True
    return final.get("is_error") is True and _POLICY.search(_words(final) or "") is not None


def _too_long(final: JsonObject) -> bool:
    """The agent filled its own context: a way to fail at the task, not a failure of the host."""
    return final.get("api_error_status") in (None, 400, 413) and (
        final.get("is_error") is True and _TOO_LONG.search(_words(final) or "") is not None
    )


def _told(final: JsonObject) -> str:
    status = final.get("api_error_status")
    words = _words(final) or str(final.get("subtype") or "no reason given")
    return f"HTTP {status}: {words}" if isinstance(status, int) else words


def _words(final: JsonObject) -> str | None:
    result = final.get("result")
    return " ".join(result.split())[:_WORDS_KEPT] if isinstance(result, str) and result.strip() else None


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)
