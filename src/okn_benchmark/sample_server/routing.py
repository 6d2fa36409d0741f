"""Rank graphs for a question by the words they share. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_SAY_NOTHING: Final = (
    "about above after all also among and any are been before below between both but can could count did does each "
    "every few first five for from give given had has have how into its least less list many more most name names "
    "number not one only order other over per return row rows same should show some such ten than that the their them "
    "then there these they this those three two under used using was were what when where which while who whose why "
    "will with within without would you highest lowest value values kind kinds type types label labels id iri"
)
_STOP: Final = frozenset(_SAY_NOTHING.split())


@dataclass(frozen=True, slots=True)
class Match:
    """One graph and the words that spoke for it, the heaviest first."""

    shortname: str
    score: float
    words: tuple[str, ...]


def stems(text: str) -> frozenset[str]:
    """Lower-case word stems of three letters and more; words that say nothing are left out."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])|\d*[a-z]+\d*", text)
    return frozenset(_stem(word.lower()) for word in pieces if len(word) > 2 and word.lower() not in _STOP)


def _stem(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


def rank(question: str, vocabularies: Mapping[str, Mapping[str, float]], limit: int = 5) -> tuple[Match, ...]:
    """Graphs by shared words; a word weighs less the more graphs have it. Graphs that share none are left out."""
    asked = stems(question)
    holders = {word: sum(word in words for words in vocabularies.values()) for word in asked}
    found = []
    for shortname, words in vocabularies.items():
        shared = {word: words[word] / holders[word] for word in asked if word in words}
        if shared:
            order = tuple(sorted(shared, key=lambda word: (-shared[word], word)))
            found.append(Match(shortname, round(sum(shared.values()), 3), order))
    return tuple(sorted(found, key=lambda match: (-match.score, match.shortname))[:limit])


def weigh(title: str, schema: Iterable[str], labels: Iterable[str]) -> dict[str, float]:
    """The words of a graph with their weights: its title above its schema, its schema above its data."""
    weights: dict[str, float] = {}
    for weight, texts in ((1.0, labels), (2.0, schema), (3.0, (title,))):
        for text in texts:
            weights |= dict.fromkeys(stems(text), weight)
    return weights
