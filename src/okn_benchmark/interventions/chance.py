"""What befalls one call of an arm with faults or latency: by seed and place, so that every run has the same luck."""

import hashlib
from dataclasses import dataclass
from typing import Any

from okn_benchmark.interventions.arm import Arm, FaultKind
from okn_benchmark.interventions.treating import fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """Seconds an answer is held back, and how the call fails instead; None: it does not."""

    delay_s: float = 0.0
    fault: FaultKind | None = None
    text: str = ""


def fate(arm: Arm, episode: str, seq: int, tool: str, arguments: Any) -> Fate:
    """The same for the same seed, episode (the attempt's own name), place in it, tool and arguments."""
    place = fingerprint([arm.seed, episode, seq, tool, arguments])
    faults, latency = arm.faults, arm.latency
    failed = faults is not None and _share(place, "fault") < faults.rate
    slow = latency is not None and _share(place, "latency") < latency.rate
    delay = 0.0
    if latency is not None and slow:
        delay = latency.low_s + (latency.high_s - latency.low_s) * _share(place, "seconds")
    if faults is None or not failed:
        return Fate(delay_s=round(delay, 6))
    return Fate(delay_s=round(delay, 6), fault=faults.kind, text=faults.text)


def _share(place: str, what: str) -> float:
    """0 to 1, uniform."""
    return int(hashlib.sha256(f"{place}:{what}".encode()).hexdigest()[:13], 16) / 16**13
