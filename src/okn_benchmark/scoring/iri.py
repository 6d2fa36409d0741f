"""IRIs: whole where whole is given, short where short is given, and never two things under one name.

A candidate with ``://`` is compared whole. Only a candidate without it is read as a short form: a local name, a
relative tail, or a CURIE. Where two IRIs of one reference column share a short form, the column reads none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
        self._iris = list(dict.fromkeys(map(folded, iris)))
        self._index: _Index | None = None
        self.guard: Guard | None = None
        clash = _shared_name(self._iris)
        if clash is not None:
            self._index = _Index({}, {}, {})
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
        if self._index is None:
            self._index = _indexed(self._iris)
        named = self._index.names.get(bare) or self._index.curie(bare) or self._index.under_tail(bare)
        return ("u" + bare,) if named is None else ("u" + bare, "u" + named)


@dataclass(frozen=True, slots=True)
class _Index:
    """Short form → IRI, made when the first short form is read."""

    names: dict[str, str]
    """By local name."""
    tails: dict[str, str]
    """By shortest relative tail, where that is longer than the local name."""
    stems: dict[str, list[str]]
    """The spellings of a prefix, by its lower case and with the joint: ``mondo`` → ``MONDO_``."""

    def under_tail(self, short: str) -> str | None:
        """The IRI that ends with a slash and this."""
        if "/" not in short and not self.tails:
            return None
        tail = _last_tail("/" + short)
        iri = self.tails.get(tail) or self.names.get(tail)
        return iri if iri is not None and iri.endswith("/" + short) else None

    def curie(self, short: str) -> str | None:
        """The IRI that a CURIE names."""
        prefix, colon, local = short.partition(":")
        if not colon or not prefix or not local or len(prefix) > _LONGEST_PREFIX:
            return None
        return next(self.denoted(prefix, local), None)

    def denoted(self, prefix: str, local: str) -> Iterator[str]:
        """The IRIs that a CURIE may name."""
        for stem in self.stems.get(prefix.lower(), ()):
            if stem + local in self.names:
                yield self.names[stem + local]
        iri = self.names.get(local)
        if iri is not None and prefix.lower() in _segments(iri):
            yield iri


def _indexed(iris: Sequence[str]) -> _Index:
    names = {name: iri for iri in iris if (name := local_name(iri))}
    tails = {tail: iri for iri in iris if (tail := _long_tail(iri))}
    return _Index(names, tails, _stems(names))


def _stems(names: Iterable[str]) -> dict[str, list[str]]:
    every = dict.fromkeys(stem for name in names for stem, _ in _splits(name))
    stems: dict[str, list[str]] = {}
    for stem in every:
        stems.setdefault(stem[:-1].lower(), []).append(stem)
    return stems


def _shared_name(iris: Sequence[str]) -> tuple[str, str, str] | None:
    """Two IRIs that share a short form, and the form: a local name, a tail, or a CURIE."""
    names = [local_name(iri) for iri in iris]
    known = set(names)
    if len(known) < len(iris) and (clash := _repeated(iris, names)) is not None:
        return clash
    if ("" in known or any("#" in iri for iri in iris)) and (
        clash := _repeated(iris, [_long_tail(iri) for iri in iris])
    ) is not None:
        return clash
    stems: set[str] = set()
    doubtful = False
    for name in names:
        for stem, local in _splits(name):
            stems.add(stem)
            doubtful = doubtful or local in known
    if doubtful or len({stem[:-1].lower() for stem in stems}) < len(stems):
        return _curie_clash(_indexed(iris))
    return None


def _repeated(iris: Sequence[str], forms: Sequence[str]) -> tuple[str, str, str] | None:
    seen: dict[str, str] = {}
    for iri, form in zip(iris, forms, strict=True):
        if form and seen.setdefault(form, iri) != iri:
            return seen[form], iri, form
    return None


def _curie_clash(index: _Index) -> tuple[str, str, str] | None:
    """``MONDO:1`` may stand for ``…/MONDO_1`` and for ``…/mondo/1``: two IRIs that share a CURIE, and the CURIE."""
    for name, iri in index.names.items():
        for stem, local in _splits(name):
            for other in index.denoted(stem[:-1], local):
                if other != iri:
                    return iri, other, f"{stem[:-1]}:{local}"
    return None


def _long_tail(iri: str) -> str:
    """The shortest tail, where it is longer than the local name: that is empty, or follows a ``#``."""
    return _last_tail(iri) if "#" in iri or iri.endswith("/") else ""


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
