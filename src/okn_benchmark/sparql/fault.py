"""Why a query text cannot be read, in words for its author. Pure; the engine's parser is handed in.

The embedded engine refuses some texts that other engines run: functions of a vendor, and prefixes that an engine
knows without a declaration. Such a text is ``doubtful``. Whatever else its parser refuses is a fault of the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

from okn_benchmark.sparql.tokens import line_of, prefixes, tokens

Parser: TypeAlias = Callable[[str], str | None]
"""An engine's parser: its complaint about a query text, or None."""

_KEYWORDS: Final = (
    "A ABS ADJUST AS ASC ASK AVG BASE BIND BNODE BOUND BY CEIL COALESCE CONCAT CONSTRUCT CONTAINS COUNT DATATYPE DAY "
    "DESC DESCRIBE DISTINCT ENCODE_FOR_URI EXISTS FALSE FILTER FLOOR FROM GRAPH GROUP GROUP_CONCAT HASLANG "
    "HASLANGDIR HAVING HOURS IF IN IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISTRIPLE ISURI LANG LANGDIR LANGMATCHES "
    "LATERAL LCASE LIMIT MAX MD5 MIN MINUS MINUTES MONTH NAMED NOT NOW OBJECT OFFSET OPTIONAL ORDER PREDICATE PREFIX "
    "RAND REDUCED REGEX REPLACE ROUND SAMETERM SAMPLE SECONDS SELECT SEPARATOR SERVICE SHA1 SHA256 SHA384 SHA512 "
    "SILENT STR STRAFTER STRBEFORE STRDT STRENDS STRLANG STRLANGDIR STRLEN STRSTARTS STRUUID SUBJECT SUBSTR SUM "
    "TIMEZONE TRIPLE TRUE TZ UCASE UNDEF UNION URI UUID VALUES VERSION WHERE YEAR"
)
_WORDS: Final = frozenset(_KEYWORDS.split())
_PLACE: Final = re.compile(r"error at (\d+):\d+: expected (?:one of )?(.*)", re.DOTALL)
_CLASS: Final = re.compile(r"(?<!\")\[(?:'(?:\\?.|\\u\{[0-9A-F]+\})'|[^\]'])*\]", re.DOTALL)
_LEGIBLE: Final = ("Prefix not found", "The SELECT contains a variable that is unbound")
_LINE_SHOWN: Final = 240
_EXPECTED_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """``reason`` without a full stop; ``line`` counts from 1 within the query, None where the engine names none."""

    reason: str
    line: int | None
    doubtful: bool


def fault(query: str, parser: Parser) -> Fault | None:
    """What is wrong with a query text, or None where it can be read. Raises what ``parser`` raises."""
    complaint = parser(query)
    if complaint is None:
        return None
    strange = _undeclared(query)
    declared = parser("".join(f"PREFIX {name}: <urn:p> " for name in strange) + query) if strange else complaint
    if declared is None or not _PLACE.match(declared):
        if strange:
            name, line = next(iter(strange.items()))
            return Fault(reason=f"the prefix '{name}:' is not declared", line=line, doubtful=True)
        return Fault(reason=" ".join(complaint.split()).rstrip("."), line=None, doubtful=True)
    return _misspelt(query) or _placed(query, declared)


def _undeclared(query: str) -> dict[str, int]:
    """Prefixes that are used and not declared → the line of their first use."""
    known = prefixes(query)
    found: dict[str, int] = {}
    for token in tokens(query):
        name = token.text.partition(":")[0]
        if token.kind == "name" and name not in known:
            found.setdefault(name, line_of(query, token.start))
    return found


def _misspelt(query: str) -> Fault | None:
    """The first word that SPARQL does not have, where it is close to one that it has."""
    for token in tokens(query):
        if token.kind == "word" and token.text.upper() not in _WORDS:
            close = get_close_matches(token.text.upper(), _WORDS, n=1, cutoff=0.75)
            if close:
                reason = f"SPARQL has no word {token.text!r}; {close[0]} may be meant"
                return Fault(reason=reason, line=line_of(query, token.start), doubtful=False)
    return None


def _placed(query: str, complaint: str) -> Fault:
    """The engine's words with the line they are about; its lists of characters are left out, they explain nothing."""
    place = _PLACE.match(complaint)
    assert place is not None
    lines = query.split("\n")
    line = min(int(place.group(1)), len(lines))
    named = next((words for words in _LEGIBLE if words in place.group(2)), None)
    expected = [part.strip() for part in _CLASS.sub("", " ".join(place.group(2).split())).split(", ")]
    expected = [part for part in expected if part]
    expected = expected if len(expected) <= _EXPECTED_SHOWN else []
    text = lines[line - 1].strip()
    near = f"near {text[:_LINE_SHOWN] + ('…' if len(text) > _LINE_SHOWN else '')!r}"
    why = named[0].lower() + named[1:] if named else f"expected {' or '.join(expected)}" if expected else ""
    return Fault(reason=f"{near}{': ' if why else ''}{why}", line=line, doubtful=False)
