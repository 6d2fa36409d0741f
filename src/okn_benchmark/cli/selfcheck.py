"""``selfcheck``: each key against itself and against damaged copies of itself."""

from typing import TYPE_CHECKING

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import (
    CacheOption,
    CorpusOption,
    EndpointOption,
    ExcludeOption,
    JsonOption,
    LimitOption,
    TierOption,
)
from okn_benchmark.sparql.endpoint import FEDERATION_URL

if TYPE_CHECKING:
    from okn_benchmark.jobs.selfcheck import KeyCheck


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("selfcheck")(selfcheck)


def selfcheck(
    corpus: CorpusOption,
    tier: TierOption = None,
    exclude: ExcludeOption = None,
    limit: LimitOption = None,
    endpoint: EndpointOption = FEDERATION_URL,
    cache: CacheOption = None,
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Judge each key against itself and against damaged copies of itself, and name the guards that fire."""
    from okn_benchmark.jobs.choose import Choice
    from okn_benchmark.jobs.selfcheck import selfcheck as job
    from okn_benchmark.scoring.settings import Settings

    choice = Choice(corpus=corpus, tier=tier, exclude=exclude or (), limit=limit, cache=cache)
    report = job(choice, endpoint, Settings(), _quiet if json else _show)
    if json:
        console.json_out(report.to_json())
    else:
        console.say(report.summary())
    if report.exit_code():
        raise typer.Exit(report.exit_code())


def _quiet(_: "KeyCheck") -> None:
    """Under ``--json`` everything stands in the document."""


def _show(check: "KeyCheck") -> None:
    state = "sound" if not check.faults else f"{len(check.faults)} at fault"
    console.say(f"{check.record}: {check.rows} × {check.columns}, {check.copies} copies, {state}")
    for guard in check.guards:
        where = f" ({guard.column})" if guard.column is not None else ""
        console.say(f"  guard {guard.guard}{where}: {guard.reason}")
    for fault in check.faults:
        console.say(f"  fault: {fault}")
