"""A runs root as the values its pages show. Pure: takes records and results, never a path, and never scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from okn_benchmark.report.about import About, Excluded, about
from okn_benchmark.report.choose import Study, contrasts
from okn_benchmark.report.clusters import GraphLine, Graphs, by_graph, groups
from okn_benchmark.report.contrasts import BLOCKED_GAP, Contrast
from okn_benchmark.report.tally import ConditionRow, QuestionRow, condition_row, question_row
from okn_benchmark.runs.manipulation import refusal_of
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult

Results = Mapping[str, Mapping[str, QuestionResult]]
"""Question results by record, then by condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the root declared before it was run (its pre-registration file). Empty: everything is exploratory."""

    hypotheses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds of contrast that were declared; the others are exploratory."""
    primary: str | None = None
    stop_rule: str | None = None
    margin: float | None = None
    blocked_gap: float = BLOCKED_GAP
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """One question across conditions, in the order of the conditions."""

    record: str
    tier: str | None
    graphs: tuple[str, ...]
    rows: tuple[QuestionRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """Everything a page of this root shows, whatever the page."""

    title: str
    conditions: tuple[ConditionRow, ...]
    questions: tuple[QuestionView, ...]
    contrasts: tuple[Contrast, ...]
    by_graph: tuple[GraphLine, ...]
    groups: int
    """Groups of questions that share no graph; 0 where the graphs are not known."""
    excluded: tuple[Excluded, ...]
    problems: tuple[str, ...]
    declared: Declared

    @property
    def attempts(self) -> int:
        """Attempts on disk: measured, blocked and set apart."""
        return self.apart + sum(row.recorded for row in self.conditions)

    @property
    def apart(self) -> int:
        """Attempts at questions whose key drifted meanwhile."""
        return sum(one.attempts for row in self.conditions for one in row.apart)

    @property
    def measured(self) -> int:
        """Attempts that stand in a denominator."""
        return sum(row.measured for row in self.conditions)


def build_view(
    title: str,
    conditions: Sequence[ConditionRecord],
    results: Results,
    *,
    problems: Sequence[str] = (),
    declared: Declared | None = None,
    graphs: Graphs | None = None,
) -> ReportView:
    """Count, average and compare. Conditions keep their order, questions are sorted by id."""
    graphs = {record: found for record, found in (graphs or {}).items() if found and record in results}
    declared = declared or Declared()
    told = [about(record) for record in conditions]
    gates = {r.name: refusal_of(r.aggregate, armed=a.arm is not None) for r, a in zip(conditions, told, strict=True)}
    rows = {a.name: _rows(a, results, gates[a.name]) for a in told}
    table = [condition_row(a, list(rows[a.name].values()), gates[a.name]) for a in told]
    study = Study(conditions=table, rows=rows, blocked_gap=declared.blocked_gap, margin=declared.margin, graphs=graphs)
    return ReportView(
        title=title,
        conditions=tuple(table),
        questions=tuple(_questions(rows, graphs)),
        contrasts=tuple(contrasts(study)),
        by_graph=by_graph(list(rows.values()), graphs),
        groups=len(groups(graphs)),
        excluded=tuple(dict.fromkeys(e for a in told for e in a.excluded)),
        problems=tuple(problems),
        declared=declared,
    )


def _rows(one: About, results: Results, gate: str | None) -> dict[str, QuestionRow]:
    found = ((record, by_condition.get(one.name)) for record, by_condition in sorted(results.items()))
    moved = one.drift.of if one.drift else lambda _: ()
    return {r: question_row(result, one.repeat, moved(r), gate) for r, result in found if result and result.attempts}


def _questions(rows: Mapping[str, Mapping[str, QuestionRow]], graphs: Graphs) -> list[QuestionView]:
    out = []
    for record in sorted({record for by_record in rows.values() for record in by_record}):
        found = tuple(by_record[record] for by_record in rows.values() if record in by_record)
        tier = next((row.tier for row in found if row.tier), None)
        out.append(QuestionView(record=record, tier=tier, graphs=graphs.get(record, ()), rows=found))
    return out
