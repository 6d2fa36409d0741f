"""``compare``: paired statistics between two conditions or two roots."""

from typing import Annotated

import typer

from okn_benchmark.cli import console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    left: Annotated[str, typer.Argument(help="A runs root, or ROOT::CONDITION.", show_default=False)],
    right: Annotated[str, typer.Argument(help="What it is compared with, written the same way.", show_default=False)],
    margin: Annotated[
        float | None,
        typer.Option("--margin", min=0, max=1, help="A margin declared beforehand: test equivalence within ± it."),
    ] = None,
    blocked_gap: Annotated[
        float,
        typer.Option(
            "--blocked-gap", min=0, max=1, help="Withhold the comparison where blocked shares differ by more."
        ),
    ] = 0.10,
    json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,  # noqa: FBT002
) -> None:
    """Subtract two conditions question by question, with intervals, tests and what could have been found."""
    from okn_benchmark.jobs.compare import compare as job
    from okn_benchmark.jobs.compare import comparison_json
    from okn_benchmark.report.comparison import comparison_lines

    found = job(left, right, margin=margin, blocked_gap=blocked_gap)
    if json:
        console.json_out(comparison_json(found))
        return
    for comparison in found:
        lines = comparison_lines(
            comparison.contrast, comparison.sides, comparison.bca, comparison.odds, comparison.max_t_p
        )
        for line in lines:
            console.say(line)
        for one in comparison.questions:
            counts = f"{one.left[0]}/{one.left[1]} − {one.right[0]}/{one.right[1]}"
            console.say(f"    {one.record}: {counts}, F1 {one.f1[0]:.2f} − {one.f1[1]:.2f}, p = {one.p:.3f}")
        console.say()
