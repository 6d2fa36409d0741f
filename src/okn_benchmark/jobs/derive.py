"""From evidence to results: the one way a recorded attempt becomes a judged one, for ``run`` and ``rescore`` alike.

Reads only a runs root. No clock, no network, and no path of this machine in what comes out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from okn_benchmark.errors import InputError
from okn_benchmark.host.outcome import Outcome, classify
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.jobs.evidence import AttemptEvidence, read_attempt
from okn_benchmark.jsonio import Fields, JsonObject
from okn_benchmark.runs.aggregate import aggregate, question_entry
from okn_benchmark.runs.drift import read_drift
from okn_benchmark.runs.identity import excluded_ids
from okn_benchmark.runs.layout import AttemptPaths, RunsRoot
from okn_benchmark.runs.ledger import ledger_of
from okn_benchmark.runs.manipulation import arm_of_meta, check_attempt, combined, unreadable
from okn_benchmark.runs.readers import read_truth
from okn_benchmark.runs.shapes import (
    AttemptResult,
    Calls,
    ConditionRecord,
    Episode,
    Metrics,
    QuestionResult,
)
from okn_benchmark.runs.tape import tape_notes
from okn_benchmark.runs.tree import Problem, read_file
from okn_benchmark.scoring.verdict import Key as PreparedKey
from okn_benchmark.scoring.verdict import Settings, judge_key
from okn_benchmark.sparql.results import read_results
from okn_benchmark.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What answers to one record are judged against."""

    reference: Table
    traps: Mapping[str, Table]
    tier: str | None
    _prepared: dict[Settings, PreparedKey] = field(default_factory=dict, init=False, repr=False, compare=False)

    def prepared(self, settings: Settings) -> PreparedKey:
        """The reference as the judge wants it, made once however many answers are held against it."""
        if settings not in self._prepared:
            self._prepared[settings] = PreparedKey(self.reference, settings)
        return self._prepared[settings]


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedCondition:
    """A condition's results, the record that goes with them, and the files that were left out by name."""

    record: ConditionRecord
    results: tuple[QuestionResult, ...]
    problems: tuple[Problem, ...]


def read_key(root: RunsRoot, record: str) -> Key:
    """The ground truth of a record in a root.

    Raises:
        InputError: it is missing or cannot be read.
    """
    path = root.truth_json(record)
    truth = read_truth(read_file(path), _inside(root, path))
    return Key(
        reference=read_results(truth.results, f"{_inside(root, path)}: results"),
        traps={name: read_results(rows, f"{_inside(root, path)}: traps.{name}") for name, rows in truth.traps.items()},
        tier=truth.tier,
    )


def settings_of(meta: JsonObject, source: str) -> Settings:
    """The scoring settings a condition was run with: ``meta.scoring``.

    Raises:
        InputError: one is of the wrong kind.
    """
    got = Fields(Fields(meta, source).obj("scoring"), f"{source}: scoring")
    default = Settings()
    tolerance = got.opt_number("numeric_rel_tol")
    return Settings(
        significant_digits=got.whole("significant_digits", default.significant_digits),
        numeric_rel_tol=default.numeric_rel_tol if tolerance is None else tolerance,
    )


def derive_attempt(attempt: AttemptPaths, key: Key, settings: Settings, arm: Arm | None = None) -> AttemptResult | None:
    """Classify and judge one recorded attempt; None when it was cut off before it ended."""
    evidence = read_attempt(attempt)
    return result_of(attempt.number, evidence, key, settings, arm) if evidence.finished else None


def outcome_of(evidence: AttemptEvidence) -> Outcome:
    """What the evidence of one attempt says happened."""
    return classify(evidence.episode, evidence.calls, accepted=evidence.answer is not None, rejected=evidence.rejected)


def result_of(
    number: int, evidence: AttemptEvidence, key: Key, settings: Settings, arm: Arm | None = None
) -> AttemptResult:
    """The result of one finished attempt. Pure."""
    outcome = outcome_of(evidence)
    verdict = None
    if outcome.kind != "blocked":
        # Only refused submissions: the last of them says best what went wrong.
        submitted = evidence.answer if evidence.answer is not None else evidence.last_rejected
        verdict = judge_key(key.prepared(settings), submitted, key.traps).to_json()
    result = AttemptResult(
        attempt=number,
        outcome=outcome.kind,
        cause=outcome.cause,
        reason=outcome.reason,
        warnings=(*outcome.warnings, *tape_notes(evidence.calls), *evidence.faults),
        verdict=verdict,
    )
    if evidence.episode is not None:
        result = _with_episode(result, evidence.episode)
    if evidence.calls is not None:
        result = replace(_with_metrics(result, evidence.calls.metrics), ledger=ledger_of(evidence.calls))
    if arm is not None and result.measured:
        result = replace(result, manipulation=check_attempt(arm, evidence.calls, number))
    return replace(result, withheld_calls=_withheld_calls(evidence.episode, evidence.calls))


