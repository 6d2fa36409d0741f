"""``score``: one answer against one truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import JsonOption
from okn_benchmark.report.words import plural

if TYPE_CHECKING:
    from okn_benchmark.jobs.score import Scored


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("score")(score)


def score(
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="A ground_truth.json, or any SPARQL JSON results file.")
    ],
    answer: Annotated[Path, typer.Argument(metavar="ANSWER", help="The submitted CSV.")],
    json: JsonOption = False,  # noqa: FBT002
    precision: Annotated[int, typer.Option("--precision", help="Significant digits of decimals.")] = 6,
    numeric_rel_tol: Annotated[
        float, typer.Option("--numeric-rel-tol", help="How far a decimal may be from the one it prints.")
    ] = 5e-4,
    rows: Annotated[int, typer.Option("--rows", min=0, help="Rows of each sort to show where they differ.")] = 10,
) -> None:
    """Judge one answer against one truth. The exit code is 0 whatever the score."""
    from okn_benchmark.jobs.score import score as job
    from okn_benchmark.scoring.settings import Settings

    settings = Settings(significant_digits=precision, numeric_rel_tol=numeric_rel_tol)
    done = job(truth, answer, settings, rows)
    if json:
        console.json_out(done.to_json())
    else:
        _show(done)


def _show(done: "Scored") -> None:
    verdict = done.verdict
    console.say(
        f"exact {_yes(verdict.exact)} (strict {_yes(verdict.strict_exact)}) · ordered {_yes(verdict.ordered)} · "
        f"f1 {verdict.f1:.4f} (strict {verdict.strict_f1:.4f})"
    )
    given = "no table" if verdict.answer_rows is None else plural(verdict.answer_rows, "row")
    console.say(
        f"{given} for {verdict.reference_rows} · precision {verdict.precision:.4f} · recall {verdict.recall:.4f}"
    )
    if verdict.malformed is not None:
        console.say(f"malformed: {verdict.malformed}")
    if verdict.diagnosis:
        console.say(f"diagnosis: {', '.join(_label(label, verdict.details.get(label)) for label in verdict.diagnosis)}")
    for guard in verdict.guards:
        where = f" ({guard.column})" if guard.column is not None else ""
        console.say(f"guard {guard.guard}{where}: {guard.reason}")
    if verdict.submitted and not verdict.exact:
        _show_rows(done)


def _show_rows(done: "Scored") -> None:
    told = done.explanation
    for miss in told.near:
        console.say(
            f"  near    row {miss.answer_row}: {miss.column} is {miss.submitted!r}, the key has {miss.expected!r}"
        )
    for sort, found in (("missing", told.missing), ("extra", told.extra)):
        for row in found:
            at = row.key_row if sort == "missing" else row.answer_row
            console.say(f"  {sort:<7} row {at}: {', '.join(map(repr, row.cells))}")
    shown = len(told.near) + len(told.missing) + len(told.extra)
    there = told.near_count + told.missing_count + told.extra_count
    if shown < there:
        console.say(f"  … {there - shown} more rows differ")


def _label(label: str, detail: object) -> str:
    if not isinstance(detail, dict):
        return label
    return f"{label} ({', '.join(f'{name} {value}' for name, value in detail.items())})"


def _yes(flag: bool) -> str:  # noqa: FBT001
    return "yes" if flag else "no"
