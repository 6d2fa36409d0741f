"""The host without a model: through a toy server directly, and through the real proxy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.graphs.service import serve_graphs
from okn_benchmark.host.episode import EpisodePlan, unwatched
from okn_benchmark.host.oracle import CONTROL_TOOL, OracleHost, tool_for
from okn_benchmark.host.oracle_reply import at_path
from okn_benchmark.host.outcome import Outcome, classify
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import OracleTool
from okn_benchmark.runs.readers import read_calls
from okn_benchmark.runs.shapes import Episode
from tests.host.driving import recorder, toy_plan, toy_profile

ASK = OracleTool(tool="run_query", arguments={"query": "{query}"}, reply="sparql-json")
ROWS = "gene,score\nhttp://example.org/g1,1.5\nhttp://example.org/g2,\n"


def run(folder: Path, *server: str, query: str = "SELECT", tool: OracleTool = ASK, **plan: Any) -> Episode:
    return OracleHost(queries={"q": query}, tool=tool).run(toy_plan(folder, *server, **plan), unwatched)


def outcome(folder: Path, episode: Episode) -> Outcome:
    return classify(episode, None, accepted=(folder / "answer.csv").exists(), rejected=0)


def test_the_key_goes_in_and_the_rows_come_back(tmp_path: Path) -> None:
    seen, watch = recorder()
    episode = OracleHost(queries={"q": "SELECT ?x"}, tool=ASK).run(toy_plan(tmp_path), watch)
    assert (tmp_path / "answer.csv").read_text() == ROWS
    assert outcome(tmp_path, episode).kind == "answered"
    assert (episode.host, episode.model_resolved, episode.turns, episode.tokens) == ("oracle", None, None, None)
    assert [e.detail for e in seen if e.kind == "tool"] == ["run_query", "submit_csv"]
    events = [json.loads(line) for line in (tmp_path / "transcript.jsonl").read_text().splitlines()]
    assert [e["event"] for e in events] == ["connected", "call", "reply", "call", "reply", "end"]
    assert events[1]["arguments"] == {"query": "SELECT ?x"}
    assert json.loads((tmp_path / "agent.json").read_text())["terminal_reason"] == "completed"


def test_it_introduces_itself_as_the_agent_program_does(tmp_path: Path) -> None:
    run(tmp_path, "--roots")
    received = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    hello = received[0]["params"]
    assert hello["clientInfo"]["name"] == "claude-code"
    assert set(hello["capabilities"]) == {"roots", "elicitation"}
    assert {"jsonrpc": "2.0", "id": "roots-1", "result": {"roots": []}} in received


def test_a_failed_query_is_a_miss_that_says_why(tmp_path: Path) -> None:
    episode = run(tmp_path, query="bad")
    found = outcome(tmp_path, episode)
    assert found.kind == "no_submission"
    assert "syntax error" in (found.reason or "")


def test_a_reply_in_another_form_than_the_profile_says(tmp_path: Path) -> None:
    episode = run(tmp_path, query="big")
    assert "not JSON" in (outcome(tmp_path, episode).reason or "")


def test_a_protocol_error_is_a_reply_like_any_other(tmp_path: Path) -> None:
    tool = OracleTool(tool="broken", arguments={"query": "{query}"}, reply="csv")
    assert "broken on purpose" in (outcome(tmp_path, run(tmp_path, tool=tool)).reason or "")


def test_a_server_that_does_not_start_is_not_connected(tmp_path: Path) -> None:
    episode = run(tmp_path, "--dead")
    found = outcome(tmp_path, episode)
    assert (found.kind, found.cause) == ("blocked", "not_connected")
    assert "no such database" in (tmp_path / "transcript.jsonl").read_text()


def test_a_hanging_query_ends_with_the_time_of_the_episode(tmp_path: Path) -> None:
    tool = OracleTool(tool="hang", arguments={"query": "{query}"}, reply="csv")
    episode = run(tmp_path, tool=tool, agent_timeout_s=1.0)
    assert outcome(tmp_path, episode).kind == "timeout"


def test_every_page_of_the_list_is_read(tmp_path: Path) -> None:
    episode = run(tmp_path, "--pages")
    assert episode.init is not None
    assert episode.init["tools"][-1] == "submit_csv"
    assert len(episode.init["tools"]) == 7


def test_a_profile_without_an_oracle_table_is_refused() -> None:
    assert tool_for("sparql-only", None) is CONTROL_TOOL
    with pytest.raises(InputError, match=r"some\.toml"):
        tool_for("all-tools", None, "some.toml")


def test_a_path_leads_through_objects_and_lists() -> None:
    document = {"structured": {"parts": [{"csv": "a\n1\n"}]}}
    assert at_path(document, "structured.parts.0.csv") == "a\n1\n"
    assert at_path(document, None) is document
    with pytest.raises(InputError, match="'rows'"):
        at_path(document, "structured.rows")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve_graphs() as service:
        yield f"{service.base_url}/federation/sparql"


def test_through_the_real_proxy_the_control_answers(endpoint: str, tmp_path: Path) -> None:
    query = "SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"
    plan = EpisodePlan(
        record_id="q",
        prompt="",
        attempt_dir=tmp_path,
        launch=ProxyLaunch(level="sparql-only", endpoint=endpoint, log_dir=tmp_path),
        expected_tools=("run_sparql", "submit_csv"),
    )
    episode = OracleHost(queries={"q": query}, tool=CONTROL_TOOL).run(plan, unwatched)
    calls = read_calls((tmp_path / "calls.json").read_text(), "calls.json")
    rows = (tmp_path / "answer.csv").read_text().splitlines()
    assert rows[0] == "g"
    assert len(rows) > 2
    assert [(c.tool, c.ok) for c in calls.calls] == [("run_sparql", True), ("submit_csv", True)]
    found = classify(episode, calls, accepted=True, rejected=0)
    assert (found.kind, found.warnings) == ("answered", ())


def test_through_the_real_proxy_a_profile_answers(tmp_path: Path) -> None:
    profile = toy_profile(tmp_path)
    attempt = tmp_path / "attempt-1"
    attempt.mkdir()
    plan = EpisodePlan(
        record_id="q",
        prompt="",
        attempt_dir=attempt,
        launch=ProxyLaunch(level="all-tools", profile=profile, log_dir=attempt, withheld=("die",)),
    )
    episode = OracleHost(queries={"q": "SELECT ?x WHERE { ?x ?y ?z }"}, tool=ASK).run(plan, unwatched)
    assert (attempt / "answer.csv").read_text() == ROWS
    assert episode.init is not None
    assert "die" not in episode.init["tools"]
    assert "submit_csv" in episode.init["tools"]
