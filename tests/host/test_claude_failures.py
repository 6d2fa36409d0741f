"""The real agent program when something fails: each cause of the vocabulary, provoked."""

import _thread
import os
import time
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host.claude import ClaudeHost, find_claude
from okn_benchmark.host.episode import Event
from okn_benchmark.host.process import group_alive
from tests.host.driving import CLEAN, QUICK_RETRIES, SEARCH, drive, say, toy_plan, use

CREDIT = {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}


@pytest.mark.parametrize(
    ("status", "error", "cause"),
    [
        (401, {"type": "authentication_error", "message": "invalid x-api-key"}, "host_login"),
        (403, {"type": "permission_error", "message": "no access"}, "host_login"),
        (400, CREDIT, "host_billing"),
        (400, {"type": "invalid_request_error", "message": "messages.0: odd"}, "host_api"),
        (429, {"type": "rate_limit_error", "message": "over the limit"}, "host_limit"),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, "host_api"),
    ],
)
def test_an_api_failure_is_blocked_with_its_cause(
    claude_binary: str, tmp_path: Path, status: int, error: dict[str, Any], cause: str
) -> None:
    ran = drive(claude_binary, tmp_path / "a", [{"status": status, "error": error}], pins=QUICK_RETRIES)
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", cause)
    assert f"HTTP {status}" in (ran.outcome.reason or "")
    assert ran.episode.exit_code == 1
    assert (ran.episode.turns, ran.episode.cost_usd) == (0, None)


def test_a_failure_in_the_middle_is_blocked_too(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, {"status": 529}], pins=QUICK_RETRIES)
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "host_api")
    assert ran.episode.turns == 1


def test_an_answer_that_was_taken_before_the_failure_stands(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("submit_csv", csv="a\n1\n")], {"status": 529}]
    ran = drive(claude_binary, tmp_path / "a", script, pins=QUICK_RETRIES)
    assert ran.outcome.kind == "answered"
    assert any("host_api" in warning for warning in ran.outcome.warnings)


def test_retries_that_help_are_counted_with_their_time(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [{"status": 529, "times": 1}, *CLEAN])
    assert ran.outcome.kind == "answered"
    assert ran.episode.api_retries == 1
    assert ran.episode.api_retry_s is not None
    assert 0 < ran.episode.api_retry_s < ran.episode.wall_s


def test_a_refused_connection_is_the_api(claude_binary: str, tmp_path: Path) -> None:
    nowhere = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    ran = drive(claude_binary, tmp_path / "a", CLEAN, pins=QUICK_RETRIES, overrides=nowhere)
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "host_api")


def test_not_logged_in(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", CLEAN, overrides={"ANTHROPIC_API_KEY": None})
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "host_login")


def test_the_turn_limit_is_an_outcome_of_its_own(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, {"blocks": [use("run_query", query="SELECT")], "times": 20}]
    ran = drive(claude_binary, tmp_path / "a", script, max_turns=3)
    assert ran.outcome.kind == "max_turns"
    assert ran.episode.turns == 3


def test_a_refusal_is_declined(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, {"blocks": [say("No.")], "stop_reason": "refusal"}])
    assert ran.outcome.kind == "declined"


def test_no_submission_is_a_miss(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [say("You've hit your usage limit, the tool says.")]])
    assert (ran.outcome.kind, ran.outcome.cause) == ("no_submission", None)


def test_a_dead_server_is_not_connected(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [say("There are no tools.")]], "--dead")
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "not_connected")
    assert ran.episode.exit_code == 0, "the host itself calls this a success"


def test_a_server_that_dies_in_the_middle_is_a_miss(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [use("die")], [say("It is gone.")]])
    assert ran.outcome.kind == "no_submission"


def test_a_tool_set_without_the_answer_channel(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [say("Where do I put it?")]], "--no-submit")
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "tool_set")


def test_a_tool_set_that_differs_from_the_preflight(claude_binary: str, tmp_path: Path) -> None:
    expected = ("run_query", "show_secret", "hang", "die", "kill_host", "broken", "submit_csv", "a_tool_more")
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [say("Hm.")]], expected_tools=expected)
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "tool_set")
    assert "a_tool_more" in (ran.outcome.reason or "")
    answered = drive(claude_binary, tmp_path / "b", CLEAN, expected_tools=expected)
    assert answered.outcome.kind == "answered"
    assert any("a_tool_more" in warning for warning in answered.outcome.warnings)


def test_a_killed_host_is_a_crash(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", [SEARCH, [use("kill_host")], [say("Still here.")]])
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "host_crash")
    assert (ran.episode.exit_code, ran.episode.signal, ran.episode.tokens) == (None, 9, None)


def test_a_program_that_leaves_without_a_word_in_its_stream_is_a_crash(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho 'error: unknown option --tools' >&2\nexit 2\n")
    program.chmod(0o755)
    ran = drive(str(program), tmp_path / "a", CLEAN)
    assert (ran.outcome.kind, ran.outcome.cause) == ("blocked", "host_crash")
    assert "unknown option" in (ran.outcome.reason or "")
    assert not (ran.folder / "agent.json").exists()


@pytest.mark.parametrize("script", [[SEARCH, [use("hang")]], [SEARCH, {"hang": True}]], ids=["tool", "model"])
def test_time_out_ends_the_whole_group(claude_binary: str, tmp_path: Path, script: list[Any]) -> None:
    began = time.monotonic()
    ran = drive(claude_binary, tmp_path / "a", script, agent_timeout_s=2.0)
    assert ran.outcome.kind == "timeout"
    assert ran.episode.timed_out
    assert ran.episode.tokens is not None, "asked to stop, the host says what it used"
    assert ran.episode.tokens.output == 20 * (ran.episode.turns or 0)
    assert time.monotonic() - began < 10
    assert not any(_runs(str(ran.folder)))


def test_an_interrupt_ends_the_group_and_is_passed_on(claude_binary: str, tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if event.detail == "hang":
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        drive(claude_binary, tmp_path / "a", [SEARCH, [use("hang")]], watch=interrupt)
    assert not any(_runs(str(tmp_path / "a")))
    assert (tmp_path / "a" / "transcript.jsonl").read_text().count("\n") >= 3


def test_a_program_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(OutsideFailure, match="no-such-agent"):
        find_claude("no-such-agent", {"PATH": "/nowhere"})
    with pytest.raises(OutsideFailure, match="could not be started"):
        ClaudeHost(executable=str(tmp_path / "nothing")).run(toy_plan(tmp_path / "a"), lambda _: None)


def _runs(word: str) -> list[int]:
    """Processes of ours that still have ``word`` in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in command and int(entry.name) != os.getpid() and group_alive(os.getpgid(int(entry.name))):
            found.append(int(entry.name))
    return found
