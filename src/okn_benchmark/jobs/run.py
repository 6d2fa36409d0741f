"""One condition over the corpus, strictly one question at a time.

    recorded?  →  truth  →  for each question, for each attempt: reuse or run  →  condition record  →  pages

Every attempt leaves ``attempt.json`` first and ``episode.json`` last, so that a sweep killed at any instant is resumed
without losing what was finished.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from okn_benchmark.corpus.record import Record
from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host.episode import EpisodePlan, Host
from okn_benchmark.host.outcome import Outcome
from okn_benchmark.host.stopping import sweep_stop
from okn_benchmark.jobs.condition_record import MetaFacts, condition_meta
from okn_benchmark.jobs.derive import Key, derive_condition, outcome_of, read_key, result_of
from okn_benchmark.jobs.evidence import read_attempt
from okn_benchmark.jobs.ground import control_endpoint
from okn_benchmark.jobs.hosts import open_host
from okn_benchmark.jobs.prepare import Sweep, launch_of
from okn_benchmark.jobs.recorded import recorded_condition, require_free, set_aside_if_forced
from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.sweep_events import Finished, Heard, Noted, Place, Started, SweepEvent
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.profile import Profile, public
from okn_benchmark.runs.freeze import require_open
from okn_benchmark.runs.layout import AttemptPaths, RunsRoot
from okn_benchmark.runs.lock import SweepMarker, hold, sweeping
from okn_benchmark.runs.replaced import finish_pending, set_aside
from okn_benchmark.runs.resume import Decision, PlannedAttempt, RecordedAttempt, decide, proxy_flags, resume_parts
from okn_benchmark.runs.shapes import AttemptHeader, AttemptResult, ConditionRecord, QuestionResult
from okn_benchmark.runs.store import DEFAULT_WRITE, DerivedWriter, EvidenceWriter, Write
from okn_benchmark.sparql.results import csv_text, read_results

Watch: TypeAlias = Callable[[SweepEvent], None]
OpenHost: TypeAlias = Callable[[RunRequest, Sequence[Record], Profile | None], AbstractContextManager[Host]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A condition that ran to its end. Counts are of attempts."""

    root: Path
    condition: str
    results: tuple[QuestionResult, ...]
    resumed: int

    @property
    def attempts(self) -> list[AttemptResult]:
        """All of them, question by question."""
        return [attempt for question in self.results for attempt in question.attempts]

    @property
    def measured(self) -> int:
        """How many stand in a denominator."""
        return sum(attempt.measured for attempt in self.attempts)


@dataclass(slots=True)
class _Work:
    """What a running sweep holds on to."""

    sweep: Sweep
    root: RunsRoot
    host: Host
    host_version: str | None
    endpoint_url: str | None
    marker: SweepMarker
    watch: Watch
    evidence: EvidenceWriter
    derived: DerivedWriter
    fresh: list[Outcome] = field(default_factory=list)
    resumed: int = 0
    done: int = 0

    @property
    def total(self) -> int:
        return len(self.sweep.records) * self.sweep.request.repeat


def run(sweep: Sweep, watch: Watch, put: Write = DEFAULT_WRITE, opened: OpenHost = open_host) -> Swept:
    """Run a prepared sweep.

    ``put`` writes every file and ``opened`` gives the host: both are replaced to stop a sweep at any point.

    Raises:
        Refusal: the root is frozen, locked, of another tier or truth, or holds this condition already.
        OutsideFailure: the host, its login or the disk failed; what was recorded stays, and ``--resume`` goes on.
    """
    request = sweep.request
    root = RunsRoot(request.out)
    require_open(root)
    with ExitStack() as stack:
        stack.enter_context(hold(root, "okn-benchmark run"))
        finish_pending(root)
        require_free(root, sweep)
        host = stack.enter_context(opened(request, sweep.records, sweep.profile))
        work = _Work(
            sweep=sweep,
            root=root,
            host=host,
            host_version=host.version(),
            endpoint_url=stack.enter_context(control_endpoint(request)),
            marker=stack.enter_context(sweeping()),
            watch=watch,
            evidence=EvidenceWriter(root, put),
            derived=DerivedWriter(root, put),
        )
        set_aside_if_forced(root, sweep, put)
        return _sweep(work)


