"""Sentences and cells that several pages share, as plain text: each page escapes them in its own way."""

from collections.abc import Mapping, Sequence
from typing import Final

from okn_benchmark.report.about import ORACLE_HOST, ORACLE_WORDS, About, Audit, place
from okn_benchmark.report.clusters import ENOUGH, GraphCell
from okn_benchmark.report.context import context_rows
from okn_benchmark.report.contrasts import Contrast, Effect
from okn_benchmark.report.tally import Average, ConditionRow, Count, QuestionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import (
    DASH,
    listed,
    number,
    one_line,
    p_value,
    plural,
    signed,
    span,
    tally,
    whole,
)
from okn_benchmark.runs.drift import Moved
from okn_benchmark.stats.intervals import Clustered
from okn_benchmark.stats.paired import Test

HOW_TO_READ: Final = (
    "Exact is the share of attempts whose table equals the key, averaged over a question's attempts first and then "
    "over questions. Intervals are 95 %: Wilson's on the effective number of attempts (n eff), which counts attempts "
    "of one question as the alike things they are. Intervals and tests speak about questions like these, unless a "
    "line says that it speaks about these questions only. A dash is unknown, never zero; n is the row's own unless a "
    "cell gives another."
)

_DIGITS: Final = {"USD": 3, "tokens": 0}
MEASURED: Final[Mapping[str, str]] = {
    "wall_s": "wall s",
    "server_s": "server s",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "cost_usd": "cost USD",
}


def opening(view: ReportView) -> str:
    """What this root holds, in a sentence."""
    blocked = sum(sum(row.blocked.values()) for row in view.conditions if row.refused is None)
    gone = sum(row.recorded for row in view.conditions if row.refused is not None)
    refused = f", {gone:,} refused (gate failed)" if gone else ""
    apart = f", {view.apart:,} set apart (their key drifted)" if view.apart else ""
    return (
        f"{plural(view.attempts, 'attempt')} at {plural(len(view.questions), 'question')} under "
        f"{plural(len(view.conditions), 'condition')}: {view.measured:,} measured, {blocked:,} blocked{refused}{apart}."
    )


def host(row: ConditionRow) -> str:
    """The agent program with its versions, or the oracle with its own."""
    versions = row.host_versions or row.about.host_versions
    return " ".join(filter(None, [row.about.host, " and ".join(versions)])) or DASH


def who(row: ConditionRow) -> str:
    """Model, effort and agent program in one phrase; the oracle by what it is."""
    if row.about.host == ORACLE_HOST:
        return ORACLE_WORDS
    return f"{row.model}, effort {row.about.effort_shown}, {host(row)}"


def tools(about: About) -> str:
    """The tool level, the server, and what was withheld."""
    words = about.level or DASH
    if about.server:
        words = f"{words} of {about.server}"
    return f"{words}, without {' + '.join(about.withheld)}" if about.withheld else words


def named(about: About) -> str:
    """Whether the prompt named the graph."""
    return DASH if about.named is None else "yes" if about.named else "no"


def share(value: Clustered | None) -> str:
    """``0.89 [0.67, 0.97] · 32/36 in 12``: rate, interval, hits over attempts, questions."""
    if value is None:
        return DASH
    counts = f"{value.hits}/{value.attempts} in {value.questions}"
    return f"{number(value.value)} {span(value.interval)} · {counts}"


def count(value: Count) -> str:
    """``9/12 [0.47, 0.91]``."""
    return f"{value.hits}/{value.of} {span(value.interval)}" if value.of else DASH


def average(value: Average, n: int, digits: int = 1) -> str:
    """A mean; its own number of attempts in brackets where that is not ``n``."""
    if value.value is None:
        return DASH
    text = f"{value.value:,.{digits}f}"
    return text if value.attempts == n else f"{text} (n={value.attempts})"


def pair(first: Average, second: Average, n: int, digits: int = 1) -> str:
    """Two means beside each other, such as queries that worked and that failed."""
    return f"{average(first, n, digits)} / {average(second, n, digits)}"


def of(values: Sequence[bool]) -> str:
    """``2/3``; a dash over nothing."""
    return f"{sum(values)}/{len(values)}" if values else DASH


