"""``probe``: what a server offers, for free."""

from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import DAY_S
from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import parse_object
from okn_benchmark.launch import DEFAULT_CALL_TIMEOUT_S


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("probe")(probe)


def probe(
    *,
    profile: Annotated[Path, typer.Option("--profile", help="TOML file naming the server.")],
    without_tool: Annotated[
        list[str] | None,
        typer.Option("--without-tool", metavar="NAME", help="Preview with this tool taken out; repeat."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=DAY_S, help="Seconds one call may take.")
    ] = DEFAULT_CALL_TIMEOUT_S,
    arm: Annotated[
        Path | None, typer.Option("--arm", help="TOML file of interventions: show both sides of each change.")
    ] = None,
    call: Annotated[
        str | None, typer.Option("--call", metavar="TOOL", help="With --arm: call this tool and show both sides.")
    ] = None,
    arguments: Annotated[str, typer.Option("--arguments", metavar="JSON", help="What --call passes on.")] = "{}",
    json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Connect to a server and show what an agent would see at each level. Costs no tokens."""
    from okn_benchmark.jobs import probe as job

    if arm is not None:
        _preview(profile, arm, call, arguments, tuple(without_tool or ()), timeout, json=json)
        return
    if call is not None:
        raise InputError("--call shows what an arm makes of a result; give --arm FILE with it.")
    found = job.probe(profile, withheld=tuple(without_tool or ()), timeout_s=timeout)
    if json:
        console.json_out(found.to_json())
        return
    for text in job.probe_lines(found):
        console.say(text)


def _preview(
    profile: Path, arm: Path, call: str | None, arguments: str, withheld: tuple[str, ...], timeout: float, *, json: bool
) -> None:
    from okn_benchmark.jobs import preview as job

    asked = None if call is None else (call, parse_object(arguments, "--arguments"))
    found = job.preview(profile, arm, call=asked, withheld=withheld, timeout_s=timeout)
    if json:
        console.json_out(found.to_json())
        return
    for text in job.preview_lines(found):
        console.say(text)
