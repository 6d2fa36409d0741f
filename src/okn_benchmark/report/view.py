"""A runs root as the values its pages show. Pure: takes records and results, never a path, and never scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from okn_benchmark import __version__
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.report.about import About, Excluded, about
from okn_benchmark.report.choose import Study, contrasts
from okn_benchmark.report.clusters import GraphLine, Graphs, by_graph, groups
from okn_benchmark.report.contrasts import BLOCKED_GAP, Contrast
from okn_benchmark.report.tally import ConditionRow, QuestionRow, condition_row, question_row
from okn_benchmark.report.words import as_json
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult
from okn_benchmark.stats.bootstrap import RESAMPLES
from okn_benchmark.stats.intervals import CONFIDENCE
from okn_benchmark.stats.paired import DRAWS, SEED
from okn_benchmark.stats.power import STUDIES

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
        """Attempts on disk, blocked ones too."""
        return sum(row.recorded for row in self.conditions)

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
    rows = {a.name: _rows(a, results) for a in told}
    table = [condition_row(a, list(rows[a.name].values())) for a in told]
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


def _rows(one: About, results: Results) -> dict[str, QuestionRow]:
    found = ((record, by_condition.get(one.name)) for record, by_condition in sorted(results.items()))
    return {record: question_row(result, one.repeat) for record, result in found if result and result.attempts}


def _questions(rows: Mapping[str, Mapping[str, QuestionRow]], graphs: Graphs) -> list[QuestionView]:
    out = []
    for record in sorted({record for by_record in rows.values() for record in by_record}):
        found = tuple(by_record[record] for by_record in rows.values() if record in by_record)
        tier = next((row.tier for row in found if row.tier), None)
        out.append(QuestionView(record=record, tier=tier, graphs=graphs.get(record, ()), rows=found))
    return out


def view_json(view: ReportView) -> JsonObject:
    """The report as JSON, with the seeds and resample counts its numbers rest on."""
    plain: JsonObject = as_json(view)
    for question in plain["questions"]:
        for row in question["rows"]:
            # The attempts stand in their own files and in summary.csv.
            del row["measured"], row["attempts"]
    statistics = {
        "version": __version__,
        "confidence": CONFIDENCE,
        "seed": SEED,
        "sign_flip_draws": DRAWS,
        "bootstrap_resamples": RESAMPLES,
        "power_studies": STUDIES,
        "unit": "question",
        "targets": ["these questions (corpus_only)", "questions like these (everything else)"],
    }
    return {"schema": "report/1", **plain, "statistics": statistics}
