"""Where the marks of a plot stand, in percent of its width. The page draws them; the numbers stand beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from okn_benchmark.report.contrasts import Contrast
from okn_benchmark.report.tally import ConditionRow
from okn_benchmark.report.view import ReportView


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of the axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A point with its interval, which may be unknown."""

    x: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One condition's question means on a shared logarithmic scale, with their geometric mean."""

    condition: str
    points: tuple[float, ...]
    centre: float | None
    value: float | None
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strips:
    """One measure over all conditions."""

    title: str
    unit: str
    ticks: tuple[Tick, ...]
    strips: tuple[Strip, ...]


MEASURES = (("wall_s", "Wall time", "s"), ("server_s", "Server time", "s"), ("tokens_in", "Input tokens", "tokens"),
            ("tokens_out", "Output tokens", "tokens"), ("cost_usd", "Cost", "USD"))  # fmt: skip


def forest_reach(contrasts: Sequence[Contrast]) -> float:
    """Half the width of the axis: the furthest end of an interval, rounded up to a quarter."""
    ends = [0.25]
    for contrast in contrasts:
        if contrast.exact:
            ends.append(abs(contrast.exact.value))
            if contrast.exact.interval:
                ends += [abs(contrast.exact.interval.low), abs(contrast.exact.interval.high)]
    return math.ceil(max(ends) * 4) / 4


def forest_bar(contrast: Contrast, reach: float) -> Bar | None:
    """The difference in exact rate on an axis from −reach to +reach; None where there is none."""
    if contrast.exact is None or contrast.withheld:
        return None
    found = contrast.exact.interval
    return Bar(
        x=_linear(contrast.exact.value, -reach, reach),
        low=None if found is None else _linear(found.low, -reach, reach),
        high=None if found is None else _linear(found.high, -reach, reach),
    )


def forest_ticks(reach: float) -> list[Tick]:
    """Every quarter on a short axis, every half on a longer one: at most five labels fit."""
    step = 0.25 if reach <= 0.5 else 0.5
    count = int(reach / step + 1e-9)
    values = [k * step for k in range(-count, count + 1)]
    return [Tick(x=_linear(v, -reach, reach), label=f"{v:+g}".replace("-", "−") if v else "0") for v in values]


def rate_bar(row: ConditionRow) -> Bar | None:
    """A condition's exact rate between 0 and 1."""
    if row.exact is None:
        return None
    value, interval = row.exact.value, row.exact.interval
    return Bar(x=_linear(value, 0, 1), low=_linear(interval.low, 0, 1), high=_linear(interval.high, 0, 1))


UNIT_TICKS = tuple(Tick(x=100 * share, label=f"{share:g}") for share in (0, 0.25, 0.5, 0.75, 1))


def strips(view: ReportView) -> list[Strips]:
    """Time and token plots, for what at least one condition tells."""
    return [made for key, title, unit in MEASURES if (made := _strips(view, key, title, unit)) is not None]


def question_means(view: ReportView, condition: str, measure: str) -> list[float]:
    """The positive question means of one measure under one condition: those that have a logarithm."""
    rows = (row for q in view.questions for row in q.rows if row.condition == condition and not row.apart)
    return [value for row in rows if (value := row.measures[measure].value) is not None and value > 0]


def _strips(view: ReportView, measure: str, title: str, unit: str) -> Strips | None:
    values = {row.about.name: question_means(view, row.about.name, measure) for row in view.conditions}
    everything = [value for found in values.values() for value in found]
    if not everything:
        return None
    low, high = _decade(min(everything), down=True), _decade(max(everything), down=False)
    return Strips(
        title=title,
        unit=unit,
        ticks=tuple(_log_ticks(low, high)),
        strips=tuple(_strip(name, found, low, high) for name, found in values.items()),
    )


def _strip(condition: str, values: Sequence[float], low: float, high: float) -> Strip:
    centre = math.exp(fmean(map(math.log, values))) if values else None
    return Strip(
        condition=condition,
        points=tuple(_log(value, low, high) for value in sorted(values)),
        centre=None if centre is None else _log(centre, low, high),
        value=centre,
        questions=len(values),
    )


def _decade(value: float, *, down: bool) -> float:
    """The next 1, 2 or 5 times a power of ten below or above."""
    power = math.floor(math.log10(value) + 1e-9)
    steps = [step * 10.0**p for p in (power - 1, power, power + 1) for step in (1, 2, 5)]
    if down:
        return max(step for step in steps if step <= value * (1 - 1e-9))
    return min(step for step in steps if step >= value * (1 + 1e-9))


def _log_ticks(low: float, high: float) -> list[Tick]:
    first, last = math.floor(math.log10(low) - 1e-9), math.ceil(math.log10(high) + 1e-9)
    steps = [step * 10.0**p for p in range(first, last + 1) for step in (1, 2, 5)]
    inside = [step for step in steps if low * 0.999 <= step <= high * 1.001]
    if len(inside) > 6:
        inside = [step for step in inside if f"{step:e}"[0] == "1"] or inside[:: len(inside) // 5]
    return [Tick(x=_log(step, low, high), label=f"{step:,g}" if step < 1e6 else f"{step / 1e6:g} M") for step in inside]


def _linear(value: float, low: float, high: float) -> float:
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)


def _log(value: float, low: float, high: float) -> float:
    return _linear(math.log(value), math.log(low), math.log(high))
