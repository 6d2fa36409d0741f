"""``graphs serve``: RDF as SPARQL endpoints on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import QueryTimeoutOption

if TYPE_CHECKING:
    from okn_benchmark.graphs.service import Served


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(
        help="The bundled sample graphs, or RDF of your own, as a SPARQL service.", no_args_is_help=True
    )
    group.command("serve")(serve)
    group.command("list")(list_graphs)
    app.add_typer(group, name="graphs")


def serve(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on loopback; 0 takes a free one.")] = 8890,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", metavar="RDF", help="Serve this file or folder instead; repeatable.", show_default=False
        ),
    ] = None,
    timeout: QueryTimeoutOption = 60.0,
) -> None:
    """Serve graphs until interrupted: /federation/sparql has all of them, /SHORTNAME/sparql one alone."""
    from okn_benchmark.graphs.service import run_graphs

    def ready(served: "Served") -> None:
        console.say(f"Serving on {served.base_url} (all graphs: {served.federation_url}); Ctrl-C stops.")

    run_graphs(file, port, timeout, ready)


def list_graphs() -> None:
    """List the sample graphs that come with this package."""
    from okn_benchmark.graphs.registry import GRAPHS, known_graphs

    width = max((len(graph.shortname) for graph in GRAPHS), default=0)
    for graph in GRAPHS:
        console.say(f"{graph.shortname:<{width}}  {graph.title}")
    console.tell(f"Samples of {len(GRAPHS)} of the {len(known_graphs())} graphs of the federation.")
