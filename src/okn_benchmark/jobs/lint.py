"""What can be said of a record from its text alone. Pure; every rule has a stable code.

An ``error`` is a fault of the record; a ``warning`` is something a person should look at, a ``note`` only to know.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias

from okn_benchmark.corpus.record import QueryTrap, Record, fingerprint, meant
from okn_benchmark.graphs.shortnames import GRAPH_PREFIX, SHORTNAMES
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.sparql.fault import Fault, Parser, fault
from okn_benchmark.sparql.shape import Shape, shape
from okn_benchmark.sparql.tokens import line_of, outline, tokens

Level: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong with one file; ``line`` counts from 1 and is None where it concerns the whole."""

    file: str
    code: str
    level: Level
    message: str
    line: int | None = None

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {"file": self.file, "line": self.line, "level": self.level, "code": self.code, "message": self.message}


def lint_record(record: Record, parser: Parser) -> Iterator[Finding]:
    """Everything the text of one record gives away, query first, then prose, tags and traps.

    Of a key that cannot be read nothing more is said: where its clauses are is a guess then, and so is what a trap
    borrows from it.
    """
    wrong = _fault(record.query, parser)
    found = None if wrong is not None and not wrong.doubtful else shape(record.query)
    if wrong is not None and not wrong.doubtful:
        yield _unread(record, wrong, "the query", record.query_line)
    else:
        yield from _query(record, found, wrong)
    yield from _order(record, found)
    yield from _prose(record, found)
    yield from _tags(record)
    yield from _keys(record)
    if found is not None:
        yield from _scope(record)
    for name, trap in record.traps.items():
        if isinstance(trap, QueryTrap):
            yield from _trap(record, trap.query, name, parser, follows=found is None)


def lint_together(records: Sequence[Record]) -> Iterator[Finding]:
    """What only shows when the records stand side by side: ids, questions and keys that occur twice."""
    for code, words, key in (
        ("duplicate-id", "has an id that differs only in letter case from", lambda r: r.id.lower()),
        ("duplicate-summary", "asks the same question as", lambda r: " ".join(r.summary.lower().split())),
        ("duplicate-key", "has the same query as", lambda r: fingerprint(r.query)),
    ):
        first: dict[str, Record] = {}
        for record in records:
            other = first.setdefault(key(record), record)
            if other is not record:
                level: Level = "error" if code == "duplicate-id" else "warning"
                yield Finding(file=record.path_name, code=code, level=level, message=f"{words} {other.path_name}")


def _query(record: Record, found: Shape | None, wrong: Fault | None) -> Iterator[Finding]:
    seen = outline(record.query)
    if seen.form != "SELECT" or found is None:
        said = f"is a {seen.form} query" if seen.form and seen.form != "SELECT" else "has no SELECT with a body"
        yield _at(record, "not-select", "error", f"{said}; an answer key is a SELECT", record.query_line)
        return
    if seen.service is not None:
        yield _service(record, "the query", record.query_line + line_of(record.query, seen.service) - 1)
    elif wrong is not None:
        yield _unread(record, wrong, "the query", record.query_line)
    if found.star:
        yield _at(
            record, "select-star", "warning", "'SELECT *' leaves columns and their order to the engine; name them"
        )
    if found.makes_blanks:
        yield _at(record, "blank-node", "error", "BNODE() makes labels that differ in every run; return something else")
    if found.inner_limits > found.inner_orders:
        yield _at(record, "inner-limit", "warning", "a subquery has LIMIT without ORDER BY, so its rows are arbitrary")


def _fault(query: str, parser: Parser) -> Fault | None:
    """SERVICE and other forms than SELECT are looked at elsewhere; a text of no form at all is read to learn why."""
    seen = outline(query)
    return None if seen.service is not None or seen.form not in (None, "SELECT") else fault(query, parser)


def _trap(record: Record, query: str, name: str, parser: Parser, *, follows: bool) -> Iterator[Finding]:
    """``follows``: the key cannot be read, so prefixes that the trap borrows from it may be missing for that reason."""
    if outline(query).service is not None:
        yield _service(record, f"trap '{name}'", None)
        return
    wrong = fault(query, parser)
    if wrong is not None and not (follows and wrong.doubtful):
        yield _unread(record, wrong, f"trap '{name}'", None)


def _service(record: Record, what: str, line: int | None) -> Finding:
    return _at(record, "service", "warning", f"{what} uses SERVICE, which the embedded engine refuses", line)


def _unread(record: Record, wrong: Fault, what: str, first_line: int | None) -> Finding:
    line = first_line and first_line + (wrong.line or 1) - 1
    if wrong.doubtful:
        words = f"{what} cannot be read by the embedded engine ({wrong.reason}); try it on the endpoint it is meant for"
        return _at(record, "not-parsed", "warning", words, line)
    return _at(record, "not-parsed", "error", f"{what} is not SPARQL: {wrong.reason}", line)


def _order(record: Record, found: Shape | None) -> Iterator[Finding]:
    if found is None:
        return
    if not found.order:
        if found.limit is not None:
            yield _at(
                record, "limit-without-order", "error", f"LIMIT {found.limit} without ORDER BY takes arbitrary rows"
            )
        else:
            yield _at(record, "no-order", "warning", "there is no ORDER BY, so the order of rows means nothing")
        return
    if found.limit is not None and not _looks_total(found):
        keys = ", ".join("?" + name for key in found.order for name in key.variables)
        message = (
            f"LIMIT {found.limit} is cut by {keys} alone, which may leave ties; add a column that tells rows apart"
        )
        yield _at(record, "order-not-total", "warning", message)


