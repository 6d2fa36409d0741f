"""What a sweep finds out about its instruments: the agent program before the first episode, the keys at both ends."""

from typing import Final, Literal, TypeAlias

from okn_benchmark.errors import Refusal
from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.jobs.attempts import plan_attempt
from okn_benchmark.jobs.audit import audited
from okn_benchmark.jobs.sweep_events import Noted
from okn_benchmark.jobs.work import Work
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.places import cache_home
from okn_benchmark.reference import drift
from okn_benchmark.reference.cache import Cache
from okn_benchmark.sparql.endpoint import open_endpoint

When: TypeAlias = Literal["start", "end"]
STABLE: Final = "stable"


def attest_host(work: Work) -> None:
    """Audit the agent program with this sweep's own flags, once per version and flag set.

    Raises:
        Refusal: it is given something it should not have, and ``--allow-failed-audit`` was not.
        OutsideFailure: it could not be started.
    """
    request = work.sweep.request
    if not isinstance(work.host, ClaudeHost):
        return
    record = work.sweep.records[0].id
    plan = plan_attempt(work, record, work.root.attempt(record, work.sweep.condition, 1))
    found = audited(work.host, plan, cache_home(request.cache))
    work.audit = {"digest": found.digest, "clean": found.audit.clean, "findings": list(found.audit.findings)}
    version = found.audit.host_version or "of unknown version"
    if found.audit.clean:
        how = "audited before" if found.cached else "audited now"
        work.watch(Noted(text=f"claude {version}: {how}, nothing but our tools reaches the agent"))
        return
    findings = "; ".join(found.audit.findings)
    if not request.allow_failed_audit:
        raise Refusal(
            f"The agent program ({version}) is given what an episode should not have: {findings}.",
            hint="Mend it and try `okn-benchmark audit-host`, or go on with --allow-failed-audit, which is recorded.",
        )
    work.watch(Noted(text=f"claude {version}: the audit failed and is recorded as such: {findings}"))


def note_drift(work: Work, when: When) -> None:
    """With ``--drift-check``: ask every key again and remember which rows are not what they were.

    Raises:
        InputError: the endpoint cannot be used any more.
    """
    request = work.sweep.request
    if not request.drift_check:
        return
    with open_endpoint(request.endpoint) as endpoint:
        found = drift.check(work.sweep.records, endpoint, Cache.at(request.cache))
    moved = {entry.record: _moved(entry) for entry in found if entry.state != STABLE}
    work.drift = {**(work.drift or {}), when: moved}
    for record, facts in moved.items():
        work.watch(Noted(text=f"{record} at the {when}: its key is {facts['state']}; it is reported apart"))


def _moved(entry: drift.Drift) -> JsonObject:
    facts = {
        "state": entry.state,
        "rows_then": entry.rows_then,
        "rows_now": entry.rows_now,
        "lost": entry.lost,
        "gained": entry.gained,
    }
    return {key: value for key, value in facts.items() if value is not None}
