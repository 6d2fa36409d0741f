"""One attempt: keep what an earlier sweep measured, or run it and record it."""

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from okn_benchmark.host.episode import EpisodePlan
from okn_benchmark.host.outcome import Outcome
from okn_benchmark.jobs.derive import Key, outcome_of, result_of
from okn_benchmark.jobs.evidence import read_attempt
from okn_benchmark.jobs.prepare import launch_of
from okn_benchmark.jobs.sweep_events import Finished, Heard, Noted, Place, Started
from okn_benchmark.jobs.work import Work
from okn_benchmark.profile import public
from okn_benchmark.runs.layout import AttemptPaths
from okn_benchmark.runs.replaced import set_aside
from okn_benchmark.runs.resume import Decision, PlannedAttempt, RecordedAttempt, decide, proxy_flags, resume_parts
from okn_benchmark.runs.shapes import AttemptHeader, AttemptResult


def settle_attempt(work: Work, record: str, number: int, key: Key) -> AttemptResult:
    """Reuse or run attempt ``number`` of a record, and judge it.

    Raises:
        OutsideFailure: the agent program is not there, or the disk would not take the evidence.
    """
    paths = work.root.attempt(record, work.sweep.condition, number)
    plan = plan_attempt(work, record, paths)
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
    result = result_of(number, evidence, key, work.sweep.settings, work.sweep.arm)
    work.done += 1
    if decision.action == "reuse":
        work.resumed += 1
    else:
        work.fresh.append(_outcome(result))
    work.watch(Finished(place=place, result=result, resumed=decision.action == "reuse"))
    return result


def plan_attempt(work: Work, record: str, paths: AttemptPaths) -> EpisodePlan:
    """The episode of one attempt, as it would be started now."""
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


def _planned(work: Work, plan: EpisodePlan) -> PlannedAttempt:
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


def _run_episode(work: Work, paths: AttemptPaths, plan: EpisodePlan, planned: PlannedAttempt, place: Place) -> None:
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


def _outcome(result: AttemptResult) -> Outcome:
    return Outcome(kind=result.outcome, cause=result.cause, reason=result.reason)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
