"""Resume: what is kept, what is run again, and why."""

from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.runs.resume import (
    PARTS,
    Decision,
    PlannedAttempt,
    RecordedAttempt,
    decide,
    proxy_flags,
    resume_parts,
)
from okn_benchmark.runs.shapes import AttemptHeader, OutcomeKind

PROFILE: dict[str, Any] = {
    "name": "demo",
    "path": "/somewhere/demo.toml",
    "upstream": {"transport": "stdio", "command": "uv", "args": ["run", "/h/me/server"], "env": ["KEY"]},
}


def parts(**changes: Any) -> dict[str, str]:
    given: dict[str, Any] = {
        "prompt": "What?",
        "flags": {"model": "opus", "effort": "high"},
        "variables": {"MCP_TIMEOUT": "60000"},
        "proxy": {"level": "all-tools"},
        "profile": PROFILE,
        "home": "/h/me",
    }
    return resume_parts(**(given | changes))


def planned(**changes: Any) -> PlannedAttempt:
    return PlannedAttempt(parts=parts(**changes), prompt="What?", command="claude -p")


def recorded(plan: PlannedAttempt, outcome: OutcomeKind | None = "answered", **changes: Any) -> RecordedAttempt:
    header = AttemptHeader(
        record="r",
        condition="c",
        attempt=1,
        started_at="",
        identity_digest="i",
        resume_digest=plan.digest,
        resume_parts=dict(plan.parts),
    )
    return RecordedAttempt(**({"header": header, "has_episode": True, "outcome": outcome} | changes))


@pytest.mark.parametrize("outcome", ["answered", "no_submission", "malformed", "timeout", "max_turns", "declined"])
def test_every_measured_outcome_is_kept_a_timeout_too(outcome: OutcomeKind) -> None:
    assert decide(recorded(planned(), outcome), planned()) == Decision(action="reuse", why=outcome)


def test_what_is_not_there_is_run() -> None:
    assert decide(None, planned()).action == "run"


def test_a_blocked_attempt_measured_nothing_and_is_repeated() -> None:
    assert decide(recorded(planned(), "blocked"), planned()).action == "repeat"


def test_an_attempt_that_was_killed_is_repeated_even_where_the_agent_had_its_last_word() -> None:
    killed = recorded(planned(), has_episode=False, has_agent=True)
    assert decide(killed, planned()) == Decision(action="repeat", why="it was cut off before it ended")


def test_an_attempt_whose_evidence_cannot_be_read_is_repeated() -> None:
    assert decide(recorded(planned(), None), planned()).action == "repeat"


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("prompt", {"prompt": "What else?"}),
        ("flags", {"flags": {"model": "opus", "effort": "low"}}),
        ("variables", {"variables": {}}),
        ("proxy", {"proxy": {"level": "sparql-only"}}),
        ("profile", {"profile": PROFILE | {"upstream": {"transport": "http", "url": "http://x"}}}),
        ("profile", {"profile": None}),
    ],
)
def test_a_changed_part_is_named_and_the_attempt_repeated(part: str, changes: dict[str, Any]) -> None:
    decision = decide(recorded(planned()), planned(**changes))
    assert decision.action == "repeat"
    assert part in decision.why


def test_a_profile_read_from_elsewhere_with_the_same_content_resumes() -> None:
    moved = PROFILE | {"path": "/elsewhere/x.toml"}
    assert decide(recorded(planned()), planned(profile=moved)).action == "reuse"


def test_another_home_folder_is_no_other_profile_but_another_server_is() -> None:
    def upstream(where: str) -> dict[str, Any]:
        return PROFILE | {"upstream": PROFILE["upstream"] | {"args": ["run", where]}}

    assert parts(profile=upstream("/u/you/server"), home="/u/you") == parts()
    assert parts(profile=upstream("/u/you/fork"), home="/u/you")["profile"] != parts()["profile"]
    # The home of one person may begin like that of another.
    assert parts(profile=upstream("/h/me2/server"))["profile"] != parts()["profile"]
    assert parts(home="/") == parts(home="")


def test_the_proxy_part_holds_no_path() -> None:
    here, there = (
        ProxyLaunch(level="all-tools", log_dir=Path(p), profile=Path(p) / "x", arm=Path(p) / "y") for p in ("/a", "/b")
    )
    assert proxy_flags(here, endpoint="sample", arm="d") == proxy_flags(there, endpoint="sample", arm="d")
    assert proxy_flags(here, endpoint="sample", arm="d") != proxy_flags(here, endpoint="sample", arm="e")


@pytest.mark.parametrize(
    "changed",
    [
        {"level": "sparql-only"},
        {"withheld": ("x",)},
        {"call_timeout_s": 5.0},
        {"strict_upstream_errors": True},
        {"result_limit": 9},
    ],
)
def test_every_flag_that_changes_an_episode_is_in_the_proxy_part(changed: dict[str, Any]) -> None:
    plain, other = ProxyLaunch(level="all-tools"), ProxyLaunch(**({"level": "all-tools"} | changed))
    assert proxy_flags(plain, endpoint="e", arm=None) != proxy_flags(other, endpoint="e", arm=None)


def test_the_parts_are_named() -> None:
    assert tuple(parts()) == PARTS


@pytest.mark.parametrize(
    ("changes", "action"),
    [
        ({}, "reuse"),
        ({"prompt": "What else?"}, "repeat"),
        ({"command": "claude -p --effort low"}, "repeat"),
        ({"prompt": None}, "repeat"),
        ({"has_agent": False}, "repeat"),
        ({"outcome": "blocked"}, "repeat"),
    ],
)
def test_attempts_older_than_the_header_are_held_to_the_letter(changes: dict[str, Any], action: str) -> None:
    given: dict[str, Any] = {
        "header": None,
        "has_episode": False,
        "has_agent": True,
        "outcome": "answered",
        "prompt": "What?",
        "command": "claude -p",
    }
    assert decide(RecordedAttempt(**(given | changes)), planned()).action == action