def _looks_total(found: Shape) -> bool:
    """Every column is a key, or all that rows are grouped by, or a column that names the thing a row is about."""
    keys = {key.variables[0] for key in found.order if key.bare}
    columns = set(found.projected) - set(found.computed)
    about = columns & found.subjects
    return columns <= keys or (bool(found.group_by) and set(found.group_by) <= keys) or bool(about & keys)


_NUMBERS: Final = {
    1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten",
    11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen", 18: "eighteen",
    20: "twenty", 24: "twenty-four", 25: "twenty-five", 30: "thirty", 40: "forty", 50: "fifty", 100: "hundred",
}  # fmt: skip
_ORDERING: Final = re.compile(
    r"\b(order|sort|rank|ascending|descending|alphabetical|highest|lowest|largest|smallest|top)"
)
_TIES: Final = re.compile(r"\b(tie|ties|tied|equal|then|followed by|break|broken|within each)\b")


def _prose(record: Record, found: Shape | None) -> Iterator[Finding]:
    prose = record.summary.lower()
    for name in SHORTNAMES:
        loose = r"[-\s]?".join(map(re.escape, name.split("-")))
        if re.search(rf"(?<![\w-]){loose}(?![\w-])", prose) and (name not in _WORDS or name in record.tags):
            yield _at(
                record, "graph-named", "error", f"the summary names the graph {name}, and finding it is half the task"
            )
    if iri := re.search(r"https?://\S+", record.summary):
        yield _at(record, "iri-named", "error", f"the summary gives away an IRI ({iri.group()[:80]})")
    if found is None:
        return
    if found.limit is not None:
        word = _NUMBERS.get(found.limit)
        spelled = rf"|\b{word}\b" if word else ""
        if not re.search(rf"(?<![\d.,]){found.limit:,}(?!\d)|(?<![\d.,]){found.limit}(?!\d){spelled}", prose):
            yield _at(
                record, "limit-not-stated", "error", f"the summary does not say that {found.limit} rows are asked for"
            )
    if found.order and not _ORDERING.search(prose):
        yield _at(record, "order-not-stated", "warning", "the summary states no order, and the key has one")
    elif len(found.order) > 1 and not _TIES.search(prose):
        yield _at(record, "tie-breaker-not-stated", "warning", "the summary names no tie-breaker, and the key has one")
    for column in found.projected:
        if not _mentions(prose, column):
            yield _at(
                record, "column-not-mentioned", "warning", f"no word of the summary stands for the column ?{column}"
            )


_WORDS: Final = frozenset({"scales", "wikidata", "ubergraph"})
"""Shortnames that are words or names of their own: a fault only where the record is about that graph."""


def _mentions(prose: str, column: str) -> bool:
    """Whether any word of a column name, or its stem, occurs in the prose."""
    if column.lower() in prose:
        return True
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", column.replace("_", " "))
    return any(re.search(rf"\b{re.escape(_stem(word.lower()))}", prose) for word in words if len(word) > 1)


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _tags(record: Record) -> Iterator[Finding]:
    if not record.tags:
        yield _at(record, "no-tags", "warning", "there are no tags, so no hint can name the graph")
    for tag in record.tags:
        if tag in SHORTNAMES:
            continue
        if near := get_close_matches(tag, SHORTNAMES, 1):
            yield _at(record, "unknown-tag", "error", f"there is no graph {tag!r}; {near[0]} may be meant")
        else:
            told = f"{tag!r} is none of the Proto-OKN graphs; a graph of your own is one the control is not told of"
            yield _at(record, "unknown-tag", "warning", told)


def _keys(record: Record) -> Iterator[Finding]:
    """A misspelt key loses all it holds; another one is of somebody else's making."""
    for key, line in record.other_keys:
        if right := meant(key):
            yield _at(
                record,
                "misspelt-key",
                "error",
                f"'#+ {key}:' means nothing here and is left out; write '{right}:'",
                line,
            )
        else:
            yield _at(record, "other-key", "note", f"'#+ {key}:' is carried along and read by nothing here", line)


def _scope(record: Record) -> Iterator[Finding]:
    """Tags held against the graphs the query asks."""
    queried = _graphs(record.query)
    if not queried:
        yield _at(
            record, "unscoped", "warning", "the query names no graph, so the federation endpoint mixes all of them"
        )
        return
    untagged = sorted(queried - set(record.tags))
    unused = sorted(set(record.tags) - queried)
    if untagged:
        yield _at(record, "graph-not-tagged", "warning", f"the query asks {', '.join(untagged)}, which no tag names")
    if unused:
        yield _at(record, "tag-not-queried", "warning", f"the query never asks {', '.join(unused)}")


def _graphs(query: str) -> set[str]:
    """Shortnames of the graphs whose IRIs stand in the query as such."""
    found = Counter(token.text[1:-1] for token in tokens(query) if token.kind == "iri")
    return {iri.removeprefix(GRAPH_PREFIX) for iri in found if iri.removeprefix(GRAPH_PREFIX) in SHORTNAMES}


def _at(record: Record, code: str, level: Level, message: str, line: int | None = None) -> Finding:
    return Finding(file=record.path_name, code=code, level=level, message=message, line=line)
