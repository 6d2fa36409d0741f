"""A sweep on the screen: a live display on a terminal, one line per attempt elsewhere."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from okn_benchmark.cli import console
from okn_benchmark.jobs.sweep_events import Finished, Heard, Noted, Place, Started, SweepEvent
from okn_benchmark.runs.shapes import AttemptResult

if TYPE_CHECKING:
    from rich.table import Table

    from okn_benchmark.jobs.prepare import Sweep

MARK_EXACT, MARK_MISS, MARK_BLOCKED = "✓", "✗", "∅"
_TOOLS_SHOWN = 6


@dataclass(slots=True)
class Tally:
    """What a sweep has come to so far."""

    exact: int = 0
    measured: int = 0
    blocked: int = 0
    fresh_s: list[float] = field(default_factory=list)
    """Wall seconds of the episodes of this sweep: what the estimate is made from."""

    def add(self, finished: Finished) -> None:
        """Count one attempt."""
        result = finished.result
        self.measured += result.measured
        self.blocked += not result.measured
        self.exact += _exact(result)
        if not finished.resumed and result.wall_s is not None:
            self.fresh_s.append(result.wall_s)

    def remaining_s(self, left: int) -> float | None:
        """Seconds the rest will take at the mean pace; None before there is one."""
        return left * sum(self.fresh_s) / len(self.fresh_s) if self.fresh_s else None


@contextlib.contextmanager
def watcher(sweep: "Sweep") -> Iterator[Callable[[SweepEvent], None]]:
    """Something to hand every event of a sweep to."""
    if sweep.server_fault:
        console.warn(f"The server did not answer beforehand: {sweep.server_fault}")
    each = "1 attempt" if sweep.request.repeat == 1 else f"{sweep.request.repeat} attempts"
    console.tell(f"{sweep.condition}: {sweep.selection.count()}, {each} each, one at a time")
    if not console.on_terminal():
        yield _Lines().hear
        return
    from rich.console import Console
    from rich.live import Live

    screen = _Screen()
    with Live(get_renderable=screen.render, console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        screen.print = lambda text: live.console.print(text, markup=False, highlight=False)
        yield screen.hear


def watch_lines(sweep: "Sweep") -> Callable[[SweepEvent], None]:
    """One line per attempt, whatever the screen: for sweeps too short to watch."""
    console.tell(f"{sweep.corpus.source} · {sweep.condition}")
    return _Lines().hear


@dataclass(slots=True)
class _Lines:
    tally: Tally = field(default_factory=Tally)

    def hear(self, event: SweepEvent) -> None:
        match event:
            case Finished():
                self.tally.add(event)
                console.tell(finished_line(event))
            case Noted():
                console.warn(event.text)
            case Started() | Heard():
                pass


@dataclass(slots=True)
class _Screen:
    tally: Tally = field(default_factory=Tally)
    place: Place | None = None
    began: float = 0.0
    tools: list[str] = field(default_factory=list)
    print: Callable[[str], None] = console.tell

    def hear(self, event: SweepEvent) -> None:
        match event:
            case Started():
                self.place, self.began, self.tools = event.place, time.monotonic(), []
            case Heard():
                if event.event.kind == "tool":
                    self.tools.append(event.event.detail)
            case Finished():
                self.tally.add(event)
                self.place = None
                self.print(console.harmless(finished_line(event)))
            case Noted():
                self.print(console.harmless(event.text))

    def render(self) -> "Table":
        """Question, attempt, time so far, tools so far, tally, estimate."""
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        if (place := self.place) is None:
            return grid
        left = self.tally.remaining_s(place.total - place.done + 1)
        grid.add_row(
            f"{place.done}/{place.total}",
            f"{place.record} attempt {place.attempt} of {place.attempts}",
            f"{time.monotonic() - self.began:.0f} s",
            f"{self.tally.exact} exact of {self.tally.measured} measured"
            + (f", {self.tally.blocked} blocked" if self.tally.blocked else ""),
            "" if left is None else f"about {_duration(left)} to go",
        )
        grid.add_row("", console.harmless(" → ".join(self.tools[-_TOOLS_SHOWN:])))
        return grid


def finished_line(event: Finished) -> str:
    """One attempt on one line."""
    place, result = event.place, event.result
    parts = [f"[{place.done}/{place.total}]", _mark(result), place.record]
    if place.attempts > 1:
        parts.append(f"attempt {place.attempt}")
    parts.append(_words(result))
    if result.wall_s is not None:
        parts.append(f"{result.wall_s:.1f} s")
    if result.tools_called:
        parts.append(_tools(result.tools_called))
    if event.resumed:
        parts.append("[resumed]")
    return "  ".join(parts)


def _mark(result: AttemptResult) -> str:
    if not result.measured:
        return MARK_BLOCKED
    return MARK_EXACT if _exact(result) else MARK_MISS


def _words(result: AttemptResult) -> str:
    if result.outcome == "blocked":
        return f"blocked ({result.cause}): {result.reason}"
    if result.outcome != "answered":
        return result.outcome + (f": {result.reason}" if result.reason else "")
    verdict = result.verdict or {}
    if verdict.get("exact"):
        return "exact" if verdict.get("ordered") else "exact, other order"
    diagnosis = verdict.get("diagnosis") or []
    f1 = verdict.get("f1")
    shown = f"f1 {f1:.2f}" if isinstance(f1, int | float) else "not exact"
    return f"{shown} ({diagnosis[0]})" if diagnosis else shown


def _tools(called: tuple[str, ...]) -> str:
    counts = Counter(called)
    return ", ".join(name if count == 1 else f"{name}×{count}" for name, count in counts.items())


def _exact(result: AttemptResult) -> bool:
    return bool((result.verdict or {}).get("exact"))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
