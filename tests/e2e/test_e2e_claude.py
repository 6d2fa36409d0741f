"""Whole sweeps through the real agent program, a script in the model's place, seen as a shell sees them."""

import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.conftest import Done, Shell

from okn_benchmark.corpus.source import open_corpus
from okn_benchmark.host.script import parse_script
from okn_benchmark.host.scripted import serve_script
from okn_benchmark.proxy.sparql_only import PREAMBLE
from okn_benchmark.sample_server.texts import INSTRUCTIONS

SEARCH = {"type": "tool_use", "name": "ToolSearch", "input": {"query": "okn", "max_results": 20}}
SOFT = f"""\
name = "soft"
[upstream]
transport = "stdio"
command = "{sys.executable}"
args = ["{Path(__file__).parent / "servers" / "soft.py"}"]
"""

Rehearse = Callable[..., Done]


def use(tool: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "name": f"mcp__okn__{tool}", "input": given}


def submits(csv: str) -> list[list[dict[str, object]]]:
    return [[SEARCH], [use("submit_csv", csv=csv)]]


@pytest.fixture
def rehearse(shell: Shell, claude_binary: str, corpus_name: str, tmp_path: Path) -> Rehearse:
    """``run`` with a script in the model's place into ``tmp_path/root``: the control, one question, unless told so."""

    def go(script: Any, *arguments: str | Path, tools: str = "sparql-only", limit: int = 1) -> Done:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(script), encoding="utf-8")
        fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--out", tmp_path / "root", "--limit", str(limit))
        agent = ("--claude", claude_binary, "--model-script", path, "--kg-hint", "tags", "--tools", tools)
        return shell.okn("run", *fixed, *agent, *arguments)

    return go


def only(root: Path, name: str) -> Any:
    """The one file of that name under a root, read."""
    (path,) = (p for p in root.rglob(name) if ".replaced" not in p.parts)
    return json.loads(path.read_text(encoding="utf-8"))


def attempt(root: Path) -> Any:
    """The one attempt of a root, judged."""
    (result,) = only(root, "result.json")["attempts"]
    return result


@pytest.fixture
def served() -> Iterator[Callable[[Any], tuple[str, deque[Any]]]]:
    """Serve a script where the model's service would be; its address and the requests that arrived."""
    with ExitStack() as stack:

        def serve(script: Any) -> tuple[str, deque[Any]]:
            endpoint = stack.enter_context(serve_script(parse_script(script)))
            return endpoint.base_url, endpoint.requests

        yield serve


@pytest.mark.parametrize(
    ("level", "tool", "csv", "told"),
    [
        ("sparql-only", "run_sparql", "{{result}}", PREAMBLE[:200]),
        ("all-tools", "run_query", "{{csv}}", INSTRUCTIONS[:200]),
    ],
    ids=["control", "server"],
)
@pytest.mark.timeout(200)
def test_a_sweep_searches_queries_and_submits(
    shell: Shell, claude_binary: str, corpus_name: str, profile: Path, tmp_path: Path,
    served: Callable[[Any], tuple[str, deque[Any]]], level: str, tool: str, csv: str, told: str,
) -> None:  # fmt: skip
    cases = [
        {"when": r.summary, "turns": [[SEARCH], [use(tool, query=r.query)], [use("submit_csv", csv=csv)]]}
        for r in open_corpus(corpus_name).records[:3]
    ]
    url, requests = served({"cases": cases})
    login = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "HOME": str(tmp_path)}
    fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--out", tmp_path / "root", "--claude", claude_binary)
    flags = ("--tools", level, "--kg-hint", "tags", "--profile", profile, "--limit", "3", "--repeat", "2")
    done = shell.okn("run", *fixed, *flags, timeout_s=150, **login)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 measured attempts exact" in done.stdout
    episodes = [json.loads(p.read_text(encoding="utf-8")) for p in (tmp_path / "root").rglob("episode.json")]
    assert len(episodes) == 6
    for episode in episodes:
        assert (episode["exit_code"], episode["signal"], episode["timed_out"]) == (0, None, False)
        assert episode["init"]["server_in_turn_1"] is True
        assert {f"mcp__okn__{tool}", "mcp__okn__submit_csv", "ToolSearch"} <= set(episode["init"]["tools"])
        assert episode["final"]["terminal_reason"] == "completed"
        unknown = [key for key, value in episode.items() if value is None and key not in ("signal", "effort")]
        assert unknown == []
    first = [r for r in requests if r.get("tools") and not any(m["role"] == "assistant" for m in r["messages"])]
    assert len(first) >= 6
    assert all(json.dumps(told)[1:-1] in json.dumps(request) for request in first)


def test_the_header_alone_is_an_answer_and_silence_is_a_miss(
    rehearse: Rehearse, corpus_name: str, tmp_path: Path
) -> None:
    (empty,) = (record.id for record in open_corpus(corpus_name).records if record.empty)
    others = [arg for r in open_corpus(corpus_name).records if r.id != empty for arg in ("--exclude", r.id)]
    done = rehearse(submits("gene,place\n"), *others)
    assert done.returncode == 0, done.stderr
    result = attempt(tmp_path / "root")
    assert (result["outcome"], result["verdict"]["submitted"]) == ("answered", True)
    assert (result["verdict"]["exact"], result["verdict"]["answer_rows"]) == (True, 0)
    done = rehearse([[{"type": "text", "text": "There is nothing to find."}]], *others, "--force")
    assert done.returncode == 0, done.stderr
    result = attempt(tmp_path / "root")
    assert (result["outcome"], result["cause"]) == ("no_submission", None)
    assert (result["verdict"]["submitted"], result["verdict"]["exact"]) == (False, False)
    assert only(tmp_path / "root", "sparql-only__kg-named.json")["aggregate"]["exact_rate"] == 0.0


