"""``report``: tables of a runs root; keeps its generated pages up to date."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.errors import OutsideFailure

if TYPE_CHECKING:
    from okn_benchmark.jobs.reported import Reported


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    root: Annotated[Path, typer.Argument(help="The runs root to read.", show_default=False)],
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE|-", help="Write the markdown page there, - for stdout.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE|-", help="Write the self-contained HTML page there.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,  # noqa: FBT002
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Write the figures there, as SVG and PNG.")
    ] = None,
) -> None:
    """Show what a runs root holds, and regenerate its README.md and tables unless it is frozen."""
    from okn_benchmark.jobs import report as job
    from okn_benchmark.jobs.reported import frozen_words
    from okn_benchmark.report.document import view_json
    from okn_benchmark.report.markdown import markdown as page_of

    reported = job.read_report(root)
    if frozen := frozen_words(reported):
        console.tell(frozen)
    else:
        _regenerate(reported, root)
    if markdown is not None:
        _put(reported, markdown, page_of(reported.view))
    if html is not None:
        from okn_benchmark.jobs.pages import html_of

        beside = str(html) != "-" and html.resolve().parent == root.resolve()
        _put(reported, html, html_of(reported, linked=beside))
    if figures is not None:
        from okn_benchmark.jobs.pages import write_figures

        job.require_parent(figures)
        console.tell(f"Wrote {', '.join(path.name for path in write_figures(reported, figures))}.")
    if json:
        console.json_out(view_json(reported.view))
    elif markdown is None and html is None and figures is None:
        from okn_benchmark.report.terminal import show

        show(reported.view, sys.stdout, plain=console.plain())


def _regenerate(reported: "Reported", root: Path) -> None:
    """A root on a disk that takes nothing can still be read."""
    from okn_benchmark.jobs import report as job

    try:
        console.tell(job.changed_words(job.write_derived(reported), root))
    except OutsideFailure as error:
        console.warn(f"warning: {error.message}. What is shown comes from the evidence and is not kept.")


def _put(reported: "Reported", target: Path, page: str) -> None:
    from okn_benchmark.jobs import report as job

    if str(target) == "-":
        console.page(page)
        return
    job.write_page(reported, target, page)
    console.tell(f"Wrote {target}.")
