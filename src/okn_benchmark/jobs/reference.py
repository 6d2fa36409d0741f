"""``reference``: build the ground truth that is not there yet, or check what is there for drift."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from okn_benchmark.corpus.select import Selection
from okn_benchmark.errors import InputError, OknBenchmarkError, OutsideFailure
from okn_benchmark.jobs.choose import Choice, choose
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.reference import drift
from okn_benchmark.reference.build import Built, build
from okn_benchmark.reference.cache import Cache
from okn_benchmark.sparql.endpoint import open_endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What one ``reference`` did."""

    endpoint: str
    selection: Selection
    entries: tuple[Built, ...]

    def of(self, status: str) -> tuple[Built, ...]:
        """The entries with this status."""
        return tuple(entry for entry in self.entries if entry.status == status)

    def exit_code(self) -> int:
        """0, or 4 where the endpoint failed, or 2 where only keys are at fault."""
        failed = self.of("failed")
        if any(isinstance(entry.error, OutsideFailure) for entry in failed):
            return OutsideFailure.exit_code
        return 2 if failed else 0

    def summary(self) -> str:
        """One sentence with every count."""
        ran, kept, failed, spared = (len(self.of(status)) for status in ("ran", "kept", "failed", "not tried"))
        words = (
            f"{ran} of {len(self.entries)} record{'' if len(self.entries) == 1 else 's'} run against {self.endpoint}"
        )
        more = [f"{count} {status}" for count, status in ((failed, "failed"), (spared, "not tried")) if count]
        return "; ".join([words, ", ".join([f"{kept} kept", *more])]) + "."

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "schema": "reference/1",
            "endpoint": self.endpoint,
            "ran": len(self.of("ran")),
            "kept": len(self.of("kept")),
            "failed": len(self.of("failed")),
            "not_tried": len(self.of("not tried")),
            "records": [
                {
                    "id": entry.record,
                    "status": entry.status,
                    "rows": entry.rows,
                    "elapsed_s": entry.elapsed_s,
                    "warnings": list(entry.warnings),
                    "error": entry.error.message if entry.error else None,
                }
                for entry in self.entries
            ],
            "excluded": [{"id": out.id, "reason": out.reason} for out in self.selection.excluded],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """What one ``reference --check`` found."""

    endpoint: str
    entries: tuple[drift.Drift, ...]

    def exit_code(self) -> int:
        """0 where every record is stable, 4 where the endpoint failed, else 1."""
        if any(isinstance(entry.error, OutsideFailure) for entry in self.entries):
            return OutsideFailure.exit_code
        return 0 if all(entry.state == "stable" for entry in self.entries) else 1

    def summary(self) -> str:
        """One sentence with every count that is not zero."""
        states = ("stable", "tie-unstable", "drifted", "transiently empty", "not built", "failed", "not tried")
        counts = [(sum(entry.state == state for entry in self.entries), state) for state in states]
        return f"{self.endpoint}: " + ", ".join(f"{count} {state}" for count, state in counts if count) + "."

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "schema": "drift/1",
            "endpoint": self.endpoint,
            "records": [
                {
                    "id": entry.record,
                    "state": entry.state,
                    "rows_then": entry.rows_then,
                    "rows_now": entry.rows_now,
                    "lost": entry.lost,
                    "gained": entry.gained,
                    "error": entry.error.message if entry.error else None,
                }
                for entry in self.entries
            ],
        }


def reference(choice: Choice, endpoint_spec: str, timeout_s: float, progress: Callable[[Built], None]) -> BuildReport:
    """Run the records whose truth is missing or stale at this endpoint; keep the others.

    Raises:
        InputError: the corpus, a filter or the endpoint cannot be used.
    """
    _, selection = choose(choice)
    with open_endpoint(endpoint_spec, timeout_s=timeout_s) as endpoint:
        entries = build(selection.records, endpoint, Cache.at(choice.cache), progress)
        return BuildReport(endpoint=endpoint.name, selection=selection, entries=entries)


def check_drift(
    choice: Choice, endpoint_spec: str, timeout_s: float, progress: Callable[[drift.Drift], None]
) -> DriftReport:
    """Ask every selected key again and compare with what is cached; nothing is written. Raises like ``reference``."""
    _, selection = choose(choice)
    with open_endpoint(endpoint_spec, timeout_s=timeout_s) as endpoint:
        entries = drift.check(selection.records, endpoint, Cache.at(choice.cache), progress)
        return DriftReport(endpoint=endpoint.name, entries=entries)


def failures(entries: Sequence[Built]) -> list[str]:
    """One line per failed record; what an unreachable endpoint spared is said once."""
    lines = [_failure(entry.record, entry.error) for entry in entries if entry.error is not None]
    spared = [entry.record for entry in entries if entry.status == "not tried"]
    if spared:
        lines.append(f"not tried after that: {', '.join(spared)}")
    return lines


def _failure(record: str, error: OknBenchmarkError) -> str:
    """A fault of the key names its file; a fault of the endpoint does not, so the record is put in front."""
    return error.whole if isinstance(error, InputError) else f"{record}: {error.whole}"
