"""``freeze``: close a runs root, or verify one that is closed."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.errors import InputError
from okn_benchmark.jobs import freeze as job


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("freeze")(freeze)


def freeze(
    root: Annotated[Path, typer.Argument(metavar="ROOT", help="The runs root to close.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why; whoever is refused gets to read it.")] = None,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hold a closed root's evidence against the digests in its marker.")
    ] = False,
) -> None:
    """Close a runs root: run and rescore refuse it, report only reads it. Delete its .frozen to open it again."""
    if verify:
        if reason is not None:
            raise InputError("--verify only looks, so it takes no --reason.", hint="Give one of the two.")
        _verify(root)
        return
    if reason is None:
        raise InputError(f"Closing {root} takes a reason.", hint='Add --reason "…", or --verify to check a closed one.')
    marker = job.freeze(root, reason, date.today())  # noqa: DTZ011 - the day on the wall of whoever closes it
    console.say(f"{root} is closed: {marker.reason} ({len(marker.digests)} files of evidence, each with its digest)")


def _verify(root: Path) -> None:
    changes = job.check(root)
    if not changes:
        console.say(f"{root}: every byte of evidence is what it was when the root was closed.")
        return
    first = changes[0]
    console.say(f"{root}: {first.path} has been {_WORDS[first.what]} since the root was closed.")
    for change in changes[1:]:
        console.say(f"  also {_WORDS[change.what]}: {change.path}")
    raise typer.Exit(1)


_WORDS = {"changed": "changed", "missing": "removed", "added": "added"}
