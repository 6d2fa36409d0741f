"""Every outcome from hand-made evidence: structure first, wording second, and a submission above both."""

from dataclasses import replace
from typing import Any

import pytest

from okn_benchmark.host.outcome import Outcome, classify
from okn_benchmark.host.stopping import sweep_stop
from okn_benchmark.runs.shapes import BLOCKED_CAUSES, Calls, Episode, Metrics

TOOLS = ["ToolSearch", "mcp__okn__run_query", "mcp__okn__submit_csv"]
INIT = {"tools": TOOLS, "mcp_servers": {"okn": "connected"}, "server_in_turn_1": True, "skills": []}
FINAL = {"subtype": "success", "is_error": False, "api_error_status": None, "terminal_reason": "completed"}
EPISODE = Episode(
    host="claude",
    host_version="2.1.332",
    exit_code=0,
    wall_s=9.0,
    timed_out=False,
    started_at="2026-01-01T00:00:00Z",
    init=INIT,
    final=FINAL,
    turns=3,
    api_retries=0,
)


def look(episode: Episode | None, *, accepted: bool = False, rejected: int = 0, **metrics: Any) -> Outcome:
    calls = Calls(calls=(), metrics=Metrics(**metrics)) if metrics else None
    return classify(episode, calls, accepted=accepted, rejected=rejected)


def final(**fields: Any) -> Episode:
    return replace(EPISODE, final={**FINAL, **fields}, turns=fields.pop("turns", 3))


def unanswered(**fields: Any) -> Episode:
    return replace(EPISODE, final={**FINAL, **fields}, turns=0)


BLOCKED = {
    "startup": [(EPISODE, {"startup_error": "no such file"}), (None, {"startup_error": "gone"})],
    "not_connected": [
        (replace(EPISODE, init={**INIT, "mcp_servers": {"okn": "failed"}}), {}),
        (replace(EPISODE, init={**INIT, "mcp_servers": {}}), {}),
        (replace(EPISODE, init={**INIT, "server_in_turn_1": False}), {}),
    ],
    "tool_set": [
        (replace(EPISODE, init={**INIT, "tools": [*TOOLS, "Bash"]}), {}),
        (replace(EPISODE, init={**INIT, "tools": ["ToolSearch", "mcp__okn__run_query"]}), {}),
        (replace(EPISODE, init={**INIT, "mcp_servers": {"okn": "connected", "mine": "connected"}}), {}),
        (replace(EPISODE, extra={"expected_tools": ["run_query", "more", "submit_csv"]}), {}),
        (replace(EPISODE, extra={"expected_tools": ["submit_csv"]}), {}),
    ],
    "host_login": [
        (unanswered(is_error=True, api_error_status=401), {}),
        (unanswered(is_error=True, api_error_status=403), {}),
        (unanswered(is_error=True, result="Not logged in · Please run /login"), {}),
        (unanswered(is_error=True, error="authentication_failed"), {}),
    ],
    "host_billing": [
        (unanswered(is_error=True, api_error_status=400, result="Credit balance is too low"), {}),
        (unanswered(is_error=True, api_error_status=400, error="billing_error"), {}),
    ],
    "host_limit": [
        (unanswered(is_error=True, api_error_status=429), {}),
        (unanswered(result="You've hit your weekly limit · resets Monday"), {}),
        (final(error="rate_limit", result="Usage limit reached"), {}),
    ],
    "host_api": [
        (unanswered(is_error=True, api_error_status=529), {}),
        (unanswered(is_error=True, terminal_reason="api_error", api_error="connection_failed"), {}),
        (unanswered(), {}),
        (replace(EPISODE, final=None, exit_code=None, timed_out=True, turns=0, api_retries=7), {}),
    ],
    "host_crash": [
        (replace(EPISODE, final=None, exit_code=None, signal=9), {}),
        (replace(EPISODE, final=None, exit_code=1), {}),
        (final(is_error=True, subtype="error_during_execution", terminal_reason="crashed"), {}),
    ],
}
CASES = [(cause, episode, metrics) for cause, cases in BLOCKED.items() for episode, metrics in cases]


def test_every_cause_has_a_case() -> None:
    assert tuple(BLOCKED) == BLOCKED_CAUSES


