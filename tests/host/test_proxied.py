"""The real agent program, the real proxy and a server behind it: the whole line of one episode."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.graphs.service import serve_graphs
from okn_benchmark.host.episode import EpisodePlan, unwatched
from okn_benchmark.host.outcome import Outcome, classify
from okn_benchmark.host.rehearsal import rehearse
from okn_benchmark.host.script import parse_script
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.runs.readers import read_calls
from okn_benchmark.runs.shapes import Calls, Episode
from tests.host.driving import SEARCH, say, toy_profile, use

QUERY = "SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve_graphs() as service:
        yield f"{service.base_url}/federation/sparql"


def run(claude: str, folder: Path, script: list[Any], **launch: Any) -> tuple[Episode, Calls, Outcome, list[Any]]:
    folder.mkdir(exist_ok=True)
    plan = EpisodePlan(
        record_id="q",
        prompt="Which graphs?\n",
        attempt_dir=folder,
        launch=ProxyLaunch(log_dir=folder, **launch),
        model="claude-opus-5",
        agent_timeout_s=60.0,
    )
    with rehearse(claude, parse_script(script)) as stage:
        episode = stage.host.run(plan, unwatched)
        requests = list(stage.endpoint.requests)
    calls = read_calls((folder / "calls.json").read_text(), "calls.json")
    accepted, rejected = (folder / "answer.csv").exists(), len(list(folder.glob("rejected-*.csv")))
    return episode, calls, classify(episode, calls, accepted=accepted, rejected=rejected), requests


def test_the_control_searches_queries_and_submits(claude_binary: str, endpoint: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("run_sparql", query=QUERY)], [use("submit_csv", csv="{{result}}")], [say("Done.")]]
    episode, calls, outcome, requests = run(claude_binary, tmp_path, script, level="sparql-only", endpoint=endpoint)
    assert (outcome.kind, outcome.warnings) == ("answered", ())
    assert [c.tool for c in calls.calls] == ["run_sparql", "submit_csv"]
    assert (tmp_path / "answer.csv").read_text().startswith("g\n")
    assert "SPARQL 1.1 endpoint" in json.dumps(requests[0])
    assert (episode.protocol_era, episode.protocol_version) == ("handshake", "2025-11-25")


def test_a_profile_is_re_exported_with_tools_withheld(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("run_query", query="SELECT ?x WHERE { ?x ?y ?z }"), use("show_secret")]]
    script += [[use("submit_csv", csv="{{csv 1}}")], [say("Done.")]]
    launch = {"level": "all-tools", "profile": toy_profile(tmp_path), "withheld": ("show_secret", "hang")}
    episode, calls, outcome, requests = run(claude_binary, tmp_path / "attempt-1", script, **launch)
    assert outcome.kind == "answered"
    assert episode.withheld_reached == ("show_secret",)
    assert calls.metrics.tool_counts == {"run_query": 1, "submit_csv": 1}
    assert "mcp__okn__hang" not in json.dumps(requests)
    assert (tmp_path / "attempt-1" / "answer.csv").read_text().startswith("gene,score\n")


def test_a_server_that_does_not_start_blocks_with_its_own_words(claude_binary: str, tmp_path: Path) -> None:
    launch = {"level": "all-tools", "profile": toy_profile(tmp_path, "--dead")}
    episode, calls, outcome, _ = run(claude_binary, tmp_path / "attempt-1", [SEARCH, [say("No tools.")]], **launch)
    assert (outcome.kind, outcome.cause) == ("blocked", "startup")
    assert calls.metrics.startup_error
    assert any("not_connected" in warning for warning in outcome.warnings)
    assert episode.exit_code == 0


def test_a_server_that_dies_leaves_the_answer_channel_open(claude_binary: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("die")], [use("submit_csv", csv="a\n1\n")], [say("Done.")]]
    launch = {"level": "all-tools", "profile": toy_profile(tmp_path)}
    _, calls, outcome, _ = run(claude_binary, tmp_path / "attempt-1", script, **launch)
    assert outcome.kind == "answered"
    assert calls.metrics.lost_upstream
    assert any("lost" in warning for warning in outcome.warnings)


def test_only_refused_submissions_are_malformed(claude_binary: str, endpoint: str, tmp_path: Path) -> None:
    script = [SEARCH, [use("submit_csv", csv='a,b\n"1,2\n')], [say("Done.")]]
    _, _, outcome, _ = run(claude_binary, tmp_path, script, level="sparql-only", endpoint=endpoint)
    assert outcome.kind == "malformed"
