"""``corpus list`` and ``corpus check``: what the questions are, and what is wrong with them."""

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import (
    CacheOption,
    CorpusOption,
    ExcludeOption,
    JsonOption,
    LimitOption,
    QueryTimeoutOption,
    TierOption,
)
from okn_benchmark.sparql.endpoint import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from okn_benchmark.jobs.lint import Finding

CheckEndpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL|PATH|sample",
        help="Also run every key and every trap there. Without it nothing is asked of anyone.",
        show_default=False,
    ),
]
Refresh = Annotated[bool, typer.Option("--refresh", help="Fetch a git corpus again.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="The questions: what a corpus holds, and what is wrong with it.", no_args_is_help=True)
    group.command("list")(list_records)
    group.command("check")(check)
    app.add_typer(group, name="corpus")


def list_records(
    corpus: CorpusOption,
    tier: TierOption = None,
    exclude: ExcludeOption = None,
    limit: LimitOption = None,
    cache: CacheOption = None,
    refresh: Refresh = False,  # noqa: FBT002
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """List the records that the filters leave, as every other command would take them."""
    from okn_benchmark.jobs.choose import Choice
    from okn_benchmark.jobs.corpus_list import list_corpus

    choice = Choice(corpus=corpus, tier=tier, exclude=exclude or (), limit=limit, cache=cache)
    listing = list_corpus(choice, refresh=refresh)
    if json:
        console.json_out(listing.to_json())
    else:
        for line in (*listing.lines(), "", *listing.summary()):
            console.say(line)
    for bad in listing.corpus.bad:
        console.warn(f"{bad.name}:{bad.line}: {bad.message}")
    if listing.exit_code():
        raise typer.Exit(listing.exit_code())


def check(
    corpus: CorpusOption,
    tier: TierOption = None,
    exclude: ExcludeOption = None,
    limit: LimitOption = None,
    endpoint: CheckEndpoint = None,
    cache: CacheOption = None,
    timeout: QueryTimeoutOption = DEFAULT_TIMEOUT_S,
    json: JsonOption = False,  # noqa: FBT002
) -> None:
    """Look for faults in the records: their text alone, or their rows too."""
    from okn_benchmark.jobs import check as job
    from okn_benchmark.jobs.choose import Choice

    choice = Choice(corpus=corpus, tier=tier, exclude=exclude or (), limit=limit, cache=cache)
    report = job.check(choice, endpoint, timeout, console.tell)
    if json:
        console.json_out(report.to_json())
    else:
        _show(report.findings)
        console.say(report.summary())
    if report.failure is not None:
        console.complain(report.failure)
    if report.exit_code():
        raise typer.Exit(report.exit_code())


def _show(findings: "tuple[Finding, ...]") -> None:
    for file, found in groupby(findings, key=lambda finding: finding.file):
        console.say(file)
        for finding in found:
            line = f"line {finding.line}: " if finding.line else ""
            console.say(f"  {finding.level:<7}  {finding.code}  {line}{finding.message}")
