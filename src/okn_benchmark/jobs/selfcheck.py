"""``selfcheck``: is the judge wired rightly for this corpus? Each key against itself and against damaged copies.

``check_key`` is pure; the command reads the truth that ``reference`` cached and asks no endpoint.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from okn_benchmark.corpus.select import Selection
from okn_benchmark.errors import Refusal
from okn_benchmark.jobs.choose import Choice, choose
from okn_benchmark.jobs.elsewhere import way_out
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.reference.cache import Cache, Truth, load_truth
from okn_benchmark.scoring.damage import Unfit, damaged, harmless
from okn_benchmark.scoring.settings import Guard, Settings
from okn_benchmark.scoring.verdict import Key, judge_key
from okn_benchmark.sparql.endpoint import open_endpoint
from okn_benchmark.sparql.results import csv_text
from okn_benchmark.table import Table

_NAMED: Final = 5
_NOTHING_OPENS_S: Final = 10.0  # no query is run; the name of the endpoint is all that is wanted of it


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCheck:
    """One record. ``unfit``: kinds of copy its key cannot have → why. Sound when there is no fault."""

    record: str
    rows: int
    columns: int
    guards: tuple[Guard, ...]
    copies: int
    unfit: Mapping[str, str]
    faults: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "id": self.record,
            "rows": self.rows,
            "columns": self.columns,
            "guards": [guard.to_json() for guard in self.guards],
            "copies": self.copies,
            "unfit": dict(self.unfit),
            "faults": list(self.faults),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfcheckReport:
    """What one ``selfcheck`` found."""

    endpoint: str
    selection: Selection
    checks: tuple[KeyCheck, ...]
    settings: Settings

    def exit_code(self) -> int:
        """1 when something is wrong."""
        return 1 if any(check.faults for check in self.checks) else 0

    def summary(self) -> str:
        """One sentence with every count."""
        copies = sum(check.copies for check in self.checks)
        faults = sum(len(check.faults) for check in self.checks)
        guarded = sum(bool(check.guards) for check in self.checks)
        return (
            f"{self.selection.count()}: every key judged against itself and {copies} copies; "
            f"{faults or 'no'} fault{'' if faults == 1 else 's'}; guards fire on {guarded}."
        )

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "schema": "selfcheck/1",
            "endpoint": self.endpoint,
            "settings": self.settings.to_json(),
            "faults": sum(len(check.faults) for check in self.checks),
            "records": [check.to_json() for check in self.checks],
            "excluded": [{"id": out.id, "reason": out.reason} for out in self.selection.excluded],
        }


def check_key(
    record: str, table: Table, settings: Settings, traps: Mapping[str, Table], *, may_be_empty: bool = False
) -> KeyCheck:
    """Judge a key against its own CSV, against every copy, and against the record's traps. Pure."""
    key = Key(table, settings)
    faults = list(_own_faults(key, traps))
    if not table.rows and not may_be_empty:
        faults.append("the key has no rows and its record does not declare that: any empty answer would be exact.")
    unfit: dict[str, str] = {}
    copies = 0
    for copy in (*damaged(table), *harmless(table, frozenset(guard.guard for guard in key.guards))):
        if isinstance(copy, Unfit):
            unfit[copy.kind] = copy.reason
        else:
            copies += 1
            faults.extend(copy.faults(judge_key(key, copy.submitted)))
    return KeyCheck(
        record=record,
        rows=len(table),
        columns=len(table.columns),
        guards=key.guards,
        copies=copies,
        unfit=unfit,
        faults=tuple(faults),
    )


def _own_faults(key: Key, traps: Mapping[str, Table]) -> list[str]:
    own = judge_key(key, csv_text(key.table).encode("utf-8"), traps)
    names = ("exact", "strict_exact", "ordered", "strict_ordered")
    faults = [f"its own CSV: {name} is false." for name in names if not getattr(own, name)]
    faults += [f"its own CSV: {name} is not 1." for name in ("f1", "strict_f1") if getattr(own, name) != 1.0]
    return faults + [
        f"the trap {name!r} equals the key, so no answer can be told to be right." for name in own.trap.names
    ]


def selfcheck(
    choice: Choice, endpoint_spec: str, settings: Settings, progress: Callable[[KeyCheck], None]
) -> SelfcheckReport:
    """Check every selected record against the truth cached for this endpoint.

    Raises:
        InputError: the corpus, a filter or the endpoint cannot be used.
        Refusal: a record's truth is missing or stale.
    """
    _, selection = choose(choice)
    with open_endpoint(endpoint_spec, timeout_s=_NOTHING_OPENS_S) as endpoint:
        name = endpoint.name
    cache = Cache.at(choice.cache)
    loaded = [(record, load_truth(cache, name, record)) for record in selection.records]
    lacking = [record.id for record, truth in loaded if not isinstance(truth, Truth)]
    if lacking:
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        own = f" --cache {choice.cache}" if choice.cache is not None else ""
        command = f"okn-benchmark reference --corpus {choice.corpus} --endpoint {endpoint_spec}{own}"
        raise Refusal(
            f"There is no current ground truth at {name} for {', '.join(lacking[:_NAMED])}{more}.",
            hint=way_out(cache, name, selection.records, command),
        )
    checks = []
    for record, truth in loaded:
        if isinstance(truth, Truth):
            checks.append(check_key(record.id, truth.table, settings, truth.traps, may_be_empty=record.empty))
            progress(checks[-1])
    return SelfcheckReport(endpoint=name, selection=selection, checks=tuple(checks), settings=settings)
