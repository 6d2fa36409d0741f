"""What stands between a number and its meaning: blocked, clipped, contended, mixed versions, rules that stood down."""

from okn_benchmark.report.tally import ConditionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import listed, number, one_line, tally, whole


def cautions(view: ReportView) -> list[tuple[str, str]]:
    """(condition, sentence), in the order of the conditions."""
    return [(row.about.name, sentence) for row in view.conditions for sentence in of_condition(row)]


def of_condition(row: ConditionRow) -> list[str]:
    """Every sentence one condition needs."""
    rules = listed((f"{one_line(record)}: {', '.join(names)}" for record, names in row.guards.items()), 6)
    return [
        *_missing(row),
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
        f"{listed(row.blocked_reasons, 3)}"
    )
    if row.exact is None:
        return f"{words}; nothing was measured"
    return f"{words}; were all of them wrong or right, the rate would be {number(row.worst)} to {number(row.best)}"


def _missing(row: ConditionRow) -> list[str]:
    out = []
    if row.blocked:
        out.append(blocked_words(row))
    if row.recorded < row.planned:
        out.append(f"{row.recorded} of {row.planned} planned attempts recorded")
    return out


def _server(row: ConditionRow) -> list[str]:
    out = []
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
