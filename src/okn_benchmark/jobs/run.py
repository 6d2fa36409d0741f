"""One condition over the corpus, strictly one question at a time.

    recorded?  →  truth  →  for each question, for each attempt: reuse or run  →  condition record  →  pages

Every attempt leaves ``attempt.json`` first and ``episode.json`` last, so that a sweep killed at any instant is resumed
without losing what was finished.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from okn_benchmark.corpus.record import Record
from okn_benchmark.errors import OutsideFailure
from okn_benchmark.graphs.shortnames import SHORTNAMES
from okn_benchmark.host.episode import Host
from okn_benchmark.host.stopping import Stop, sweep_stop
from okn_benchmark.jobs.attempts import settle_attempt
from okn_benchmark.jobs.beforehand import attest_host, note_drift
from okn_benchmark.jobs.condition_record import write_condition
from okn_benchmark.jobs.derive import read_key
from okn_benchmark.jobs.ground import control_endpoint
from okn_benchmark.jobs.hosts import open_host
from okn_benchmark.jobs.prepare import Sweep
from okn_benchmark.jobs.recorded import require_free, set_aside_if_forced
from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.sweep_events import Noted
from okn_benchmark.jobs.work import Watch, Work
from okn_benchmark.profile import Profile
from okn_benchmark.runs.freeze import require_open
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import hold, sweeping
from okn_benchmark.runs.manipulation import refusal_of
from okn_benchmark.runs.replaced import finish_pending
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult
from okn_benchmark.runs.store import DEFAULT_WRITE, DerivedWriter, EvidenceWriter, Write
from okn_benchmark.sparql.results import csv_text, read_results

OpenHost: TypeAlias = Callable[[RunRequest, Sequence[Record], Profile | None], AbstractContextManager[Host]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A condition that ran to its end. Counts are of attempts."""

    root: Path
    condition: str
    results: tuple[QuestionResult, ...]
    resumed: int
    refused: str | None = None
    """Which gate of its arm's manipulation check failed; then no score of it stands."""

    @property
    def attempts(self) -> list[AttemptResult]:
        """All of them, question by question."""
        return [attempt for question in self.results for attempt in question.attempts]

    @property
    def measured(self) -> int:
        """How many stand in a denominator."""
        return sum(attempt.measured for attempt in self.attempts)


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
        work = Work(
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
        attest_host(work)
        set_aside_if_forced(root, sweep, put)
        return _sweep(work)


def _sweep(work: Work) -> Swept:
    _write_truths(work)
    note_drift(work, "start")
    questions: list[QuestionResult] = []
    stop: Stop | None = None
    for record in work.sweep.records:
        result, stop = _question(work, record.id)
        questions.append(result)
        if stop is not None:
            break
    note_drift(work, "end")
    # Also after a stop: what was recorded can be read, and is completed by --resume.
    condition = write_condition(work, questions)
    regenerate(work.root.path, work.derived.put)
    swept = Swept(
        root=work.root.path,
        condition=condition.name,
        results=tuple(questions),
        resumed=work.resumed,
        refused=refusal_of(condition.aggregate, armed=work.sweep.arm is not None),
    )
    for text in _doubts(work, swept):
        work.watch(Noted(text=text))
    if stop is not None:
        nothing = "" if swept.measured else f" {swept.condition} measured nothing."
        raise OutsideFailure(stop.message + nothing, hint=stop.hint)
    return swept


def _doubts(work: Work, swept: Swept) -> Iterator[str]:
    """What a finished sweep should make its owner look at twice."""
    request = work.sweep.request
    exact = sum(bool((attempt.verdict or {}).get("exact")) for attempt in swept.attempts)
    if request.host == "oracle" and exact < swept.measured:
        yield (
            f"The oracle runs the keys themselves, and {swept.measured - exact} of {swept.measured} answers differ "
            f"from the truth of {request.endpoint}: the server has other data, or [oracle] does not read its replies."
        )
    strange = sorted({tag for record in work.sweep.records for tag in record.tags} - set(SHORTNAMES))
    if request.level == "sparql-only" and strange:
        yield (
            f"The control is told of the Proto-OKN graphs alone, and {', '.join(strange)} is none of them: "
            "compare it with nothing until your endpoint serves those graphs."
        )


def _write_truths(work: Work) -> None:
    for record in work.sweep.records:
        truth = work.sweep.truths[record.id]
        table = read_results(truth.results, f"the ground truth of {record.id}")
        work.evidence.truth(record.id, truth, csv_text(table))


def _question(work: Work, record: str) -> tuple[QuestionResult, Stop | None]:
    """The attempts of one question, and why the sweep cannot go on after them."""
    key = read_key(work.root, record)
    attempts = []
    stop: Stop | None = None
    for number in range(1, work.sweep.request.repeat + 1):
        attempts.append(settle_attempt(work, record, number, key))
        if (stop := sweep_stop(work.fresh)) is not None:
            break
    result = QuestionResult(
        record=record,
        condition=work.sweep.condition,
        attempts=tuple(attempts),
        tier=key.tier,
        settings=work.sweep.settings.to_json(),
    )
    work.derived.result(result)
    return result, stop


def summary_line(swept: Swept) -> str:
    """What a sweep came to, with its denominator and where to read more."""
    if swept.refused is not None:
        told = f"gate failed ({swept.refused}), so its numbers are refused"
        return f"{swept.condition}: {told}; the report is {swept.root / 'README.md'}"
    exact = sum(bool((a.verdict or {}).get("exact")) for a in swept.attempts)
    blocked = len(swept.attempts) - swept.measured
    parts = [f"{swept.condition}: {exact} of {swept.measured} measured attempts exact"]
    if blocked:
        parts.append(f"{blocked} blocked")
    if swept.resumed:
        parts.append(f"{swept.resumed} resumed")
    return ", ".join(parts) + f"; the report is {swept.root / 'README.md'}"
