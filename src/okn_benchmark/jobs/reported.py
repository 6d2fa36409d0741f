"""A root that was read, with what is counted of it: what pages are made from."""

from dataclasses import dataclass

from okn_benchmark.report.view import ReportView
from okn_benchmark.runs.tree import RootView


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A root with the values its pages show."""

    root: RootView
    view: ReportView


def frozen_words(reported: Reported) -> str | None:
    """The sentence that says why nothing was regenerated."""
    marker = reported.root.frozen
    if marker is None:
        return None
    when = f" on {marker.date[:10]}" if marker.date else ""
    why = f"{reported.root.root.path} is frozen{when}: {marker.reason.rstrip('.')}."
    return f"{why} Its files were read and left as they are."
