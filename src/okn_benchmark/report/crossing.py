"""Four cells: what withheld tools are worth with the graph named, minus what they are worth without."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final

from okn_benchmark.report.bounds import apart_shares, bounds
from okn_benchmark.report.contrasts import BLOCKED_GAP, Contrast, Rows, could_not, effect
from okn_benchmark.report.tally import ConditionRow

SIGNS: Final = (1, -1, -1, 1)


def crossing(
    title: str, arms: Sequence[ConditionRow], cells: Sequence[Rows], *, blocked_gap: float = BLOCKED_GAP
) -> Contrast:
    """One difference of paired differences per question.

    ``arms`` and ``cells`` are full named, ablated named, full not named, ablated not named.
    """
    counted = [{r: row for r, row in cell.items() if row.exact and not row.apart} for cell in cells]
    everywhere = [r for r in counted[0] if all(r in cell for cell in counted[1:])]
    asked = dict.fromkeys(record for cell in cells for record in cell)
    names = [row.about.name for row in arms]
    made = Contrast(
        kind="crossing",
        title=title,
        left=f"{names[0]} − {names[1]}",
        right=f"{names[2]} − {names[3]}",
        questions=len(everywhere),
        dropped={record: "not measured in all four cells" for record in asked if record not in everywhere},
    )
    if unlike := apart_shares(arms, blocked_gap):
        return replace(made, withheld=unlike)
    if not everywhere:
        return replace(made, missing="no question was measured in all four cells")
    four = {record: [cell[record] for cell in counted] for record in everywhere}
    exact = effect({r: _gaps([fmean(row.exact) for row in rows]) for r, rows in four.items()}, largest=2.0)
    outer = bounds(cells, SIGNS)
    return replace(
        made,
        exact=exact,
        f1=effect({r: _gaps([fmean(row.f1) for row in rows]) for r, rows in four.items()}, largest=2.0),
        could_not=could_not(exact.test.better + exact.test.worse, once=False),
        worst=None if outer is None else outer[0],
        best=None if outer is None else outer[1],
        notes=tuple(_notes(arms)),
    )


def _gaps(cells: Sequence[float]) -> tuple[float, float]:
    return cells[0] - cells[1], cells[2] - cells[3]


def _notes(arms: Sequence[ConditionRow]) -> list[str]:
    silent = sum(not row.about.has_model for row in arms)
    failed = sum(row.about.failed_audit for row in arms)
    out = [f"no model answered in {silent} of the four cells"] if silent else []
    return [*out, f"the agent program failed its audit in {failed} of the four cells"] if failed else out
