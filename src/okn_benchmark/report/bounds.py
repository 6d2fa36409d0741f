"""What blocked attempts could do to a difference: the two ends of it, and when they make it not worth showing."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from okn_benchmark.report.tally import ConditionRow, QuestionRow


def bounds(cells: Sequence[Mapping[str, QuestionRow]], signs: Sequence[int]) -> tuple[float, float] | None:
    """A sum of cells (each with its sign) were every blocked attempt counted against it, or for it.

    Over the questions recorded in all cells and set apart in none; None where nothing was blocked.
    """
    worst, best, blocked = [], [], False
    for record in cells[0]:
        rows = [cell[record] for cell in cells if record in cell]
        if len(rows) < len(cells) or any(row.apart or not row.attempts for row in rows):
            continue
        worst.append(sum(sign * _filled(row, int(sign < 0)) for row, sign in zip(rows, signs, strict=True)))
        best.append(sum(sign * _filled(row, int(sign > 0)) for row, sign in zip(rows, signs, strict=True)))
        blocked = blocked or any(row.blocked for row in rows)
    return (fmean(worst), fmean(best)) if blocked else None


def _filled(row: QuestionRow, blocked_as: int) -> float:
    return (sum(row.exact) + blocked_as * sum(row.blocked.values())) / len(row.attempts)


def apart_shares(arms: Sequence[ConditionRow], limit: float) -> str | None:
    """Why arms whose blocked shares lie further apart than ``limit`` are not compared; None where they do not."""
    shares = [_blocked(row) / row.recorded if row.recorded else 0.0 for row in arms]
    if max(shares) - min(shares) <= limit:
        return None
    words = " against ".join(f"{_blocked(row)} of {row.recorded}" for row in arms)
    return f"blocked attempts: {words}, further apart than {limit:.0%}"


def _blocked(row: ConditionRow) -> int:
    return sum(row.blocked.values())
