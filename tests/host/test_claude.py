"""The real agent program: what an episode records when all goes well, and that nothing else is in reach."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.host.driving import CLEAN, SEARCH, drive, recorder, say, toy_plan, use

EPISODES = int(os.environ.get("OKN_BENCHMARK_EPISODES", "3"))
"""How many clean episodes must end without a false block; the full figure is 50."""


def test_a_clean_episode_is_recorded_whole(claude_binary: str, tmp_path: Path) -> None:
    seen, watch = recorder()
    ran = drive(claude_binary, tmp_path / "a", CLEAN, watch=watch)
    episode, init = ran.episode, ran.episode.init
    assert ran.outcome.kind == "answered"
    assert ran.outcome.warnings == ()
    assert (ran.folder / "answer.csv").read_text() == "gene,score\nhttp://example.org/g1,1.5\nhttp://example.org/g2,\n"
    assert (episode.exit_code, episode.signal, episode.timed_out) == (0, None, False)
    assert init is not None
    assert init["mcp_servers"] == {"okn": "connected"}
    assert init["server_in_turn_1"] is True
    assert init["api_key_source"] == "ANTHROPIC_API_KEY"
    assert re.fullmatch(r"\d+\.\d+\.\d+", episode.host_version or "")
    assert (episode.model_requested, episode.model_resolved) == ("claude-opus-5", "claude-opus-5")
    assert episode.turns == 4
    assert episode.tokens is not None
    assert (episode.tokens.input, episode.tokens.output) == (400, 80)
    assert episode.cost_usd == pytest.approx(400 * 5e-6 + 80 * 25e-6)
    assert episode.cost_usd == pytest.approx(episode.extra["host_cost_usd"])
    assert (episode.api_retries, episode.api_retry_s, episode.host_clipped) == (0, 0.0, 0)
    assert json.loads((ran.folder / "agent.json").read_text())["type"] == "result"
    assert (ran.folder / "transcript.jsonl").read_text().count('"type":"result"') == 1
    assert list((ran.folder / "cwd").iterdir()) == []
    assert [e.detail for e in seen if e.kind == "tool"] == ["ToolSearch", "run_query", "submit_csv"]


def test_the_first_request_has_the_instructions_and_only_our_tools(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", CLEAN)
    assert "Ask run_query, then submit." in json.dumps(ran.requests[0])
    names = {tool["name"] for body in ran.requests for tool in body["tools"]}
    assert {name for name in names if not name.startswith("mcp__okn__")} <= {"ToolSearch", "DeferredToolPlaceholder"}
    assert ran.episode.init is not None
    assert ran.episode.init["skills"] == ran.episode.init["slash_commands"] == []


def test_the_agent_stands_in_an_empty_folder_that_is_gone_afterwards(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", CLEAN)
    cwd = Path(json.loads((ran.folder / "transcript.jsonl").read_text().splitlines()[0])["cwd"])
    assert cwd.name.startswith("okn-episode-")
    assert not cwd.exists()
    assert str(tmp_path) not in json.dumps(ran.requests)


def test_without_tool_search_the_tools_are_there_at_once(claude_binary: str, tmp_path: Path) -> None:
    ran = drive(claude_binary, tmp_path / "a", CLEAN[1:], host={"tool_search": False})
    assert ran.outcome.kind == "answered"
    assert {"mcp__okn__run_query", "mcp__okn__submit_csv"} <= {tool["name"] for tool in ran.requests[0]["tools"]}
    assert "ToolSearch" not in {tool["name"] for tool in ran.requests[0]["tools"]}


@pytest.mark.parametrize(("negotiation", "first"), [("legacy", "initialize"), ("auto", "server/discover")])
def test_the_protocol_of_the_first_message_is_pinned(
    claude_binary: str, tmp_path: Path, negotiation: str, first: str
) -> None:
    ran = drive(claude_binary, tmp_path / "a", CLEAN, host={"negotiation": negotiation})
    modern = tuple(map(int, (ran.episode.host_version or "0").split("."))) >= (2, 1, 300)
    assert ran.received()[0]["method"] == (first if modern else "initialize")
    assert ran.outcome.kind == "answered"


def test_a_tool_that_is_not_listed_is_counted_and_never_reaches_the_server(claude_binary: str, tmp_path: Path) -> None:
    script = [
        [use("ToolSearch", query="select:mcp__okn__get_schema,mcp__okn__submit_csv")],
        [use("describe_graph")],
        [use("submit_csv", csv="a\n1\n")],
        [say("Done.")],
    ]
    withheld = ("get_schema", "describe_graph", "never_wanted")
    ran = drive(claude_binary, tmp_path / "a", script, withheld=withheld)
    assert ran.episode.withheld_reached == ("get_schema", "describe_graph")
    assert ran.episode.extra["withheld_calls"] == 1, "a search is no call"
    assert ran.outcome.kind == "answered"
    called = [m["params"]["name"] for m in ran.received() if m.get("method") == "tools/call"]
    assert called == ["submit_csv"]


def test_a_result_the_host_replaces_is_counted(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("run_query", query="big"), use("run_query", query="SELECT")], [say("Done.")]]
    ran = drive(claude_binary, tmp_path / "a", script)
    assert ran.episode.host_clipped == 1


def test_a_secret_of_the_environment_reaches_no_file(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("show_secret")], [say("It says {{result}}")]]
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "MY_TOKEN": "hush-hush-4711"}
    ran = drive(claude_binary, tmp_path / "a", script, environ=environ)
    assert "hush-hush-4711" in json.dumps(ran.requests), "the toy was meant to show it"
    for path in ran.folder.rglob("*"):
        assert not path.is_file() or path.name == "requests.jsonl" or "hush-hush" not in path.read_text()
    assert "hush-hush" not in repr(ran.episode)


def test_the_effort_and_the_turn_limit_are_passed_on(claude_binary: str, tmp_path: Path) -> None:
    plan = toy_plan(tmp_path / "a", effort="low", max_turns=7)
    from okn_benchmark.host.claude import ClaudeHost

    host = ClaudeHost(executable=claude_binary)
    argv = host.argv(plan)
    assert argv[argv.index("--effort") + 1] == "low"
    assert argv[argv.index("--max-turns") + 1] == "7"
    assert str(tmp_path) not in json.dumps(host.flags(plan))
    assert "dummy" not in " ".join(argv)


@pytest.mark.timeout(600)
def test_clean_episodes_are_never_blocked(claude_binary: str, tmp_path: Path) -> None:
    for number in range(EPISODES):
        ran = drive(claude_binary, tmp_path / str(number), CLEAN)
        assert (ran.outcome.kind, ran.outcome.warnings) == ("answered", ())
