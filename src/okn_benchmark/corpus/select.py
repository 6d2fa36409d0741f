"""Which records take part: tier, then exclude, then limit. One selector for every command. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from okn_benchmark.corpus.record import Record
from okn_benchmark.errors import InputError


@dataclass(frozen=True, slots=True)
class Excluded:
    """A record kept out, and by what."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The records that take part, those kept out on purpose, and how many the corpus has in all."""

    records: tuple[Record, ...]
    excluded: tuple[Excluded, ...]
    total: int

    def count(self) -> str:
        """``11 of 12 records``."""
        return f"{len(self.records)} of {self.total} record{'' if self.total == 1 else 's'}"


def select(
    records: Sequence[Record], tier: str | None = None, exclude: Sequence[str] = (), limit: int | None = None
) -> Selection:
    """Apply the three filters in their fixed order; the order of ``records`` is kept.

    Raises:
        InputError: an unknown tier, a pattern that takes nothing out, a limit below one, or nothing left.
    """
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit} leaves no question to ask.", hint="Give a number of 1 or more.")
    chosen = _of_tier(records, tier)
    excluded: dict[str, Excluded] = {}
    for pattern in exclude:
        hits = [record.id for record in chosen if fnmatchcase(record.id, pattern)]
        if not hits:
            raise _nothing_excluded(pattern, records, chosen, tier)
        for record_id in hits:
            excluded.setdefault(record_id, Excluded(record_id, f"excluded by --exclude {pattern}"))
    kept = tuple(record for record in chosen if record.id not in excluded)
    if not kept:
        raise InputError(
            f"Every one of the {len(chosen)} records is excluded, so nothing is left to ask.",
            hint="Give fewer --exclude patterns.",
        )
    in_order = tuple(excluded[record.id] for record in chosen if record.id in excluded)
    return Selection(records=kept[:limit], excluded=in_order, total=len(records))


def tiers(records: Sequence[Record]) -> tuple[str, ...]:
    """The tiers there are, in order of their names; records without one add nothing."""
    return tuple(sorted({record.tier for record in records if record.tier is not None}))


def _of_tier(records: Sequence[Record], tier: str | None) -> list[Record]:
    if tier is None:
        return list(records)
    chosen = [record for record in records if record.tier == tier]
    if not chosen:
        there = ", ".join(tiers(records)) or "none, since no file name has an underscore"
        raise InputError(f"No record is of tier {tier!r}.", hint=f"Tiers in this corpus: {there}.")
    return chosen


def _nothing_excluded(
    pattern: str, records: Sequence[Record], chosen: Sequence[Record], tier: str | None
) -> InputError:
    elsewhere = [record.id for record in records if fnmatchcase(record.id, pattern)]
    message = f"--exclude {pattern!r} takes nothing out"
    if elsewhere:
        message += f" of tier {tier!r}, though it matches in another: {', '.join(elsewhere)}"
    ids = ", ".join(record.id for record in chosen)
    return InputError(f"{message}.", hint=f"Ids there are: {ids}.")
