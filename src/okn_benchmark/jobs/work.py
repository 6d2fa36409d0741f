"""What a running sweep holds on to, from its first question to its last."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from okn_benchmark.host.episode import Host
from okn_benchmark.host.outcome import Outcome
from okn_benchmark.jobs.prepare import Sweep
from okn_benchmark.jobs.sweep_events import SweepEvent
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import SweepMarker
from okn_benchmark.runs.store import DerivedWriter, EvidenceWriter

Watch: TypeAlias = Callable[[SweepEvent], None]


@dataclass(slots=True)
class Work:
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
    audit: JsonObject | None = None
    """What the audit of the agent program found; None for a host that has none."""
    drift: JsonObject | None = None
    """Answer keys whose rows moved, by when they were asked; None where nobody asked."""
    done: int = 0

    @property
    def total(self) -> int:
        """Attempts of the whole sweep."""
        return len(self.sweep.records) * self.sweep.request.repeat

    @property
    def model_script(self) -> str | None:
        """Digest of the script that answers in the model's place; None for a real model and for a host without one."""
        found = getattr(self.host, "model_script", None)
        return found if isinstance(found, str) else None