def context_table(view: ReportView) -> list[list[str]]:
    """What each condition's server filled of the context, under ``context.HEAD``."""
    return context_rows([(r.about.name, r.context, "" if r.measured else r.nothing) for r in view.conditions], DASH)


def question_notes(row: QuestionRow) -> str:
    """What the numbers of a row leave out."""
    drift = []
    if row.moved:
        drift.append(moved_words(row.moved) + ("; set apart, in no rate" if row.apart else ""))
    return "; ".join([*drift, *_question_notes(row)])


def _question_notes(row: QuestionRow) -> list[str]:
    out = []
    if row.attempts and not row.measured:
        out.append(row.nothing)
    if row.blocked:
        total = sum(row.blocked.values())
        reasons = listed(
            dict.fromkeys(a.reason or "no reason recorded" for a in row.attempts if not a.measured), 2, 160
        )
        out.append(f"{total} of {len(row.attempts)} blocked ({tally(row.blocked)}): {reasons}")
    if len(row.attempts) < row.planned:
        out.append(f"{len(row.attempts)} of {row.planned} attempts recorded")
    if row.flaky:
        out.append("flaky")
    misses = {kind: n for kind, n in row.outcomes.items() if kind not in ("answered", "blocked")}
    if misses:
        out.append(tally(misses))
    labelled = {k: n for k, n in row.diagnoses.items() if k not in misses}
    if labelled:
        out.append(f"diagnosis {tally(labelled)}")
    if row.traps:
        out.append(f"trap {tally(row.traps)}")
    if row.withheld_reached:
        out.append(f"reached for withheld {tally(row.withheld_reached)}")
    if row.soft_errors:
        out.append(f"soft errors {tally(row.soft_errors)}")
    clipped = row.measures["host_clipped"].total
    if clipped:
        out.append(f"results clipped by the host {whole(clipped)}")
    if row.guards:
        out.append(f"judge stood down: {listed(row.guards, 3)}")
    return out


def moved_words(moved: Sequence[Moved]) -> str:
    """``key drifted at the start, tie-unstable at the end``."""
    return f"key {', '.join(f'{one_line(m.state, 40)} at the {m.when}' for m in moved)}"


def apart_words(row: ConditionRow) -> str | None:
    """How many questions of a condition stand in no rate, and which; None where all do."""
    if not row.apart:
        return None
    names = ", ".join(one_line(one.record, 80) for one in row.apart)
    return f"{len(row.apart)} of {row.questions + len(row.apart)} questions set apart, since their key drifted: {names}"


def bounds(row: ConditionRow) -> str:
    """``0.72 to 0.80``: the rate were every blocked attempt wrong, or right; a dash where nothing was blocked."""
    return f"{number(row.worst)} to {number(row.best)}" if row.blocked and row.exact else DASH


def centre(value: float | None, unit: str) -> str:
    """A geometric mean with the digits its unit wants."""
    return DASH if value is None else f"{value:,.{_DIGITS.get(unit, 1)}f}"


def questions(row: ConditionRow) -> str:
    """Questions behind a rate, with those set apart counted beside them: ``11 (1 apart)``."""
    count_ = row.exact.questions if row.exact else row.questions
    return f"{count_} ({len(row.apart)} apart)" if row.apart else str(count_)


def effect(value: Effect | None, digits: int = 2) -> str:
    """``+0.17 [−0.02, +0.36] (0.92 − 0.75)``: the difference, its interval, its two terms."""
    if value is None:
        return DASH
    terms = f"{number(value.left, digits)} − {number(value.right, digits)}"
    return f"{signed(value.value, digits)} {span(value.interval, digits, sign=True)} ({terms})"


def counts(test: Test) -> str:
    """``5 up, 1 down, 6 same``: the questions behind a p-value."""
    return f"{test.better} up, {test.worse} down, {test.same} same"