def test_a_server_that_cannot_start_is_blocked_with_its_reason(
    rehearse: Rehearse, dead_profile: Path, tmp_path: Path
) -> None:
    done = rehearse(submits("a\n"), "--profile", dead_profile, tools="all-tools")
    assert done.returncode == 4
    assert "measured nothing" in done.stderr
    result = attempt(tmp_path / "root")
    assert (result["outcome"], result["cause"], result["verdict"]) == ("blocked", "startup", None)
    assert "no-such-command-anywhere" in result["reason"]
    assert "no-such-command-anywhere" in (tmp_path / "root" / "README.md").read_text(encoding="utf-8")


def test_a_hanging_model_is_a_timeout_that_is_kept(rehearse: Rehearse, tmp_path: Path) -> None:
    before = set(psutil.pids())
    done = rehearse([{"hang": True}], "--agent-timeout", "1")
    ended = time.monotonic()
    assert done.returncode == 0, done.stderr
    left = [p for p in psutil.process_iter(["cmdline"]) if p.pid not in before and str(tmp_path) in str(p.info)]
    psutil.wait_procs(left, timeout=5)
    assert [p for p in left if p.is_running()] == []
    assert time.monotonic() - ended < 5
    result = attempt(tmp_path / "root")
    assert (result["outcome"], result["verdict"]["exact"]) == ("timeout", False)
    assert only(tmp_path / "root", "sparql-only__kg-named.json")["aggregate"]["blocked"] == 0
    again = rehearse([{"hang": True}], "--agent-timeout", "1", "--resume")
    assert again.returncode == 0, again.stderr
    assert "[resumed]" in again.stderr


def test_a_withheld_tool_is_refused_counted_and_named(rehearse: Rehearse, profile: Path, tmp_path: Path) -> None:
    script = [[SEARCH], [use("get_schema", shortname="rdkg")], [use("submit_csv", csv="a\n")]]
    done = rehearse(script, "--profile", profile, "--without-tool", "get_schema", tools="all-tools")
    assert done.returncode == 0, done.stderr
    root = tmp_path / "root"
    (transcript,) = root.rglob("transcript.jsonl")
    events = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
    replies = [b for e in events if e["type"] == "user" for b in e["message"]["content"] if "tool_use_id" in b]
    refused = [b for b in replies if b["tool_use_id"] == "toolu_1_0"]
    assert [b.get("is_error") for b in refused] == [True]
    result = attempt(root)
    assert (result["withheld_calls"], result["withheld_reached"]) == (1, ["get_schema"])
    assert not (tmp_path / "server.log").exists(), "the server saw no call at all"
    assert "reached for: get\\_schema 1" in (root / "README.md").read_text(encoding="utf-8")


def test_the_model_that_answered_is_recorded_beside_the_one_asked_for(rehearse: Rehearse, tmp_path: Path) -> None:
    done = rehearse({"model": "claude-opus-5", "turns": submits("a\n")}, "--model", "opus")
    assert done.returncode == 0, done.stderr
    root = tmp_path / "root"
    meta = only(root, "sparql-only__kg-named.json")["meta"]
    assert (meta["model_resolved"], meta["identity"]["model"]) == (["claude-opus-5"], "opus")
    page = (root / "README.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `sparql-only__kg-named`"))
    assert "claude-opus-5 (asked for as opus) | default |" in row


def test_a_failure_inside_a_success_is_seen_and_relabelled_only_on_request(rehearse: Rehearse, tmp_path: Path) -> None:
    soft = tmp_path / "soft.toml"
    soft.write_text(SOFT, encoding="utf-8")
    script = [[SEARCH], [use("get_descendants"), use("data")], [use("submit_csv", csv="a\n")]]
    told, sums = [], []
    for flags in ((), ("--strict-upstream-errors", "--force")):
        done = rehearse(script, "--profile", soft, *flags, tools="all-tools")
        assert done.returncode == 0, done.stderr
    for strict in ("", "__strict"):
        (folder,) = (tmp_path / "root").glob(f"*_results/soft-all-tools__kg-named{strict}/attempt-1")
        calls = json.loads((folder / "calls.json").read_text(encoding="utf-8"))
        first, second, _ = calls["calls"]
        assert (first["ok"], second["ok"]) == (True, True)
        assert "429" in first["soft_error"]
        assert second["soft_error"] is None
        assert calls["metrics"]["upstream_soft_errors"] == {"get_descendants": 1}
        sums.append((first["sha256"], second["sha256"]))
        text = (folder / "transcript.jsonl").read_text(encoding="utf-8")
        blocks = [b for line in text.splitlines() for b in _blocks(json.loads(line)) if "toolu_1_0" in str(b)]
        told.append([b.get("is_error", False) for b in blocks if b["type"] == "tool_result"])
    assert sums[0] == sums[1], "the payload is the same either way"
    assert told == [[False], [True]]


def _blocks(event: dict[str, Any]) -> list[dict[str, Any]]:
    content = (event.get("message") or {}).get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