def _sweep(work: _Work) -> Swept:
    _write_truths(work)
    questions = [_question(work, record.id) for record in work.sweep.records]
    record = _write_condition(work, questions)
    regenerate(work.root.path, work.derived.put)
    return Swept(
        root=work.root.path,
        condition=record.name,
        results=tuple(questions),
        resumed=work.resumed,
    )


def _write_truths(work: _Work) -> None:
    for record in work.sweep.records:
        truth = work.sweep.truths[record.id]
        table = read_results(truth.results, f"the ground truth of {record.id}")
        work.evidence.truth(record.id, truth, csv_text(table))


def _question(work: _Work, record: str) -> QuestionResult:
    key = read_key(work.root, record)
    attempts = []
    for number in range(1, work.sweep.request.repeat + 1):
        attempts.append(_attempt(work, record, number, key))
        if stop := sweep_stop(work.fresh):
            # Asked after the attempt is recorded, so that nothing of it is lost. The very last one may still be one.
            if work.done < work.total:
                raise OutsideFailure(stop.message, hint=stop.hint)
            work.watch(Noted(text=f"{stop.message} {stop.hint}"))
    result = QuestionResult(
        record=record,
        condition=work.sweep.condition,
        attempts=tuple(attempts),
        tier=key.tier,
        settings=work.sweep.settings.to_json(),
    )
    work.derived.result(result)
    return result


def _attempt(work: _Work, record: str, number: int, key: Key) -> AttemptResult:
    paths = work.root.attempt(record, work.sweep.condition, number)
    plan = _plan(work, record, paths)
    planned = _planned(work, plan)
    decision = _decide(paths, planned)
    place = Place(
        record=record, attempt=number, attempts=work.sweep.request.repeat, done=work.done + 1, total=work.total
    )
    if decision.action == "repeat":
        work.watch(Noted(text=f"{record} attempt {number} is run again: {decision.why}"))
        set_aside(work.root, [paths.folder], work.evidence.put)
    if decision.action != "reuse":
        work.watch(Started(place=place))
        _run_episode(work, paths, plan, planned, place)
    evidence = read_attempt(paths)
    result = result_of(number, evidence, key, work.sweep.settings)
    work.done += 1
    if decision.action == "reuse":
        work.resumed += 1
    else:
        work.fresh.append(_outcome(result))
    work.watch(Finished(place=place, result=result, resumed=decision.action == "reuse"))
    return result


def _plan(work: _Work, record: str, paths: AttemptPaths) -> EpisodePlan:
    request = work.sweep.request
    return EpisodePlan(
        record_id=record,
        prompt=work.sweep.prompts[record],
        attempt_dir=paths.folder.resolve(),
        root=work.root.path.resolve(),
        launch=launch_of(request, endpoint=work.endpoint_url, log_dir=paths.folder.resolve()),
        model=request.shown_model if request.host == "claude" else None,
        effort=request.effort,
        agent_timeout_s=request.agent_timeout_s,
        max_turns=request.max_turns,
        expected_tools=work.sweep.expected_tools,
    )


def _planned(work: _Work, plan: EpisodePlan) -> PlannedAttempt:
    profile = work.sweep.profile
    truth = work.sweep.truths[plan.record_id]
    return PlannedAttempt(
        parts=resume_parts(
            prompt=plan.prompt,
            flags=work.host.flags(plan),
            variables=work.host.variables(plan),
            proxy=proxy_flags(
                plan.launch,
                endpoint=truth.endpoint if plan.launch.level == "sparql-only" else None,
                arm=work.sweep.identity.arm,
            ),
            profile=None if profile is None else public(profile),
            home=str(Path.home()),
        ),
        prompt=plan.prompt,
        command=_command(work.host.argv(plan)),
    )


