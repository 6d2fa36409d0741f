"""``corpus list``: what is in a corpus and what the filters leave of it."""

from collections import Counter
from dataclasses import dataclass

from okn_benchmark.corpus.record import Record
from okn_benchmark.corpus.select import Excluded, Selection, select
from okn_benchmark.corpus.source import Corpus, open_corpus
from okn_benchmark.jobs.choose import Choice
from okn_benchmark.jsonio import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A corpus and a selection of it."""

    corpus: Corpus
    selection: Selection

    def exit_code(self) -> int:
        """1 where a file is no record."""
        return 1 if self.corpus.bad else 0

    def lines(self) -> list[str]:
        """One line per record: id, tier (a dash for none), tags."""
        rows = [(record.id, record.tier or "-", " ".join(record.tags) or "-") for record in self.selection.records]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
        return [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows]

    def summary(self) -> list[str]:
        """The count, the tiers, where the files stand, what was kept out."""
        corpus, selection = self.corpus, self.selection
        counts = Counter(record.tier or "none" for record in corpus.records)
        lines = [selection.count()]
        lines.append("tiers: " + (", ".join(f"{tier} {n}" for tier, n in sorted(counts.items())) or "none"))
        if corpus.commit:
            state = {True: ", edited since", False: "", None: ", state unknown"}[corpus.dirty]
            lines.append(f"commit: {corpus.commit}{state}")
        lines += [f"kept out: {out.id} ({out.reason})" for out in selection.excluded]
        return lines

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "schema": "corpus-list/1",
            "source": self.corpus.source,
            "commit": self.corpus.commit,
            "dirty": self.corpus.dirty,
            "total": self.selection.total,
            "records": [_entry(record) for record in self.selection.records],
            "excluded": [{"id": out.id, "reason": out.reason} for out in self.selection.excluded],
            "bad": [{"file": bad.name, "line": bad.line, "message": bad.message} for bad in self.corpus.bad],
        }


def _entry(record: Record) -> JsonObject:
    return {
        "id": record.id,
        "tier": record.tier,
        "tags": list(record.tags),
        "traps": list(record.traps),
        "empty": record.empty,
        "summary": record.summary,
    }


def list_corpus(choice: Choice, *, refresh: bool = False) -> Listing:
    """Open and select; files that are no records are kept for the listing.

    Raises:
        InputError: no corpus, or a filter without effect.
        OutsideFailure: a git source that could not be fetched.
    """
    corpus = open_corpus(choice.corpus, choice.cache, refresh=refresh)
    if not corpus.records:
        nothing: tuple[Excluded, ...] = ()
        return Listing(corpus=corpus, selection=Selection(records=(), excluded=nothing, total=0))
    return Listing(corpus=corpus, selection=select(corpus.records, choice.tier, choice.exclude, choice.limit))
