"""``audit-host``: what the real agent program advertises and delivers."""

from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console

if TYPE_CHECKING:
    from okn_benchmark.host.audit import Audit
    from okn_benchmark.jobs.audit import Audited


def audit_host(
    *,
    claude: Annotated[
        str | None, typer.Option(metavar="PATH", help="The agent binary; else OKN_BENCHMARK_CLAUDE, else PATH.")
    ] = None,
    model: Annotated[str, typer.Option(help="The model an episode would name; none is asked.")] = "opus",
    effort: Annotated[str | None, typer.Option(help="The effort an episode would name.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON.")] = False,
) -> None:
    """Start the agent program with an episode's flags, without a login or a model, and list what it is given.

    Exit code 1 when anything is there that should not be, naming each thing.
    """
    from okn_benchmark.host.claude import ClaudeHost, find_claude
    from okn_benchmark.jobs.audit import audit_now, bare_plan
    from okn_benchmark.places import cache_home

    host = ClaudeHost(executable=find_claude(claude))
    found = audit_now(host, bare_plan(model, effort), cache_home())
    if json:
        console.json_out(found.audit.to_json())
    else:
        _show(found)
    if not found.audit.clean:
        raise typer.Exit(1)


def _show(found: "Audited") -> None:
    audit = found.audit
    for name, value in _rows(audit):
        console.say(f"{name:<22}{value}")
    for row in audit.results:
        arrived = "nothing" if row["arrived"] is None else f"{row['arrived']:,}"
        console.say(f"{'result':<22}{row['tool']}: {row['sent']:,} characters sent, {arrived} arrived")
    console.say(f"{'digest':<22}{found.digest}")
    if audit.clean:
        console.say("Clean: the agent is given the server's tools and nothing else.")
    for finding in audit.findings:
        console.say(f"FOUND  {finding}")


def _rows(audit: "Audit") -> list[tuple[str, str]]:
    where = "in the first turn" if audit.instructions_in_turn_1 else "not in the first turn"
    return [
        ("host", f"claude {audit.host_version or 'of unknown version'}"),
        ("tools", ", ".join(audit.tools) or "none"),
        ("skills", ", ".join(audit.skills) or "none"),
        ("slash commands", ", ".join(audit.slash_commands) or "none"),
        ("MCP servers", ", ".join(f"{name} ({status})" for name, status in audit.servers.items()) or "none"),
        ("plugins", ", ".join(audit.plugins) or "none"),
        ("server start", f"{audit.server_delay_s:g} s"),
        ("instructions", f"{_arrived(audit.instructions_arrived)} of {audit.instructions_sent:,} characters, {where}"),
        ("tool description", f"{_arrived(audit.description_arrived)} of {audit.description_sent:,} characters"),
    ]


def _arrived(chars: int | None) -> str:
    return "none" if chars is None else f"{chars:,}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit-host")(audit_host)
