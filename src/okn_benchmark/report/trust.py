"""The panel that comes first on the page: every reason a reader may have to doubt a number, and its absence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from okn_benchmark.report.about import ORACLE_HOST
from okn_benchmark.report.cautions import blocked_words, drift_lines, gate_words
from okn_benchmark.report.prose import audit_words
from okn_benchmark.report.tally import ConditionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import listed, one_line, tally, whole

GATES_PASSED: Final = "Every arm changed what it should and nothing else, in every call it is about."
UNCHECKED: Final = "not checked"
NOT_NEEDED: Final = "none needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One reason: ``lines`` name what was found, ``calm`` says what their absence means."""

    title: str
    status: str
    lines: tuple[str, ...]
    calm: str

    @property
    def tone(self) -> str:
        """``look`` where something was found, ``calm`` where nothing was, ``unknown`` where nobody looked."""
        return "look" if self.lines else "unknown" if self.status in (UNCHECKED, NOT_NEEDED) else "calm"


def cards(view: ReportView) -> list[Card]:
    """In the order a reader should look at them."""
    made = [
        *([_card("Manipulation", view, _gate, GATES_PASSED)] if any(r.about.arm for r in view.conditions) else []),
        _card("Blocked", view, _blocked, "Every attempt reached its tools and was measured."),
        _card("Attestation", view, _warnings, "No attempt's record contradicts what was asked of it."),
        _audit_card(view),
        _card("Server", view, _server, "Every server answered before the first episode, or none was asked."),
        _card("Clipped results", view, _clipped, "No tool result was shortened before the agent saw it."),
        _card("Soft errors", view, _soft, "No reply that called itself a success hid a failure."),
        _drift_card(view),
        _card("Judge's guards", view, _guards, "No rule of the judge stood down."),
        _card("Withheld tools", view, _withheld, "No agent reached for a tool that was withheld from it."),
        _card("Clocks", view, _clocks, "Times are the runner's own, and nothing else ran beside them."),
        _card("Mixtures", view, _mixed, "One host version and one model per condition."),
        _card("Corpus", view, _corpus, "No condition is known to have run over uncommitted changes."),
    ]
    files = tuple(view.problems)
    status = "complete" if not files else f"{len(files)} to look at"
    return [*made, Card(title="Files", status=status, lines=files, calm="Every file of the root could be read.")]


def _card(title: str, view: ReportView, found: Callable[[ConditionRow], list[str]], calm: str) -> Card:
    lines = _grouped([(row.about.name, line) for row in view.conditions for line in found(row)], len(view.conditions))
    return Card(title=title, status=f"{len(lines)} to look at" if lines else "nothing found", lines=lines, calm=calm)


def _grouped(found: list[tuple[str, str]], conditions: int) -> tuple[str, ...]:
    """What several conditions share is said once."""
    by_line: dict[str, list[str]] = {}
    for name, line in found:
        by_line.setdefault(line, []).append(one_line(name))
    return tuple(
        f"{'every condition' if len(names) == conditions > 1 else listed(names)}: {line}"
        for line, names in by_line.items()
    )


def _audit_card(view: ReportView) -> Card:
    if any(row.about.audit or _audit(row) for row in view.conditions):
        return _card(
            "Agent audit", view, _audit, "The agent program was given nothing but what an episode should have."
        )
    return Card(title="Agent audit", status=NOT_NEEDED, lines=(), calm="No agent program took part here.")


def _drift_card(view: ReportView) -> Card:
    if any(row.about.drift for row in view.conditions):
        return _card("Drift", view, _drift, "Asked again, every key gave the rows it had given when it was built.")
    return Card(title="Drift", status=UNCHECKED, lines=(), calm="The keys were not asked again around the sweep.")


def _gate(row: ConditionRow) -> list[str]:
    return [] if row.refused is None else [gate_words(row)]


def _blocked(row: ConditionRow) -> list[str]:
    out = [blocked_words(row)] if row.blocked and row.refused is None else []
    if row.recorded < row.planned:
        out.append(f"{row.recorded} of {row.planned} planned attempts recorded")
    return out


def _warnings(row: ConditionRow) -> list[str]:
    return [f"{one_line(text)} ({n} of {row.recorded})" for text, n in sorted(row.warnings.items())]


def _audit(row: ConditionRow) -> list[str]:
    found = row.about.audit
    if found is None:
        return [] if row.about.host in (ORACLE_HOST, None) else ["not audited"]
    return [] if found.clean else [one_line(audit_words(found), 600)]


def _server(row: ConditionRow) -> list[str]:
    found = row.about.server_fault
    return [f"did not answer before the first episode: {one_line(found)}"] if found else []


def _clipped(row: ConditionRow) -> list[str]:
    total = row.measures["host_clipped"].total
    return [f"{whole(total)} in {row.measured} attempts"] if total else []


def _soft(row: ConditionRow) -> list[str]:
    return [f"{tally(row.soft_errors)} in {row.measured} attempts"] if row.soft_errors else []


def _drift(row: ConditionRow) -> list[str]:
    return [UNCHECKED] if row.about.drift is None else drift_lines(row)


def _guards(row: ConditionRow) -> list[str]:
    return [f"{one_line(record)}: {', '.join(map(one_line, names))}" for record, names in row.guards.items()]


def _withheld(row: ConditionRow) -> list[str]:
    return [f"{tally(row.withheld_reached)} in {row.measured} attempts"] if row.withheld_reached else []


def _clocks(row: ConditionRow) -> list[str]:
    out = []
    if row.contended:
        out.append(f"{row.contended} of {row.recorded} attempts ran beside another sweep")
    if row.recovered:
        out.append(f"{row.recovered} of {row.recorded} wall times are the agent's own, without its start-up")
    if row.outcomes.get("timeout"):
        out.append(f"{row.outcomes['timeout']} of {row.recorded} attempts ended by the clock: times are lower bounds")
    return out


def _mixed(row: ConditionRow) -> list[str]:
    out = []
    if len(row.host_versions) > 1:
        out.append(f"host versions {listed(row.host_versions)}")
    if len(row.models) > 1:
        out.append(f"models {listed(row.models)}")
    return out


def _corpus(row: ConditionRow) -> list[str]:
    return ["the corpus had uncommitted changes"] if row.about.corpus_dirty else []
