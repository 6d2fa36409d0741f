"""A SPARQL text as tokens: enough to see what a query is without an engine, and to rewrite names in place. Pure.

A local name with two dots (``kwgr:administrativeRegion.USA.13``) is legal and common in spatial graphs, and the
embedded engine refuses it. ``expand_dotted`` writes such names out as IRIs and leaves every other character alone,
so that line and column of the engine's own messages stay true for all that comes before on the line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["comment", "iri", "string", "name", "variable", "blank", "language", "number", "word", "sign"]

_START: Final = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_INNER: Final = _START + r"_0-9\-\u00B7\u0300-\u036F\u203F-\u2040"
_ESCAPED: Final = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
# Bounded: a long run without a colon would be scanned anew from each of its characters.
_PREFIX: Final = rf"(?:[{_START}](?:[{_INNER}.]{{0,100}}[{_INNER}])?)?:"
# The tail takes runs of dots only with a name character behind them, so the full stop of a triple is left out.
_LOCAL: Final = rf"(?:[{_START}_:0-9]|{_ESCAPED})(?:\.*(?:[{_INNER}:]|{_ESCAPED}))*"

# A string that nobody closes runs to the end of its line or text. Giving it up and starting anew behind its first
# quote would cost the square of the length, and a query comes from a stranger.
_TOKEN: Final = re.compile(
    rf"""
      (?P<comment>\#[^\r\n]*)
    | (?P<iri><[^<>"{{}}|^`\\\x00-\x20]*(?:\\u[0-9A-Fa-f]{{4}}[^<>"{{}}|^`\\\x00-\x20]*)*>)
    | (?P<string>\"\"\"(?:(?:\"\"?)?(?:[^"\\]|\\.))*(?:\"\"\"|\"*\\?\Z)|\'\'\'(?:(?:''?)?(?:[^'\\]|\\.))*(?:'''|'*\\?\Z)
                |"(?:[^"\\\r\n]|\\.)*(?:"|\\?(?=[\r\n]|\Z))|'(?:[^'\\\r\n]|\\.)*(?:'|\\?(?=[\r\n]|\Z)))
    | (?P<blank>_:[{_START}_0-9](?:[{_INNER}.]*[{_INNER}])?)
    | (?P<name>{_PREFIX}(?:{_LOCAL})?)
    | (?P<variable>[?$][{_START}_0-9][{_INNER}]*)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>\^\^|&&|\|\||[<>!]=|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token; ``start`` is its offset in the text."""

    kind: Kind
    text: str
    start: int

    def says(self, *words: str) -> bool:
        """Whether this is one of the keywords (given in capitals)."""
        return self.kind == "word" and self.text.upper() in words


Form: TypeAlias = Literal["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]
FORMS: Final[tuple[Form, ...]] = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")


def tokens(query: str) -> Iterator[Token]:
    """Every token of ``query`` but white space and comments. Anything at all is accepted; nothing is judged."""
    for match in _TOKEN.finditer(query):
        kind = match.lastgroup
        if kind is not None and kind != "comment":
            yield Token(kind, match.group(), match.start())  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What can be said of a query without running it."""

    form: Form | None
    """None where no query form opens the text, as in an update."""
    has_dataset: bool
    """Whether it names its own graphs with FROM or FROM NAMED."""
    service: int | None
    """Offset of the first SERVICE keyword."""


def outline(query: str) -> Outline:
    """Form, dataset clause and SERVICE of a query. A name such as ``ex:SERVICE`` or ``?from`` is none of them."""
    form: Form | None = None
    has_dataset, service, depth, prologue = False, None, 0, True
    for token in tokens(query):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if token.kind != "word":
            continue
        if prologue and not token.says("PREFIX", "BASE"):
            prologue = False
            form = next((known for known in FORMS if token.says(known)), None)
        has_dataset = has_dataset or (depth == 0 and token.says("FROM"))
        if service is None and token.says("SERVICE"):
            service = token.start
    return Outline(form=form, has_dataset=has_dataset, service=service)


def prefixes(query: str) -> dict[str, str]:
    """Declared prefixes, colon left out, to IRIs as written."""
    found: dict[str, str] = {}
    seen = list(tokens(query))
    for word, name, value in zip(seen, seen[1:], seen[2:], strict=False):
        if word.says("PREFIX") and name.kind == "name" and name.text.endswith(":") and value.kind == "iri":
            found[name.text[:-1]] = value.text[1:-1]
    return found


def expand_dotted(query: str) -> str:
    """``query`` with every prefixed name of two dots or more written out as an IRI; unknown prefixes are left."""
    known = prefixes(query)
    pieces, done = [], 0
    for token in tokens(query):
        expanded = _expanded(token, known)
        if expanded is not None:
            gap = " " if query[token.start - 1 : token.start] == "<" else ""  # "<<" would open a quoted triple
            pieces += [query[done : token.start], gap + expanded]
            done = token.start + len(token.text)
    return "".join([*pieces, query[done:]]) if pieces else query


def _expanded(token: Token, known: Mapping[str, str]) -> str | None:
    if token.kind != "name" or token.text.count(".") < 2:
        return None
    prefix, _, local = token.text.partition(":")
    if prefix not in known or local.count(".") < 2:
        return None
    plain = re.sub(r"\\(.)", r"\1", local)
    return f"<{known[prefix]}{plain}>"


def line_of(text: str, offset: int) -> int:
    """The line number, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1
