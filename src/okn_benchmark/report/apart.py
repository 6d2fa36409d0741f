"""The small table of questions that stand in no rate, because their key said something else meanwhile."""

from typing import Final

from okn_benchmark.report import prose
from okn_benchmark.report.tally import Apart
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import DASH, number, whole
from okn_benchmark.runs.drift import Moved

HEAD: Final = (
    "condition",
    "question",
    "asked again",
    "key is",
    "rows then",
    "rows now",
    "lost",
    "gained",
    "exact",
    "F1",
    "recorded",
)
INTRO: Final = (
    "The key of these questions gave other rows when it was asked again around the sweep, so what was answered may be "
    "right of data that the key no longer is. They are in no rate, interval, test or plot of this page."
)


def apart_rows(view: ReportView) -> list[list[str]]:
    """A row per condition, question and end of the sweep at which its key was not stable, under ``HEAD``."""
    return [
        [row.about.name, one.record, *_moved(moved), *_answered(one)]
        for row in view.conditions
        for one in row.apart
        for moved in one.moved
    ]


def _moved(moved: Moved) -> list[str]:
    counts = (moved.rows_then, moved.rows_now, moved.lost, moved.gained)
    return [f"at the {moved.when}", moved.state, *map(whole, counts)]


def _answered(one: Apart) -> list[str]:
    exact = f"{one.hits}/{one.measured}" if one.measured else DASH
    return [exact, number(one.f1), str(one.attempts)]


def apart_lines(view: ReportView) -> list[tuple[str, str]]:
    """(condition, how many of its questions stand apart, and which), for those that have any."""
    return [(row.about.name, words) for row in view.conditions if (words := prose.apart_words(row))]
