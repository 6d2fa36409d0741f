"""The corpus a command was pointed at, with every file good and the filters applied: what all commands begin with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.corpus.select import Selection, select
from okn_benchmark.corpus.source import Corpus, open_corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Filters as the user gave them."""

    corpus: str
    tier: str | None = None
    exclude: Sequence[str] = ()
    limit: int | None = None
    cache: Path | None = None


def choose(choice: Choice) -> tuple[Corpus, Selection]:
    """Open and select.

    Raises:
        InputError: a bad corpus, a bad record, or a filter without effect.
        OutsideFailure: a git source that could not be fetched.
    """
    corpus = open_corpus(choice.corpus, choice.cache)
    corpus.require_good()
    return corpus, select(corpus.records, choice.tier, choice.exclude, choice.limit)
