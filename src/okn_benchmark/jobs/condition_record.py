"""``meta`` of a condition record: what a number has to be attributable to."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from okn_benchmark import __version__
from okn_benchmark.jobs.prepare import Sweep
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.profile import public

_LIBRARIES = ("mcp", "httpx2", "pyoxigraph", "typer")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaFacts:
    """What only the finished sweep can tell."""

    host: str
    host_versions: Sequence[str]
    models_resolved: Sequence[str]
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
        "label": request.label,
        "host": facts.host,
        "host_versions": list(facts.host_versions),
        "model_resolved": list(facts.models_resolved),
        "endpoint": truths[0].endpoint,
        "engine": truths[0].engine,
        "preamble": {"text": PREAMBLE, "digest": preamble_digest()},
        "scoring": sweep.settings.to_json(),
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
