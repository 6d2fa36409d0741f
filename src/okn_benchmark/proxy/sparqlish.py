"""Is a string a SPARQL query? Enough to count queries whatever a server calls its tools and arguments. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_SKIP: Final = re.compile(
    r"(?:\s+|#[^\n]*(?:\n|$)|BASE\s*<[^>]*>|PREFIX\s+[^\s:]*:\s*<[^>]*>)",
    re.IGNORECASE,
)
_FORM: Final = re.compile(
    r"(?:SELECT(?:\s+(?:DISTINCT|REDUCED))?\s*[*?$(]|(?:ASK|CONSTRUCT)\s*(?:\{|WHERE\b|FROM\b)"
    r"|DESCRIBE\s*(?:[*?$<]|[\w.-]*:))",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"\s*```[a-z]*\n?", re.IGNORECASE)
_DEEPEST: Final = 8


def is_sparql(text: str) -> bool:
    """Whether ``text`` is a query form after comments and prologue; prose that begins with *select* is not."""
    fence = _FENCE.match(text)
    at = fence.end() if fence else 0
    while skipped := _SKIP.match(text, at):
        at = skipped.end()
    return _FORM.match(text, at) is not None


def holds_query(arguments: Any) -> bool:
    """Whether any string in ``arguments``, at any depth, is a query."""
    return any(is_sparql(text) for text in _strings(arguments, 0))


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST:
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for item in inner:
            yield from _strings(item, depth + 1)