def _command(argv: list[str]) -> str:
    """``command.txt``: one shell-quoted line."""
    import shlex

    return shlex.join(argv) + "\n"


def _decide(paths: AttemptPaths, planned: PlannedAttempt) -> Decision:
    if not paths.folder.exists():
        return decide(None, planned)
    evidence = read_attempt(paths)
    outcome = outcome_of(evidence) if evidence.finished else None
    recorded = RecordedAttempt(
        header=evidence.header,
        has_episode=paths.episode.exists(),
        outcome=None if outcome is None else outcome.kind,
        has_agent=paths.agent.exists(),
        prompt=_text(paths.prompt),
        command=_text(paths.command),
    )
    return decide(recorded, planned)


def _run_episode(work: _Work, paths: AttemptPaths, plan: EpisodePlan, planned: PlannedAttempt, place: Place) -> None:
    header = AttemptHeader(
        record=place.record,
        condition=work.sweep.condition,
        attempt=place.attempt,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        identity_digest=work.sweep.identity.digest(),
        identity=work.sweep.identity.to_json(),
        resume_digest=planned.digest,
        resume_parts=planned.parts,
        host=work.host.name,
        host_version=work.host_version,
    )
    work.evidence.header(paths, header)
    work.evidence.write(paths.prompt, planned.prompt)
    work.evidence.write(paths.command, planned.command)
    contended = work.marker.contended()
    episode = work.host.run(plan, lambda event: work.watch(Heard(place=place, event=event)))
    work.evidence.episode(paths, replace(episode, contended=contended or work.marker.contended()))


def _write_condition(work: _Work, questions: list[QuestionResult]) -> ConditionRecord:
    """The record of everything measured so far: what an earlier run listed stays, though this one asked for less."""
    sweep = work.sweep
    before = recorded_condition(work.root, sweep.condition)
    listed = [*before.questions, *(question.record for question in questions)]
    record = replace(
        before,
        meta=_meta(work, before, ()),
        questions={name: before.questions.get(name, {}) for name in dict.fromkeys(listed)},
    )
    derived = derive_condition(work.root, record, lambda name: read_key(work.root, name))
    for result in derived.results:
        work.derived.result(result)
    settled = replace(derived.record, meta=_meta(work, before, derived.results))
    work.evidence.condition(settled)
    return settled


def _meta(work: _Work, before: ConditionRecord, results: Sequence[QuestionResult]) -> JsonObject:
    attempts = [attempt for question in results for attempt in question.attempts]
    facts = MetaFacts(
        host=work.host.name,
        host_versions=_distinct(a.host_version for a in attempts),
        models_resolved=_distinct(a.model_resolved for a in attempts),
    )
    meta = condition_meta(work.sweep, facts)
    # The same ids are excluded, or the identities would have clashed; the reasons may be someone's own words.
    kept = {"excluded": before.meta["excluded"]} if before.meta.get("excluded") else {}
    return {**meta, **{key: value for key, value in before.meta.items() if key not in meta}, **kept}


def _distinct(values: Iterator[str | None]) -> list[str]:
    return sorted({value for value in values if value})


def _outcome(result: AttemptResult) -> Outcome:
    return Outcome(kind=result.outcome, cause=result.cause, reason=result.reason)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def summary_line(swept: Swept) -> str:
    """What a sweep came to, with its denominator and where to read more."""
    exact = sum(bool((a.verdict or {}).get("exact")) for a in swept.attempts)
    blocked = len(swept.attempts) - swept.measured
    parts = [f"{swept.condition}: {exact} of {swept.measured} measured attempts exact"]
    if blocked:
        parts.append(f"{blocked} blocked")
    if swept.resumed:
        parts.append(f"{swept.resumed} resumed")
    return ", ".join(parts) + f"; the report is {swept.root / 'README.md'}"