def contrast_notes(contrast: Contrast) -> list[str]:
    """The lines below a comparison."""
    out = [contrast.could_not] if contrast.could_not else []
    if contrast.exact and contrast.exact.bootstrap:
        out.append(f"exact, bootstrap of questions beside the t interval: {span(contrast.exact.bootstrap, sign=True)}")
    if contrast.once:
        mid, exact = contrast.once
        out.append(
            f"one attempt per question: McNemar mid-p {p_value(mid.p)}, exact {p_value(exact.p)} "
            f"({mid.better} against {mid.worse} discordant)"
        )
    if contrast.corpus_only:
        test = contrast.corpus_only
        out.append(f"on these questions only: {test.method} p = {p_value(test.p)} ({counts(test)})")
    if contrast.over_groups:
        test = contrast.over_groups
        out.append(f"over {contrast.groups} groups that share no graph: p = {p_value(test.p)} ({counts(test)})")
    if contrast.detectable:
        out.append(detectable_words(contrast))
    if contrast.worst is not None and contrast.best is not None:
        bounds = f"{signed(contrast.worst)} to {signed(contrast.best)}"
        out.append(f"were everything blocked counted against, or for, the left side: {bounds}")
    if contrast.margin is not None:
        out.append(equivalence_words(contrast))
    if contrast.dropped:
        why = listed((f"{record} ({reason})" for record, reason in contrast.dropped.items()), 4)
        out.append(f"{plural(len(contrast.dropped), 'question')} dropped: {why}")
    return [*out, *contrast.notes]


def graph_words(view: ReportView) -> str:
    """What the graphs behind the questions allow to be said."""
    text = f"The questions fall into {plural(view.groups, 'group')} that share no graph"
    if view.groups >= ENOUGH:
        return f"{text}; each comparison gives a test over them as well."
    return f"{text}: too few (fewer than {ENOUGH}) to speak about graphs that are not here."


def graph_cell(cell: GraphCell | None) -> str:
    """``5/9 in 3``: exact attempts, attempts, questions."""
    return DASH if cell is None else f"{cell.hits}/{cell.attempts} in {cell.questions}"


def detectable_words(contrast: Contrast) -> str:
    """The least difference this design would have noticed."""
    found = contrast.detectable
    assert found is not None
    design = (
        f"{plural(found.questions, 'question')} × {plural(found.repeats, 'attempt')}, {found.studies} simulated studies"
    )
    if found.difference is None:
        return f"no difference could be found with {found.power:.0%} power from the right side's rates ({design})"
    return f"smallest difference found with {found.power:.0%} power: {number(found.difference)} ({design})"


def equivalence_words(contrast: Contrast) -> str:
    """The answer to a margin declared beforehand."""
    p, margin = contrast.equivalence_p, number(contrast.margin)
    n = plural(contrast.questions, "question")
    if p is None:
        return f"equivalence within ±{margin} cannot be judged over {n}"
    verdict = "equivalent" if p < 0.05 else "not shown to be equivalent"
    return f"{verdict} within the declared ±{margin}: two one-sided tests p = {p_value(p)} over {n}"


def status(view: ReportView, contrast: Contrast) -> str:
    """Whether the root's declaration names this kind of comparison."""
    return "declared beforehand" if contrast.kind in view.declared.kinds else "exploratory"


def verdict_words(contrast: Contrast) -> str:
    """In one phrase: what a reader may conclude, no more."""
    if contrast.withheld:
        return f"withheld: {contrast.withheld}"
    if contrast.missing or contrast.exact is None:
        return contrast.missing or DASH
    p = contrast.exact.test.p if contrast.holm_p is None else contrast.holm_p
    if p < 0.05:
        return "left higher" if contrast.exact.value > 0 else "right higher"
    return "not distinguishable"


def audit_words(audit: Audit) -> str:
    """``clean (digest 0123456789ab)``, or what was found."""
    told = "clean" if audit.clean else f"failed: {listed(audit.findings) if audit.findings else 'no finding is named'}"
    return f"{told} (digest {audit.digest.removeprefix('sha256:')[:12]})" if audit.digest else told


def provenance(row: ConditionRow) -> Mapping[str, str]:
    """Where a condition's numbers come from; only what its record tells."""
    a = row.about
    told = {
        "corpus": place(a.corpus),
        "commit": a.corpus_commit,
        "tier": a.tier,
        "endpoint": place(a.endpoint),
        "engine": a.engine,
        "server": a.server_version,
        "server fault": a.server_fault,
        "script in the model's place": a.model_script,
        "audit of the agent program": None if a.audit is None else audit_words(a.audit),
        "keys asked again": None if a.drift is None else f"at the {' and the '.join(a.drift.checked)}",
    }
    return {name: one_line(text) for name, text in told.items() if text}
