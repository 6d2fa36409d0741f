"""``sample-server``: an MCP server over the sample graphs, to try the harness on."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sample-server")(sample_server)


def sample_server(
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=0, max=65535, help="Streamable HTTP on loopback; 0: a free port."),
    ] = None,
    graphs_url: Annotated[
        str | None,
        typer.Option("--graphs-url", metavar="URL", help="Ask this graph service, not the bundled sample graphs."),
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Append a JSON line for every tool call.")
    ] = None,
) -> None:
    """Serve the sample graphs over MCP: on stdin and stdout, or over HTTP."""
    from okn_benchmark.sample_server.serving import run_http, run_stdio

    if http is None:
        if sys.stdin.isatty():
            console.tell("Speaking MCP on stdin and stdout, for a client that starts this command; Ctrl-C stops.")
        run_stdio(graphs_url, log)
    else:
        run_http(http, graphs_url, log, lambda url: console.say(f"Serving MCP on {url}; Ctrl-C stops."))
