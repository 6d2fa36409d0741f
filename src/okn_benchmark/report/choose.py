"""The comparisons a root allows: tools − control, named − not named, all − ablated, an arm − none, the crossing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from okn_benchmark.report.clusters import Graphs
from okn_benchmark.report.contrasts import BLOCKED_GAP, Contrast, Kind, Rows, contrast, with_families
from okn_benchmark.report.crossing import crossing
from okn_benchmark.report.tally import ConditionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The conditions of one root with their questions, and what was declared about their comparison."""

    conditions: Sequence[ConditionRow]
    rows: Mapping[str, Rows]
    blocked_gap: float = BLOCKED_GAP
    margin: float | None = None
    graphs: Graphs = field(default_factory=dict)

    def compare(
        self, kind: Kind, title: str, left: ConditionRow | None, right: ConditionRow | None, why: str | None = None
    ) -> Contrast:
        """The contrast, or a dash in its place where one side was never run; ``why`` says more of that."""
        if left is None or right is None:
            absent = "left" if left is None else "right"
            return Contrast(
                kind=kind,
                title=title,
                left=None if left is None else left.about.name,
                right=None if right is None else right.about.name,
                missing=why or f"there is no condition for its {absent} side",
                dropped={},
            )
        rows = (self.rows[left.about.name], self.rows[right.about.name])
        return contrast(
            kind, title, left, right, rows, blocked_gap=self.blocked_gap, margin=self.margin, graphs=self.graphs
        )


def contrasts(study: Study) -> list[Contrast]:
    """Every comparison in reading order, with Holm's adjustment inside each kind."""
    return with_families([*_tools(study), *_hints(study), *_ablations(study), *_arms(study), *_crossings(study)])


def _full(study: Study) -> list[ConditionRow]:
    """Conditions with a server, nothing withheld and nothing changed."""
    return [c for c in study.conditions if not c.about.is_control and not c.about.withheld and not c.about.arm]


def _tools(study: Study) -> Iterator[Contrast]:
    controls = [c for c in study.conditions if c.about.is_control]
    for left in _full(study):
        if left.about.named:
            right = _closest(left, controls)
            why = "the control here ran over another corpus or tier, or with another agent" if controls else None
            yield study.compare("tools", f"{_server(left)}: tools − control (graph named)", left, right, why)


def _closest(left: ConditionRow, controls: Sequence[ConditionRow]) -> ConditionRow | None:
    """The control of the same agent; among several the one with the same label, else the one without."""
    same = [c for c in controls if c.about.agent == left.about.agent and c.about.scope == left.about.scope]
    ranked = sorted(same, key=lambda c: (c.about.label != left.about.label, c.about.label is not None, c.about.name))
    return ranked[0] if ranked else None


def _hints(study: Study) -> Iterator[Contrast]:
    seen = set()
    for one in study.conditions:
        key = (*_setting(one), one.about.withheld, one.about.arm)
        if one.about.is_control or key in seen:
            continue
        seen.add(key)
        alike = [c for c in study.conditions if (*_setting(c), c.about.withheld, c.about.arm) == key]
        named = next((c for c in alike if c.about.named is True), None)
        unnamed = next((c for c in alike if c.about.named is False), None)
        yield study.compare("hint", f"{_what(one)}: graph named − not named", named, unnamed)


def _ablations(study: Study) -> Iterator[Contrast]:
    for right in study.conditions:
        if right.about.withheld and not right.about.arm:
            left = _same_but(study, right, withheld=(), arm=None)
            title = f"{_server(right)}: all tools − without {' + '.join(right.about.withheld)} ({_hint(right)})"
            yield study.compare("ablation", title, left, right)


def _arms(study: Study) -> Iterator[Contrast]:
    for left in study.conditions:
        if left.about.arm:
            right = _same_but(study, left, withheld=left.about.withheld, arm=None)
            yield study.compare("arm", f"{left.about.name} − the same without the arm", left, right)


def _crossings(study: Study) -> Iterator[Contrast]:
    for ablated in study.conditions:
        if not ablated.about.withheld or ablated.about.arm or not ablated.about.named:
            continue
        others = [c for c in study.conditions if _setting(c) == _setting(ablated) and not c.about.arm]
        cells = (
            next((c for c in others if c.about.named and not c.about.withheld), None),
            ablated,
            next((c for c in others if c.about.named is False and not c.about.withheld), None),
            next((c for c in others if c.about.named is False and c.about.withheld == ablated.about.withheld), None),
        )
        found = [c for c in cells if c is not None]
        if len(found) == len(cells):
            tools = " + ".join(ablated.about.withheld)
            title = f"{_server(ablated)}: worth of {tools} with the graph named − its worth without"
            rows = [study.rows[c.about.name] for c in found]
            yield crossing(title, found, rows, blocked_gap=study.blocked_gap)


def _same_but(study: Study, one: ConditionRow, *, withheld: tuple[str, ...], arm: str | None) -> ConditionRow | None:
    key = (*_setting(one), one.about.named, withheld, arm)
    return next(
        (c for c in study.conditions if (*_setting(c), c.about.named, c.about.withheld, c.about.arm) == key), None
    )


def _setting(one: ConditionRow) -> tuple[object, ...]:
    """What has to agree between two arms of one server besides the axis that is looked at."""
    a = one.about
    return (a.is_control, a.server, a.agent, a.scope, a.other, a.label)


def _server(one: ConditionRow) -> str:
    label = f" [{one.about.label}]" if one.about.label else ""
    return f"{one.about.server or one.about.name}{label}"


def _what(one: ConditionRow) -> str:
    parts = [_server(one)]
    if one.about.withheld:
        parts.append(f"without {' + '.join(one.about.withheld)}")
    if one.about.arm:
        parts.append(f"arm {one.about.arm[:12]}")
    return ", ".join(parts)


def _hint(one: ConditionRow) -> str:
    return "graph named" if one.about.named else "graph not named"
