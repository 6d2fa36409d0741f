"""The audit of the real agent program: clean with our flags, and with careless ones it finds everything planted."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from okn_benchmark.cli.app import build
from okn_benchmark.host import canary_server, isolation
from okn_benchmark.host.audit import audit, audit_key, read_audit
from okn_benchmark.host.canaries import found_in, plant
from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.host.episode import EpisodePlan
from okn_benchmark.host.proxy_client import ProxyClient
from okn_benchmark.jobs.audit import audit_now, audited, bare_plan


class CarelessHost(ClaudeHost):
    """What a runner without any isolation would do."""

    def argv(self, plan: EpisodePlan) -> list[str]:
        flags = ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "mcp__okn__*"]
        choice, server = isolation.choice_flags(plan), isolation.server_flags(plan.server_command())
        return [self.executable, *flags, *choice, *server]

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        guards = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_DISABLE_CLAUDE_MDS"}
        return {k: v for k, v in super().variables(plan).items() if k not in guards}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def test_an_episode_is_clean_and_the_audit_is_remembered(claude_binary: str, cache: Path) -> None:
    began = time.monotonic()
    host, plan = ClaudeHost(executable=claude_binary), bare_plan()
    first = audit_now(host, plan, cache)
    assert time.monotonic() - began < 20
    found = first.audit
    assert found.findings == ()
    assert found.instructions_in_turn_1, "although the server took three seconds to start"
    assert found.instructions_arrived is not None
    assert 1_000 < found.instructions_arrived < found.instructions_sent
    assert set(found.servers) == {"okn"}
    arrived = {(row["tool"], row["sent"]): row for row in found.results}
    assert arrived["plain_result", 45_000]["clipped"] is False
    assert arrived["plain_result", 300_000]["clipped"] is True
    assert arrived["marked_result", 300_000]["clipped"] is False
    again = audited(host, plan, cache)
    assert (again.cached, again.digest) == (True, first.digest)


def test_a_careless_configuration_gives_every_canary_away(claude_binary: str, tmp_path: Path) -> None:
    found = audit(CarelessHost(executable=claude_binary), bare_plan(), delay_s=0)
    places = plant(tmp_path, ["true"]).words
    for place in places:
        assert f"planted text reached the agent: {place}" in found.findings
    text = "\n".join(found.findings)
    for word in (
        "tool that is not the server's: Bash",
        "a skill: ",
        "a slash command: ",
        "another MCP server",
        "a plugin",
    ):
        assert word in text
    assert not found.clean


def test_the_command_prints_and_exits(claude_binary: str, tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    result = CliRunner().invoke(build(), ["audit-host", "--claude", claude_binary, "--json"], env=environ)
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert printed["clean"] is True
    assert read_audit(printed, "stdout").to_json() == printed
    assert len(printed["digest"]) == 64


def test_a_program_that_does_nothing_is_a_finding(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho 'cannot start' >&2\nexit 1\n")
    program.chmod(0o755)
    result = CliRunner().invoke(
        build(), ["audit-host", "--claude", str(program)], env={"XDG_CACHE_HOME": str(tmp_path / "cache")}
    )
    assert result.exit_code == 1
    assert "never reached the endpoint: cannot start" in result.stdout


def test_what_an_audit_holds_for() -> None:
    host, plan = ClaudeHost(executable="claude"), bare_plan()
    key = audit_key(host, plan, "1.0.0")
    assert audit_key(host, bare_plan(), "1.0.0") == key
    assert audit_key(ClaudeHost(executable="elsewhere/claude"), plan, "1.0.0") == key
    assert audit_key(ClaudeHost(executable="claude", model_script="abc"), plan, "1.0.0") == key
    assert audit_key(host, plan, "1.0.1") != key
    assert audit_key(host, bare_plan(effort="low"), "1.0.0") != key
    assert audit_key(ClaudeHost(executable="claude", negotiation="auto"), plan, "1.0.0") != key


def test_each_canary_has_a_word_of_its_own(tmp_path: Path) -> None:
    words = plant(tmp_path, ["true"]).words
    for place, word in words.items():
        assert found_in(f"… {word}.", words) == [place]
    files = "\n".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert found_in(files, words) == list(words)


def test_the_audit_server_speaks_as_it_should() -> None:
    argv = [sys.executable, "-P", "-m", canary_server.__name__]
    with ProxyClient(argv) as client:
        hello: dict[str, Any] = client.initialize()
        assert len(hello["instructions"]) > 5_000
        assert tuple(tool["name"] for tool in client.list_tools()) == canary_server.TOOLS
        assert len(client.call_tool(canary_server.PLAIN_TOOL, {"chars": 1_000}).text) == 1_000 + 17
