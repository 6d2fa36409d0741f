"""Audit the agent program: once per version and flag set, remembered in the cache folder."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.files import replace_whole
from okn_benchmark.host.audit import VERSION, Audit, audit, audit_key, read_audit
from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.host.episode import EpisodePlan
from okn_benchmark.jsonio import check_schema, parse_object, pretty
from okn_benchmark.launch import ProxyLaunch

FOLDER: Final = "audits"
DEFAULT_MODEL: Final = "opus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """An audit, its digest for the condition record, and whether it was taken from the cache."""

    audit: Audit
    digest: str
    cached: bool


def bare_plan(model: str | None = DEFAULT_MODEL, effort: str | None = None) -> EpisodePlan:
    """An episode with default flags, to audit without a run; its folder is never used."""
    return EpisodePlan(
        record_id="audit",
        prompt="",
        attempt_dir=Path(),
        launch=ProxyLaunch(level="sparql-only"),
        model=model,
        effort=effort,
    )


def audit_now(host: ClaudeHost, plan: EpisodePlan, cache: Path) -> Audited:
    """Audit whatever is remembered, and remember the outcome. About five seconds.

    Raises:
        OutsideFailure: the program could not be started.
    """
    found = audit(host, plan)
    written = found.to_json()
    key = audit_key(host, plan, found.host_version)
    with contextlib.suppress(OutsideFailure):  # a cache that takes nothing costs the next run five seconds
        replace_whole(cache / FOLDER / f"{key}.json", pretty(written))
    return Audited(audit=found, digest=written["digest"], cached=False)


def audited(host: ClaudeHost, plan: EpisodePlan, cache: Path) -> Audited:
    """The remembered audit of this version with these flags, else a new one.

    Raises:
        OutsideFailure: the program could not be started.
    """
    path = cache / FOLDER / f"{audit_key(host, plan, host.version())}.json"
    return _remembered(path) or audit_now(host, plan, cache)


def _remembered(path: Path) -> Audited | None:
    """A cached audit that can still be read; anything else is audited again."""
    try:
        value = parse_object(path.read_bytes(), str(path))
        check_schema(value, "host-audit", VERSION, str(path))
        found = read_audit(value, str(path))
    except (OSError, InputError):
        return None
    return Audited(audit=found, digest=found.to_json()["digest"], cached=True)
