"""``rescore``: judge recorded answers again, without a model or an endpoint."""

from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rescore")(rescore)


def rescore(
    root: Annotated[Path, typer.Argument(metavar="ROOT", help="The runs root to judge again.")],
) -> None:
    """Judge recorded answers again from disk, print every score that moved, rebuild what is derived."""
    from okn_benchmark.jobs.report import regenerate
    from okn_benchmark.jobs.rescore import rescore as job
    from okn_benchmark.runs.layout import RunsRoot

    done = job(RunsRoot(root), regenerate)
    for problem in done.problems:
        console.warn(f"{problem.path}: {problem.reason}")
    for condition, record in done.dropped:
        console.warn(f"{record} is not a question of {condition} any more: its attempts stay, and count nowhere.")
    for move in done.moves:
        console.say(str(move))
    built = f", {done.built} of them for the first time" if done.built else ""
    console.say(f"{done.judged} attempts judged{built}; {_moved(len(done.moves))}.")


def _moved(count: int) -> str:
    return "no score moved" if count == 0 else f"{count} {'score' if count == 1 else 'scores'} moved"
