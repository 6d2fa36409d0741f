"""IRIs: whole where whole is given, short where short is given, and never two things under one name.

A candidate with ``://`` is compared whole. Only a candidate without it is read as a short form: a local name, a
relative tail, or a CURIE. Where two IRIs of one reference column share a short form, the column reads none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from okn_benchmark.scoring.settings import Guard, shown

_JOINT: Final = re.compile("[_:]")
_LONGEST_PREFIX: Final = 64  # of a CURIE; bounds the ways to split a local name with many underscores


def folded(iri: str) -> str:
    """The IRI without ``<>`` and with ``http`` for ``https``: what is compared when whole IRIs are."""
    if iri.startswith("<") and iri.endswith(">"):
        iri = iri[1:-1]
    return "http" + iri[5:] if iri.startswith("https://") else iri


def local_name(iri: str) -> str:
    """What follows the last ``/`` or ``#``; the whole of an IRI that has neither."""
    return iri[max(iri.rfind("/"), iri.rfind("#")) + 1 :]


class IriRule:
    """How one reference column reads IRIs.

    Args:
        column: its name, for the guard.
        iris: its distinct IRIs.
    """

    def __init__(self, column: str, iris: Iterable[str]) -> None:
        self._names: dict[str, str] = {}  # local name → IRI
        self._tails: dict[str, str] = {}  # shortest relative tail, where it is not the local name → IRI
        self._stems: dict[str, list[str]] = {}  # prefix in lower case → its spellings with the joint: mondo → MONDO_
        self._known_stems: set[str] = set()
        self.guard: Guard | None = None
        clash = self._index(dict.fromkeys(map(folded, iris))) or self._curie_clash()
        if clash is not None:
            self._names, self._tails, self._stems = {}, {}, {}
            one, other, form = map(shown, clash)
            self.guard = Guard(
                guard="short_forms",
                column=column,
                reason=f"{one} and {other} share the short form {form}, so this column compares whole IRIs.",
            )

    def key(self, iri: str) -> str:
        """The class of a reference IRI."""
        return "u" + folded(iri)

    def keys(self, text: str) -> Sequence[str]:
        """The classes a candidate may stand for."""
        bare = folded(text)
        if not bare or "://" in bare:
            return ("u" + bare,)
        named = self._names.get(bare) or self._curie(bare) or self._under_tail(bare)
        return ("u" + bare,) if named is None else ("u" + bare, "u" + named)

    def _under_tail(self, short: str) -> str | None:
        if "/" not in short and not self._tails:
            return None
        tail = _last_tail("/" + short)
        iri = self._tails.get(tail) or self._names.get(tail)
        return iri if iri is not None and iri.endswith("/" + short) else None

    def _curie(self, short: str) -> str | None:
        prefix, colon, local = short.partition(":")
        if not colon or not prefix or not local or len(prefix) > _LONGEST_PREFIX:
            return None
        return next((iri for iri in self._denoted(prefix, local)), None)

    def _denoted(self, prefix: str, local: str) -> Iterator[str]:
        """The IRIs that a CURIE may name."""
        for stem in self._stems.get(prefix.lower(), ()):
            if stem + local in self._names:
                yield self._names[stem + local]
        iri = self._names.get(local)
        if iri is not None and prefix.lower() in _segments(iri):
            yield iri

    def _index(self, iris: Iterable[str]) -> tuple[str, str, str] | None:
        """Fill the indexes; the first two IRIs that share a local name or a tail, and which."""
        for iri in iris:
            name = local_name(iri)
            if name and self._names.setdefault(name, iri) != iri:
                return self._names[name], iri, name
            if not name or "#" in iri:  # only then is the shortest tail longer than the name
                tail = _last_tail(iri)
                if tail and self._tails.setdefault(tail, iri) != iri:
                    return self._tails[tail], iri, tail
            for stem, _ in _splits(name):
                if stem not in self._known_stems:
                    self._known_stems.add(stem)
                    self._stems.setdefault(stem[:-1].lower(), []).append(stem)
        return None

    def _curie_clash(self) -> tuple[str, str, str] | None:
        """``MONDO:1`` may stand for ``…/MONDO_1`` and for ``…/mondo/1``: two IRIs that share a CURIE, and the CURIE."""
        one_spelling = len(self._stems) == len(self._known_stems)
        for name, iri in self._names.items():
            for stem, local in _splits(name):
                if one_spelling and local not in self._names:
                    continue  # nothing else can be meant
                for other in self._denoted(stem[:-1], local):
                    if other != iri:
                        return iri, other, f"{stem[:-1]}:{local}"
        return None


def _last_tail(iri: str) -> str:
    """The shortest text after a ``/``; longer than the local name where that is empty or follows a ``#``."""
    at = iri.rfind("/", 0, len(iri) - 1)
    return iri[at + 1 :] if at >= 0 else ""


def _splits(name: str) -> Sequence[tuple[str, str]]:
    """The ways to read a local name as a prefix with its joint (``_`` or ``:``) and the rest."""
    underscore, colon = name.find("_"), name.find(":")
    if underscore < 0 and colon < 0:
        return ()
    first = max(underscore, colon) if underscore < 0 or colon < 0 else min(underscore, colon)
    if 0 < first < _LONGEST_PREFIX and name.find("_", first + 1) < 0 and name.find(":", first + 1) < 0:
        return ((name[: first + 1], name[first + 1 :]),) if first < len(name) - 1 else ()
    ends = (match.end() for match in _JOINT.finditer(name, 1, _LONGEST_PREFIX + 1))
    return [(name[:end], name[end:]) for end in ends if end < len(name)]


def _segments(iri: str) -> set[str]:
    """The path segments above the local name, in lower case; the host is none."""
    scheme, mark, rest = iri.lower().partition("://")
    above = (rest if mark else scheme).removesuffix(local_name(iri).lower()).rstrip("#/").split("/")
    return set(above[1:] if mark else above)
