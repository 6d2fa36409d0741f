"""What stands between a number and its meaning: no model, a failed audit, drift, blocked, clipped, mixed versions."""

from collections.abc import Iterator
from typing import Final

from okn_benchmark.report.about import ORACLE_HOST
from okn_benchmark.report.prose import apart_words, moved_words
from okn_benchmark.report.tally import ConditionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import listed, number, one_line, tally, whole

NO_MODEL: Final = (
    "No model took part in what the oracle host answered: it runs the answer key through the same tools. Its scores "
    "say that the instrument works and nothing about any agent."
)
SCRIPTED: Final = (
    "No model took part in {which}: the agent program is real, and a script answered in the model's place. Such scores "
    "say how the rehearsal went and nothing about any model."
)
REFUSED: Final = (
    "The manipulation check failed for {which}: what the arm declares did not happen, or more than that happened, or "
    "nobody could tell. Its cells say gate failed; run it anew once the arm is mended."
)
UNSOUND: Final = (
    "The agent program failed its audit before {which}: it was given what an episode should not have ({found}). "
    "What it answered may rest on that and not on the tools under test."
)


def banners(view: ReportView) -> list[str]:
    """What has to be read before any number of this root. Empty for a sound sweep by a model."""
    return list(_banners(view))


def _banners(view: ReportView) -> Iterator[str]:
    if any(row.about.host == ORACLE_HOST for row in view.conditions):
        yield NO_MODEL
    scripted = [row for row in view.conditions if row.about.model_script is not None]
    if scripted:
        yield SCRIPTED.format(which=_which(scripted, view))
    refused = [row for row in view.conditions if row.refused is not None]
    if refused:
        yield REFUSED.format(which=_which(refused, view))
    failed = [row for row in view.conditions if row.about.failed_audit]
    if failed:
        found = dict.fromkeys(f for row in failed for f in (row.about.audit.findings if row.about.audit else ()))
        yield UNSOUND.format(which=_which(failed, view), found=listed(found, 3) or "no finding is named")


def _which(rows: list[ConditionRow], view: ReportView) -> str:
    if len(rows) == len(view.conditions):
        return "any condition here" if len(rows) > 1 else "the condition here"
    return listed((row.about.name for row in rows), 4)


def cautions(view: ReportView) -> list[tuple[str, str]]:
    """(condition, sentence), in the order of the conditions."""
    return [(row.about.name, sentence) for row in view.conditions for sentence in of_condition(row)]


def of_condition(row: ConditionRow) -> list[str]:
    """Every sentence one condition needs."""
    rules = listed((f"{one_line(record)}: {', '.join(names)}" for record, names in row.guards.items()), 6)
    return [
        *_audit(row),
        *_missing(row),
        *drift_lines(row),
        *_server(row),
        *_mixture(row),
        *_clock(row),
        *([f"the judge stood down a rule: {rules}"] if row.guards else []),
        *(f"{one_line(text)} ({n} of {row.recorded} attempts)" for text, n in sorted(row.warnings.items())),
        *(["the corpus had uncommitted changes"] if row.about.corpus_dirty else []),
    ]


def blocked_words(row: ConditionRow) -> str:
    """How many attempts were blocked and why, with the rate's bounds where anything was measured."""
    words = (
        f"{sum(row.blocked.values())} of {row.recorded} attempts blocked ({tally(row.blocked)}): "
        f"{listed(row.blocked_reasons, 3, 200)}"
    )
    if row.exact is None:
        return f"{words}; nothing was measured"
    return f"{words}; were all of them wrong or right, the rate would be {number(row.worst)} to {number(row.best)}"


def drift_lines(row: ConditionRow) -> list[str]:
    """What the check of the keys found: questions set apart first, then what is only a note."""
    check = row.about.drift
    if check is None:
        return []
    out = [words] if (words := apart_words(row)) else []
    asked = {one.record for one in check.moved} - check.apart
    out += [f"{one_line(record)}: {moved_words(check.of(record))}" for record in sorted(asked)]
    if check.checked == ("start",):
        out.append("the keys were asked again at the start only")
    return out


def _audit(row: ConditionRow) -> list[str]:
    found = row.about.audit
    if found is None or found.clean:
        return []
    return [f"the agent program failed its audit: {listed(found.findings) if found.findings else 'nothing is named'}"]


def gate_words(row: ConditionRow) -> str:
    """Why no number of an arm stands."""
    return f"its manipulation check failed, so its numbers are refused: {one_line(str(row.refused), 600)}"


def _missing(row: ConditionRow) -> list[str]:
    out = []
    if row.refused is not None:
        out.append(gate_words(row))
    elif row.blocked:
        out.append(blocked_words(row))
    if row.recorded < row.planned:
        out.append(f"{row.recorded} of {row.planned} planned attempts recorded")
    return out


def _server(row: ConditionRow) -> list[str]:
    out = []
    if row.about.server_fault:
        out.append(f"the server did not answer before the first episode: {one_line(row.about.server_fault)}")
    if row.withheld_reached:
        out.append(f"withheld tools reached for: {tally(row.withheld_reached)}")
    if row.soft_errors:
        out.append(f"failures inside successful replies: {tally(row.soft_errors)}")
    clipped = row.measures["host_clipped"].total
    if clipped:
        out.append(f"tool results clipped by the host before the agent saw them: {whole(clipped)}")
    return out


def _mixture(row: ConditionRow) -> list[str]:
    out = []
    if len(row.host_versions) > 1:
        out.append(f"spans {len(row.host_versions)} host versions: {listed(row.host_versions)}")
    if len(row.models) > 1:
        out.append(f"spans {len(row.models)} models: {listed(row.models)}")
    return out


def _clock(row: ConditionRow) -> list[str]:
    out = []
    if row.contended:
        out.append(f"{row.contended} of {row.recorded} attempts ran beside another sweep: their times are not reliable")
    if row.recovered:
        out.append(f"{row.recovered} of {row.recorded} wall times are the agent's own clock, without its start-up")
    if row.outcomes.get("timeout"):
        ended = row.outcomes["timeout"]
        out.append(f"{ended} of {row.recorded} attempts were ended by the clock: their times are lower bounds")
    return out
