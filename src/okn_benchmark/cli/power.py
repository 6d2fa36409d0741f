"""``power``: how many questions, how many repeats."""

from pathlib import Path
from typing import Annotated

import typer

from okn_benchmark.cli import console


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("power")(power)


def power(
    difference: Annotated[
        float, typer.Option("--difference", help="The mean difference between two arms that should be noticed.")
    ] = 0.15,
    questions: Annotated[
        list[int] | None, typer.Option("--questions", help="A number of questions; may be given again.")
    ] = None,
    repeats: Annotated[
        list[int] | None, typer.Option("--repeats", help="Attempts per question and arm; may be given again.")
    ] = None,
    root: Annotated[
        Path | None, typer.Option("--root", help="Take question difficulty from this runs root instead of assuming it.")
    ] = None,
    condition: Annotated[str | None, typer.Option("--condition", help="The condition of the root to take.")] = None,
    beta: Annotated[
        tuple[float, float], typer.Option("--beta", help="The assumed difficulty: two shapes of a Beta distribution.")
    ] = (2.0, 1.0),
    discordant: Annotated[
        float | None, typer.Option("--discordant", help="Share of questions on which the arms differ: McNemar's size.")
    ] = None,
    net: Annotated[float | None, typer.Option("--net", help="The net difference inside that share.")] = None,
    wanted: Annotated[float, typer.Option("--power", help="The power to reach.")] = 0.80,
    json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,  # noqa: FBT002
) -> None:
    """Plan a study: simulated power per design, or the classical size for one attempt per question and arm."""
    from okn_benchmark.errors import InputError
    from okn_benchmark.jobs import power as job
    from okn_benchmark.report.words import as_json

    if (discordant is None) != (net is None):
        raise InputError(
            "--discordant and --net belong together.", hint="Give both, e.g. --discordant 0.18 --net 0.12."
        )
    if discordant is not None and net is not None:
        sized = job.size(discordant, net, wanted)
        if json:
            console.json_out({"schema": "size/1", **as_json(sized)})
        else:
            console.say(
                f"{sized.questions} questions, asked once per arm, find a net difference of {net:g} in a discordant "
                f"share of {discordant:g} with {wanted:.0%} power (McNemar, two-sided 5 %)."
            )
        return
    planned = job.plan(
        difference,
        questions=questions or job.QUESTIONS,
        repeats=repeats or job.REPEATS,
        root=root,
        condition=condition,
        beta=beta,
        power=wanted,
    )
    if json:
        console.json_out({"schema": "power/1", **as_json(planned)})
        return
    from okn_benchmark.report.comparison import plan_lines

    for line in plan_lines(planned.difference, planned.rates, planned.power, planned.designs):
        console.say(line)
    console.say(
        f"With one attempt per question, {planned.smallest_exact} questions have to differ, all one way, before the "
        f"exact test can reach p < .05 ({planned.smallest_mid_p} by mid-p)."
    )
