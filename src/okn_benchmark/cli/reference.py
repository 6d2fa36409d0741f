"""``reference``: ground truth, built once per endpoint and query text."""

from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import (
    CacheOption,
    CorpusOption,
    EndpointOption,
    ExcludeOption,
    JsonOption,
    LimitOption,
    QueryTimeoutOption,
    TierOption,
)
from okn_benchmark.sparql.endpoint import DEFAULT_TIMEOUT_S, FEDERATION_URL

if TYPE_CHECKING:
    from okn_benchmark.jobs.choose import Choice
    from okn_benchmark.reference.build import Built
    from okn_benchmark.reference.drift import Drift


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reference")(reference)


def reference(
    corpus: CorpusOption,
    tier: TierOption = None,
    exclude: ExcludeOption = None,
    limit: LimitOption = None,
    endpoint: EndpointOption = FEDERATION_URL,
    cache: CacheOption = None,
    check: Annotated[bool, typer.Option("--check", help="Ask again, compare, write nothing.")] = False,  # noqa: FBT002
    timeout: QueryTimeoutOption = DEFAULT_TIMEOUT_S,
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Build ground truth: run the answer keys whose rows are not known yet at this endpoint."""
    from okn_benchmark.jobs.choose import Choice

    choice = Choice(corpus=corpus, tier=tier, exclude=exclude or (), limit=limit, cache=cache)
    code = (_check if check else _build)(choice, endpoint, timeout, json=json)
    if code:
        raise typer.Exit(code)


def _build(choice: "Choice", endpoint: str, timeout_s: float, *, json: bool) -> int:
    from okn_benchmark.jobs import reference as job

    report = job.reference(choice, endpoint, timeout_s, _show_built)
    for line in job.failures(report.entries):
        console.warn(line)
    if json:
        console.json_out(report.to_json())
    else:
        console.say(report.summary())
    return report.exit_code()


def _show_built(entry: "Built") -> None:
    if entry.status in ("failed", "not tried"):
        if entry.status == "failed":  # what was spared is said in one line at the end
            console.tell(f"{entry.record}: failed")
        return
    took = f" in {entry.elapsed_s:.2f} s" if entry.elapsed_s is not None else ""
    rows = "1 row" if entry.rows == 1 else f"{entry.rows} rows"
    console.tell(f"{entry.record}: {rows}{took} ({entry.status})")
    for warning in entry.warnings:
        console.warn(f"{entry.record}: warning: {warning}")


def _check(choice: "Choice", endpoint: str, timeout_s: float, *, json: bool) -> int:
    from okn_benchmark.jobs import reference as job

    report = job.check_drift(choice, endpoint, timeout_s, _show_drift)
    if json:
        console.json_out(report.to_json())
    else:
        console.say(report.summary())
    return report.exit_code()


def _show_drift(entry: "Drift") -> None:
    detail = ""
    if entry.lost or entry.gained:
        detail = f" ({entry.lost} row{'' if entry.lost == 1 else 's'} lost, {entry.gained} gained)"
    if entry.error is not None:
        detail = f": {entry.error.message}"
    elif entry.state == "not built":
        detail = ": run `okn-benchmark reference` without --check first"
    show = console.tell if entry.state == "stable" else console.warn
    show(f"{entry.record}: {entry.state}{detail}")
