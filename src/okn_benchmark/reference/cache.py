"""Ground truth kept between runs, by endpoint and by the text of the query.

``<cache>/truth/<endpoint>/<record>--<fingerprint>.json`` holds the very object that becomes ``ground_truth.json`` in
a runs root. Rows of one endpoint are never read for another, and an edited query finds no file.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from okn_benchmark.corpus.record import Record, fingerprint
from okn_benchmark.errors import InputError
from okn_benchmark.files import replace_whole
from okn_benchmark.jsonio import pretty
from okn_benchmark.places import cache_home
from okn_benchmark.reference.traps import trap_marks
from okn_benchmark.runs.readers import read_truth, truth_json
from okn_benchmark.runs.shapes import TruthRecord
from okn_benchmark.sparql.results import read_results
from okn_benchmark.table import Table

_MARKS: Final = "trap_marks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The rows that answer a record, where and when they were found, and the wrong answers it expects."""

    table: Table
    document: dict[str, Any] = field(repr=False)
    fingerprint: str
    endpoint: str
    engine: str | None
    retrieved_at: str | None
    elapsed_s: float | None
    warnings: tuple[str, ...]
    traps: Mapping[str, Table]
    file: TruthRecord = field(repr=False)
    """What ``ground_truth.json`` of a runs root holds."""


@dataclass(frozen=True, slots=True)
class Missing:
    """This endpoint was never asked this record."""

    record: str


@dataclass(frozen=True, slots=True)
class Stale:
    """This endpoint was asked, but for another text of the query or of a trap."""

    record: str


Loaded: TypeAlias = Truth | Missing | Stale


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of truth; it need not exist yet."""

    root: Path

    @classmethod
    def at(cls, override: Path | None = None) -> "Cache":
        """The user's cache, or the folder that ``--cache`` named."""
        return cls(cache_home(override) / "truth")

    def folder(self, endpoint_name: str) -> Path:
        """Where one endpoint's truth lies: a readable part and a digest of the whole name."""
        readable = re.sub(r"[^A-Za-z0-9.@-]+", "-", endpoint_name.partition("://")[2] or endpoint_name).strip("-.")
        digest = hashlib.sha256(endpoint_name.encode()).hexdigest()[:12]
        return self.root / f"{readable[:80]}-{digest}"

    def path(self, endpoint_name: str, record: Record) -> Path:
        """The file of one record's present query text."""
        return self.folder(endpoint_name) / f"{record.id}--{fingerprint(record.query)[:16]}.json"

    def keep(self, truth: TruthRecord, record: Record) -> None:
        """Store what an endpoint answered.

        Raises:
            OutsideFailure: the folder cannot be written.
        """
        kept = replace(truth, extra={**truth.extra, _MARKS: trap_marks(record)})
        replace_whole(self.path(truth.endpoint, record), pretty(truth_json(kept)))


def load_truth(cache: Cache, endpoint_name: str, record: Record) -> Loaded:
    """What the cache holds for the record as it is now. A file that cannot be read counts as missing."""
    path = cache.path(endpoint_name, record)
    if not path.is_file():
        others = path.parent.glob(f"{record.id}--*.json") if path.parent.is_dir() else ()
        return Stale(record.id) if any(others) else Missing(record.id)
    try:
        file = read_truth(path.read_bytes(), path.name)
        table = read_results(file.results, path.name)
        traps = {name: read_results(rows, f"{path.name}: {name}") for name, rows in file.traps.items()}
    except (OSError, InputError):
        return Missing(record.id)
    if file.endpoint != endpoint_name or file.fingerprint != fingerprint(record.query):
        return Missing(record.id)
    if file.extra.get(_MARKS) != trap_marks(record):
        return Stale(record.id)
    extra = {key: value for key, value in file.extra.items() if key != _MARKS}
    return Truth(
        table=table,
        document=dict(file.results),
        fingerprint=file.fingerprint,
        endpoint=file.endpoint,
        engine=file.engine,
        retrieved_at=file.retrieved_at,
        elapsed_s=file.elapsed_s,
        warnings=file.warnings,
        traps=traps,
        file=replace(file, tier=record.tier, tags=record.tags, extra=extra),
    )


def endpoints_with(cache: Cache, records: Sequence[Record]) -> dict[str, int]:
    """Name of each endpoint the cache has current truth from → for how many of these records; sorted by name."""
    found: dict[str, int] = {}
    for record in records:
        for path in cache.root.glob(f"*/{record.id}--{fingerprint(record.query)[:16]}.json"):
            try:
                name = read_truth(path.read_bytes(), path.name).endpoint
            except (OSError, InputError):
                continue
            if isinstance(load_truth(cache, name, record), Truth):
                found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))
