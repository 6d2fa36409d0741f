"""The condition record: what a number has to be attributable to, and the results as a whole."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from okn_benchmark import __version__
from okn_benchmark.jobs.derive import derive_condition, read_key
from okn_benchmark.jobs.prepare import Sweep, launch_of
from okn_benchmark.jobs.recorded import recorded_condition
from okn_benchmark.jobs.work import Work
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.profile import public
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult

_LIBRARIES = ("mcp", "httpx2", "pyoxigraph", "typer")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaFacts:
    """What only the finished sweep can tell."""

    host: str
    host_versions: Sequence[str]
    models_resolved: Sequence[str]
    model_script: str | None = None
    """Digest of the script that answered in the model's place; None for a real model."""
    audit: JsonObject | None = None
    drift: JsonObject | None = None


def condition_meta(sweep: Sweep, facts: MetaFacts) -> JsonObject:
    """Everything that decided the numbers, and nothing secret: no header, no environment value."""
    from okn_benchmark.proxy.sparql_only import PREAMBLE, preamble_digest

    request = sweep.request
    truths = list(sweep.truths.values())
    meta: dict[str, Any] = {
        "identity": sweep.identity.to_json(),
        "corpus": {
            "source": sweep.corpus.source,
            "commit": sweep.corpus.commit,
            "dirty": sweep.corpus.dirty,
            "records": len(sweep.records),
            "total": sweep.selection.total,
        },
        "excluded": [{"id": e.id, "reason": e.reason} for e in sweep.selection.excluded],
        "profile": None if sweep.profile is None else public(sweep.profile),
        "server_info": None if sweep.server is None else sweep.server.to_json(),
        "server_fault": sweep.server_fault,
        "arm": None if sweep.arm is None else {"digest": sweep.arm.digest(), **sweep.arm.to_json()},
        "tape": launch_of(request, endpoint=None, log_dir=None).tape,
        "label": request.label,
        "host": facts.host,
        "host_versions": list(facts.host_versions),
        "model_resolved": list(facts.models_resolved),
        "endpoint": truths[0].endpoint,
        "engine": truths[0].engine,
        "preamble": {"text": PREAMBLE, "digest": preamble_digest()},
        "scoring": sweep.settings.to_json(),
        "model_script": facts.model_script,
        "audit": facts.audit,
        "drift": facts.drift,
        "versions": {"okn-benchmark": __version__, "python": platform.python_version(), **_versions()},
        "machine": {"cpus": os.cpu_count(), "system": platform.system()},
    }
    return {key: value for key, value in meta.items() if value is not None or key in ("profile", "server_info")}


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def write_condition(work: Work, questions: Sequence[QuestionResult]) -> ConditionRecord:
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


def _meta(work: Work, before: ConditionRecord, results: Sequence[QuestionResult]) -> JsonObject:
    attempts = [attempt for question in results for attempt in question.attempts]
    facts = MetaFacts(
        host=work.host.name,
        host_versions=_distinct(a.host_version for a in attempts),
        models_resolved=_distinct(a.model_resolved for a in attempts),
        model_script=work.model_script,
        audit=work.audit,
        drift=work.drift,
    )
    meta = condition_meta(work.sweep, facts)
    # The same ids are excluded, or the identities would have clashed; the reasons may be someone's own words.
    kept = {"excluded": before.meta["excluded"]} if before.meta.get("excluded") else {}
    return {**meta, **{key: value for key, value in before.meta.items() if key not in meta}, **kept}


def _distinct(values: Iterable[str | None]) -> list[str]:
    return sorted({value for value in values if value})