@pytest.mark.parametrize(("cause", "episode", "metrics"), CASES)
def test_blocked_has_positive_evidence(cause: str, episode: Episode | None, metrics: dict[str, Any]) -> None:
    found = look(episode, **metrics)
    assert (found.kind, found.cause) == ("blocked", cause)
    assert found.reason


@pytest.mark.parametrize(("cause", "episode", "metrics"), CASES)
def test_an_accepted_submission_is_never_blocked(cause: str, episode: Episode | None, metrics: dict[str, Any]) -> None:
    found = look(episode, accepted=True, **metrics)
    assert (found.kind, found.cause) == ("answered", None)
    assert any(warning.startswith(f"{cause}: ") for warning in found.warnings)


@pytest.mark.parametrize(
    ("kind", "episode", "rejected"),
    [
        ("no_submission", EPISODE, 0),
        ("no_submission", None, 0),
        ("no_submission", replace(EPISODE, init=None, final=None), 0),
        ("no_submission", final(result="The server says: usage limit reached, please run /login"), 0),
        ("no_submission", final(is_error=True, api_error_status=400, result="Prompt is too long"), 0),
        ("malformed", EPISODE, 2),
        ("timeout", replace(EPISODE, final=None, exit_code=None, signal=15, timed_out=True), 0),
        ("timeout", replace(final(is_error=True, subtype="error_during_execution"), timed_out=True), 0),
        ("timeout", replace(EPISODE, init=None, final=None, timed_out=True, turns=None), 0),
        ("timeout", replace(EPISODE, final=None, timed_out=True), 1),
        ("max_turns", final(subtype="error_max_turns", is_error=True, terminal_reason="max_turns"), 0),
        ("declined", final(stop_reason="refusal", is_error=True), 0),
        ("declined", final(is_error=True, result="unable to respond … violate our Usage Policy"), 0),
        ("no_submission", replace(EPISODE, host="oracle", init=None, final={"terminal_reason": "query_failed"}), 0),
    ],
)
def test_measured_failures(kind: str, episode: Episode | None, rejected: int) -> None:
    found = look(episode, rejected=rejected)
    assert (found.kind, found.cause) == (kind, None)
    assert any("refused" in warning for warning in found.warnings) == (rejected > 0 and kind != "malformed")


def test_a_login_failure_comes_before_a_server_that_did_not_start() -> None:
    found = look(unanswered(is_error=True, api_error_status=401), startup_error="gone")
    assert found.cause == "host_login"
    assert any(warning.startswith("startup: ") for warning in found.warnings)


def test_names_are_compared_as_the_host_writes_them() -> None:
    init = {**INIT, "tools": ["ToolSearch", "mcp__okn__get_schema_v2", "mcp__okn__submit_csv"]}
    episode = replace(EPISODE, init=init, extra={"expected_tools": ["get.schema v2", "submit_csv"]})
    assert look(episode).kind == "no_submission"


def test_circumstances_stand_beside_the_outcome() -> None:
    episode = replace(EPISODE, init={**INIT, "skills": ["verify"], "slash_commands": ["mcp__okn__ask_me"]})
    found = look(episode, lost_upstream="closed", breaker_opened=True)
    assert found.kind == "no_submission"
    assert [word in " ".join(found.warnings) for word in ("closed", "given up", "verify")] == [True] * 3
    assert "ask_me" not in " ".join(found.warnings), "a server's own prompt"


def blocked(cause: Any) -> Outcome:
    return Outcome(kind="blocked", cause=cause, reason="why")


@pytest.mark.parametrize("cause", ["host_login", "host_billing", "host_limit"])
def test_what_the_next_episode_would_meet_too_stops_the_sweep(cause: Any) -> None:
    stop = sweep_stop([Outcome(kind="answered"), blocked(cause)])
    assert stop is not None
    assert cause in stop.message
    assert "--resume" in stop.hint


def test_three_blocked_attempts_in_a_row_stop_it() -> None:
    api, crash, startup, fine = blocked("host_api"), blocked("host_crash"), blocked("startup"), Outcome(kind="timeout")
    assert sweep_stop([api, crash, api]) is not None
    assert sweep_stop([]) is None
    assert sweep_stop([api, api]) is None
    assert sweep_stop([api, fine, api, crash]) is None
    assert sweep_stop([startup, crash, startup]) is not None
    assert sweep_stop([blocked("host_login"), fine]) is None
