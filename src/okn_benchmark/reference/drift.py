"""Whether an endpoint still says what it said when the truth was built. ``compare`` is pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from okn_benchmark.corpus.record import Record
from okn_benchmark.errors import InputError, OknBenchmarkError, OutsideFailure
from okn_benchmark.jsonio import digest
from okn_benchmark.reference.cache import Cache, Truth, load_truth
from okn_benchmark.sparql.result import Endpoint, Unreachable, UnreadableData
from okn_benchmark.sparql.shape import shape
from okn_benchmark.table import Row, Table

Finding: TypeAlias = Literal["stable", "tie-unstable", "drifted", "transiently empty"]
State: TypeAlias = Finding | Literal["not built", "failed", "not tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of one record's rows. Counts are None where nothing could be compared."""

    record: str
    state: State
    rows_then: int | None = None
    rows_now: int | None = None
    lost: int | None = None
    gained: int | None = None
    error: OknBenchmarkError | None = None


def row_digest(row: Row) -> str:
    """SHA-256 of one row. A blank node's label is made up anew by every run and does not count."""
    return digest([None if c is None else [c.kind, "" if c.kind == "bnode" else c.value, *c[2:]] for c in row])


def compare(then: Table, now: Table, order_columns: Sequence[str] = ()) -> tuple[Finding, int, int]:
    """The finding, and how many rows were lost and gained.

    ``order_columns`` are the columns the query sorts by. Rows that went and came but share the sort keys of the last
    row are ties cut differently, and so is a mere change of order.
    """
    before, after = [row_digest(row) for row in then.rows], [row_digest(row) for row in now.rows]
    if then.columns == now.columns and before == after:
        return "stable", 0, 0
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    moved = (lost.total(), gained.total())
    if then.columns != now.columns:
        return "drifted", *moved
    if not lost and not gained:
        return "tie-unstable", 0, 0
    sorts = [then.columns.index(name) for name in order_columns if name in then.columns]
    if sorts and len(then) == len(now):
        cut = _keys(then.rows[-1], sorts)
        changed = [row for row, mark in zip(then.rows, before, strict=True) if mark in lost]
        changed += [row for row, mark in zip(now.rows, after, strict=True) if mark in gained]
        if all(_keys(row, sorts) == cut for row in changed):
            return "tie-unstable", *moved
    return "drifted", *moved


def _keys(row: Row, indexes: Sequence[int]) -> tuple[object, ...]:
    return tuple(row[index] for index in indexes)


def _ignore(_: Drift) -> None:
    """No progress is shown."""


def check(
    records: Sequence[Record], endpoint: Endpoint, cache: Cache, progress: Callable[[Drift], None] = _ignore
) -> tuple[Drift, ...]:
    """Ask every key again and compare with what is cached. Nothing is written. A dead endpoint is asked once."""
    done: list[Drift] = []
    dead = False
    for record in records:
        truth = load_truth(cache, endpoint.name, record)
        if not isinstance(truth, Truth):
            found = Drift(record=record.id, state="not built")
        elif dead:
            found = Drift(record=record.id, state="not tried", rows_then=len(truth.table))
        else:
            found = _checked(record, truth, endpoint)
        dead = dead or isinstance(found.error, Unreachable)
        progress(found)
        done.append(found)
    return tuple(done)


def _checked(record: Record, truth: Truth, endpoint: Endpoint) -> Drift:
    then = truth.table
    try:
        now = endpoint.select(record.query).table
        first_was_empty = len(now) == 0 < len(then)
        if first_was_empty:  # an endpoint that is reloading answers with nothing for a while
            now = endpoint.select(record.query).table
    except UnreadableData:
        raise
    except (InputError, OutsideFailure) as error:
        return Drift(record=record.id, state="failed", rows_then=len(then), error=error)
    outline = shape(record.query)
    state, lost, gained = compare(then, now, outline.order_columns() if outline and outline.limit else ())
    if first_was_empty and state in ("stable", "tie-unstable"):
        state = "transiently empty"
    return Drift(record=record.id, state=state, rows_then=len(then), rows_now=len(now), lost=lost, gained=gained)
