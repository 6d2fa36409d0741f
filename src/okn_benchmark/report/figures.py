"""Figures as files, SVG and PNG, of the same values the tables show. matplotlib is loaded when one is drawn."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from okn_benchmark.report import prose
from okn_benchmark.report.contrasts import Contrast
from okn_benchmark.report.plots import MEASURES, question_means
from okn_benchmark.report.tally import ConditionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK: Final = "#1b1f24"
ACCENT: Final = "#0b57a4"
SOFT: Final = "#8a929b"
FORMATS: Final = ("svg", "png")
CAUTIONS: Final = ("no model answered", "the agent program failed")
"""How the notes of a comparison begin that a figure repeats."""
_LABEL: Final = 48


def draw(view: ReportView) -> Iterator[tuple[str, bytes]]:
    """(file name, bytes) of every figure that has something to show, in each format. The same view, the same bytes."""
    import matplotlib as mpl

    # No date and no random ids in the files, so that drawing twice gives the same bytes.
    with mpl.rc_context({"svg.hashsalt": "okn-benchmark", "font.size": 9, "axes.edgecolor": SOFT, "text.color": INK}):
        for name, make in _figures(view):
            figure = make()
            for kind in FORMATS:
                yield f"{name}.{kind}", _saved(figure, kind)


def _figures(view: ReportView) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    if any(row.exact for row in view.conditions):
        yield "exact", partial(_rates, view)
    if any(c.exact and not c.withheld for c in view.contrasts):
        yield "differences", partial(_forest, view)
    for key, title, unit in MEASURES:
        if any(question_means(view, row.about.name, key) for row in view.conditions):
            yield key, partial(_strips, view, key, f"{title} ({unit})")


def _canvas(rows: int, axis: str) -> tuple["Figure", Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.0 + 0.5 * rows), layout="constrained")
    axes = figure.add_subplot()
    axes.set_ylim(rows - 0.5, -0.5)
    # Below the whole figure: the axis alone is too narrow for a sentence.
    figure.supxlabel(axis, fontsize="medium", color=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e7ea", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def _label(axes: Any, names: list[str]) -> None:
    # A dollar sign would start a formula.
    shown = ["\n".join(wrap(one_line(name, 160), _LABEL)).replace("$", r"\$") for name in names]
    axes.set_yticks(range(len(names)), shown)


def _point(axes: Any, place: int, value: float, low: float | None, high: float | None) -> None:
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=ACCENT, linewidth=2, solid_capstyle="butt")
    axes.plot([value], [place], "o", color=ACCENT, markersize=7)


def standing(row: ConditionRow) -> str:
    """A condition's name, and what a figure taken out of its report must not lose."""
    marks = ["no model"] if not row.about.has_model else []
    marks += ["failed audit"] if row.about.failed_audit else []
    return f"{row.about.name} [{', '.join(marks)}]" if marks else row.about.name


def _bound_up(words: str) -> str:
    """Words that stay on one line."""
    return words.replace(" ", "\u00a0")


def _told(contrast: Contrast) -> str:
    """What a comparison's figure must not lose either: its first caution, such as that no model answered."""
    heavy = [note for note in contrast.notes if note.startswith(CAUTIONS)]
    return f" [{'; '.join(heavy)}]" if heavy else ""


def _rates(view: ReportView) -> "Figure":
    rows = [row for row in view.conditions if row.exact]
    figure, axes = _canvas(len(rows), "exact: mean over questions, 95 % interval on the effective number of attempts")
    for place, row in enumerate(rows):
        if row.exact:
            _point(axes, place, row.exact.value, row.exact.interval.low, row.exact.interval.high)
    axes.set_xlim(-0.02, 1.02)
    counted = [(row, row.exact) for row in rows if row.exact]
    _label(
        axes,
        [f"{standing(row)} {_bound_up(f'({e.hits}/{e.attempts} in {prose.questions(row)})')}" for row, e in counted],
    )
    return figure


def _forest(view: ReportView) -> "Figure":
    shown = [(c, c.exact) for c in view.contrasts if c.exact and not c.withheld]
    figure, axes = _canvas(len(shown), "difference in the share of exact answers, 95 % interval over questions")
    axes.axvline(0, color=SOFT, linestyle="--", linewidth=1)
    for place, (_, effect) in enumerate(shown):
        found = effect.interval
        low, high = (None, None) if found is None else (found.low, found.high)
        _point(axes, place, effect.value, low, high)
    _label(axes, [f"{c.title} {_bound_up(f'(n = {c.questions})')}{_told(c)}" for c, _ in shown])
    return figure


def _strips(view: ReportView, measure: str, axis: str) -> "Figure":
    from matplotlib.ticker import LogFormatter

    names = [row.about.name for row in view.conditions]
    figure, axes = _canvas(len(names), f"{axis}: a dot per question, a bar at their geometric mean; logarithmic")
    axes.set_xscale("log")
    for place, name in enumerate(names):
        values = sorted(question_means(view, name, measure))
        axes.plot(values, [place] * len(values), "o", color=SOFT, alpha=0.6, markersize=5)
        if values:
            axes.plot([geometric_mean(values)], [place], "|", color=ACCENT, markersize=18, markeredgewidth=2.5)
    for axis_ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        axis_ticks(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    counts = {row.about.name: len(question_means(view, row.about.name, measure)) for row in view.conditions}
    _label(axes, [f"{standing(r)} {_bound_up(f'(n = {counts[r.about.name]})')}" for r in view.conditions])
    return figure


def _saved(figure: "Figure", kind: str) -> bytes:
    from io import BytesIO

    out = BytesIO()
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(out, format=kind, dpi=160, metadata=metadata)
    return out.getvalue()


def write(view: ReportView, folder: Path, put: Callable[[Path, bytes], None]) -> list[Path]:
    """Write every figure into ``folder`` through ``put`` and name the files."""
    written = []
    for name, data in draw(view):
        put(folder / name, data)
        written.append(folder / name)
    return written
