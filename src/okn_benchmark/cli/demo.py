"""``demo``: the whole path, offline."""

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="Keep the runs here; by default in a new temporary folder.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All records of each corpus, not three.")] = False,
) -> None:
    """Try everything offline: an oracle answers sample questions under three conditions; then read the report.

    The oracle uses no model: it runs the answer key through the server's own query tool. So every answer should be
    exact, and one that is not shows a fault of the instrument.
    """
    from okn_benchmark.cli.watching import watch_lines
    from okn_benchmark.jobs import demo as job
    from okn_benchmark.report.terminal import show_brief

    began = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="okn-benchmark-demo-")) if out is None else out
    exact = attempts = 0
    pages, views = [], []
    with tempfile.TemporaryDirectory(prefix="okn-benchmark-") as work:
        for done in job.demo(place, Path(work), watch_lines, full=full):
            views.append(done.reported.view)
            exact, attempts = exact + done.exact, attempts + done.attempts
            pages.append(done.swept[0].root)
    show_brief(views, sys.stdout, plain=console.plain())
    console.say(
        f"{exact} of {attempts} answers exact in {time.monotonic() - began:.0f} s, by an oracle: no model took part."
    )
    console.say("Read on, in README.md and report.html of")
    for page in pages:
        console.say(f"  {page}")
    if exact < attempts:
        console.warn("An answer of the oracle that is not exact is a fault of the instrument: please report it.")
        raise typer.Exit(1)