def derive_question(
    root: RunsRoot, record: str, condition: str, key: Key, settings: Settings, arm: Arm | None = None
) -> tuple[QuestionResult, tuple[Problem, ...]]:
    """Every finished attempt of one record under one condition, judged; unfinished ones are named."""
    judged, problems = [], []
    for attempt in root.attempts(record, condition):
        found = derive_attempt(attempt, key, settings, arm)
        if found is None:
            where = _inside(root, attempt.folder)
            problems.append(Problem(where, f"{where} was cut off before it ended; --resume runs it again."))
        else:
            judged.append(found)
    result = QuestionResult(
        record=record,
        condition=condition,
        attempts=tuple(judged),
        tier=key.tier,
        settings=settings.to_json(),
    )
    return result, tuple(problems)


def derive_condition(root: RunsRoot, record: ConditionRecord, keys: Callable[[str], Key]) -> DerivedCondition:
    """All questions of a condition, and its record with ``questions`` and ``aggregate`` computed anew.

    The questions are those the record lists (all there are on disk where it lists none), less the ones that
    ``meta.excluded`` names. ``keys`` gives a record's key and raises InputError where there is none.

    Raises:
        InputError: ``meta`` cannot be read.
    """
    source = f"conditions/{record.name}.json"
    settings = settings_of(record.meta, f"{source}: meta")
    arm, fault = _arm(record, source)
    results: list[QuestionResult] = []
    problems: list[Problem] = []
    entries: dict[str, JsonObject] = {}
    for question in _questions(root, record, source):
        try:
            result, found = derive_question(root, question, record.name, keys(question), settings, arm)
        except InputError as error:
            # Not judged, and not forgotten either: a repaired file brings it back.
            entries[question] = record.questions.get(question, {})
            problems.append(Problem(_inside(root, root.question(question)), error.message))
            continue
        entries[question] = question_entry(result) | _unknown(record.questions.get(question, {}), result)
        results.append(result)
        problems.extend(found)
    drift = read_drift(record.meta)
    whole = aggregate(results, _manipulation(arm, fault, results), apart=drift.apart if drift else ())
    settled = replace(record, questions=entries, aggregate=whole)
    return DerivedCondition(record=settled, results=tuple(results), problems=tuple(problems))


def _arm(record: ConditionRecord, source: str) -> tuple[Arm | None, str | None]:
    """The arm of a condition, and why it cannot be told: then nothing of it counts as checked."""
    try:
        return arm_of_meta(record.meta, source), None
    except InputError as error:
        return None, error.message


def _manipulation(arm: Arm | None, fault: str | None, results: Iterable[QuestionResult]) -> JsonObject | None:
    if fault is not None:
        return unreadable(fault)
    if arm is None:
        return None
    measured = ((question.record, a) for question in results for a in question.attempts if a.measured)
    return combined(arm, ((f"{record} attempt {a.attempt}", a.manipulation) for record, a in measured))


def _questions(root: RunsRoot, record: ConditionRecord, source: str) -> list[str]:
    excluded = set(excluded_ids(record.meta, source))
    listed: Iterable[str] = record.questions
    if not record.questions:
        listed = (r for r in root.records() if root.arm(r, record.name).is_dir())
    return [question for question in listed if question not in excluded]


def _unknown(entry: JsonObject, result: QuestionResult) -> JsonObject:
    """Keys of an existing entry that we do not write: other people's, and kept."""
    ours = question_entry(result)
    return {key: value for key, value in entry.items() if key not in ours}


def _with_episode(result: AttemptResult, episode: Episode) -> AttemptResult:
    return replace(
        result,
        wall_s=episode.wall_s,
        api_retry_s=episode.api_retry_s,
        turns=episode.turns,
        withheld_reached=episode.withheld_reached,
        host_clipped=episode.host_clipped,
        tokens=episode.tokens,
        cost_usd=episode.cost_usd,
        model_resolved=episode.model_resolved,
        host_version=episode.host_version,
        source=episode.source,
        contended=episode.contended,
    )


def _with_metrics(result: AttemptResult, metrics: Metrics) -> AttemptResult:
    return replace(
        result,
        server_s=metrics.server_s,
        queries_ok=metrics.queries_ok,
        queries_errored=metrics.queries_errored,
        tools_called=metrics.tools_called,
        soft_errors=metrics.upstream_soft_errors,
        definition_chars=metrics.definition_chars,
        response_chars=metrics.response_chars,
    )


def _withheld_calls(episode: Episode | None, calls: Calls | None) -> int | None:
    """Whoever refused them: the host answers most such calls itself, and those that passed it are among its own."""
    told = None if episode is None else episode.extra.get("withheld_calls")
    counts = [told] if isinstance(told, int) and not isinstance(told, bool) else []
    return max(counts + ([] if calls is None else [calls.metrics.withheld_calls]), default=None)


def _inside(root: RunsRoot, path: Path) -> str:
    return path.relative_to(root.path).as_posix()
