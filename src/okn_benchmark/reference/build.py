"""Build ground truth: ask the endpoint every key whose rows are not known yet, and keep what it says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from okn_benchmark.corpus.record import Record, fingerprint
from okn_benchmark.errors import InputError, OknBenchmarkError, OutsideFailure
from okn_benchmark.reference.cache import Cache, Truth, load_truth
from okn_benchmark.reference.traps import trap_tables
from okn_benchmark.runs.shapes import TruthRecord
from okn_benchmark.sparql.result import Endpoint, Unreachable, UnreadableData
from okn_benchmark.sparql.results import write_results

Status: TypeAlias = Literal["ran", "kept", "failed", "not tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What became of one record. ``rows`` is None where it failed, or was not tried since the endpoint was dead."""

    record: str
    status: Status
    rows: int | None = None
    elapsed_s: float | None = None
    warnings: tuple[str, ...] = ()
    error: OknBenchmarkError | None = None


def _ignore(_: Built) -> None:
    """No progress is shown."""


def _now() -> datetime:
    return datetime.now(UTC)


def build(
    records: Sequence[Record],
    endpoint: Endpoint,
    cache: Cache,
    progress: Callable[[Built], None] = _ignore,
    now: Callable[[], datetime] = _now,
) -> tuple[Built, ...]:
    """One entry per record, in order. Failures are entries, not exceptions; a dead endpoint is not asked again.

    Raises:
        InputError: the RDF of an embedded endpoint cannot be loaded.
    """
    done: list[Built] = []
    dead = False
    for record in records:
        entry = _built(record, endpoint, cache, now, dead=dead)
        dead = dead or isinstance(entry.error, Unreachable)
        progress(entry)
        done.append(entry)
    return tuple(done)


def _built(record: Record, endpoint: Endpoint, cache: Cache, now: Callable[[], datetime], *, dead: bool) -> Built:
    known = load_truth(cache, endpoint.name, record)
    if isinstance(known, Truth):
        return Built(record=record.id, status="kept", rows=len(known.table), warnings=known.warnings)
    if dead:
        return Built(record=record.id, status="not tried")
    try:
        truth = ask(record, endpoint, now)
    except UnreadableData:
        raise
    except (InputError, OutsideFailure) as error:
        return Built(record=record.id, status="failed", error=error)
    cache.keep(truth, record)
    rows = len(truth.results["results"]["bindings"])
    return Built(record=record.id, status="ran", rows=rows, elapsed_s=truth.elapsed_s, warnings=truth.warnings)


def ask(record: Record, endpoint: Endpoint, now: Callable[[], datetime] = _now) -> TruthRecord:
    """The key and every trap, asked now.

    Raises:
        InputError: the key or a trap is at fault, and the message names the file; or the endpoint's RDF is.
        OutsideFailure: the endpoint failed.
    """
    try:
        result = endpoint.select(record.query)
    except UnreadableData:
        raise
    except InputError as error:
        raise InputError(f"{record.path_name}: {error.message}", hint=error.hint) from error
    traps = trap_tables(record, result.table, endpoint)
    return TruthRecord(
        endpoint=endpoint.name,
        engine=endpoint.engine,
        query=record.query,
        fingerprint=fingerprint(record.query),
        results=result.document,
        retrieved_at=now().isoformat(timespec="seconds"),
        elapsed_s=round(result.elapsed_s, 3),
        warnings=(*result.warnings, *_doubts(record, len(result.table))),
        tier=record.tier,
        tags=record.tags,
        traps={name: write_results(table) for name, table in traps.items()},
    )


def _doubts(record: Record, rows: int) -> tuple[str, ...]:
    if rows == 0 and not record.empty:
        return ("the key returns no rows, and the record does not say '#+ empty: true'",)
    if rows > 0 and record.empty:
        return (f"the key returns {rows} rows, though the record says '#+ empty: true'",)
    return ()
