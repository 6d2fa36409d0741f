"""The outer SELECT of a query taken apart: columns, order, limit. Pure, and read from tokens alone.

This is no parser of SPARQL: it knows where the clauses of the outermost SELECT are and which variables stand in
them. That is what a check of an answer key and a check for drift need.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from okn_benchmark.sparql.tokens import Token, tokens

_OPEN: Final = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One condition of an ORDER BY: the variables in it, and whether it is one bare variable."""

    variables: tuple[str, ...]
    bare: bool
    descending: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the outer SELECT says."""

    distinct: bool
    star: bool
    projected: tuple[str, ...]
    """Variables in SELECT order; empty with ``*``."""
    computed: tuple[str, ...]
    """Those of them that the SELECT clause computes with ``AS``."""
    group_by: tuple[str, ...]
    order: tuple[OrderKey, ...]
    limit: int | None
    offset: int | None
    inner_limits: int
    """LIMIT clauses in subqueries."""
    inner_orders: int
    """ORDER BY clauses in subqueries."""
    subjects: frozenset[str]
    """Variables that open a triple pattern: the things a row is about."""
    makes_blanks: bool
    """Whether BNODE() is called."""

    def order_columns(self) -> tuple[str, ...]:
        """Projected variables that are sort keys by themselves, in order of the keys."""
        return tuple(k.variables[0] for k in self.order if k.bare and (self.star or k.variables[0] in self.projected))


def shape(query: str) -> Shape | None:
    """The shape of a SELECT query, or None where there is no SELECT with a body."""
    seen = list(tokens(query))
    start = next((i for i, token in enumerate(seen) if token.says("SELECT")), None)
    if start is None or any(token.says("ASK", "CONSTRUCT", "DESCRIBE") for token in seen[:start]):
        return None
    opening = next((i for i in range(start, len(seen)) if seen[i].text == "{"), None)
    if opening is None:
        return None
    closing = _closing(seen, opening)
    clause = seen[start + 1 : opening]
    body, tail = seen[opening + 1 : closing], seen[closing + 1 :]
    projected, computed = _projection(clause)
    return Shape(
        distinct=any(token.says("DISTINCT", "REDUCED") for token in clause[:1]),
        star=not projected and any(token.text == "*" for token in clause),
        projected=projected,
        computed=computed,
        group_by=_variables(_clause(tail, "GROUP")),
        order=tuple(_order(_clause(tail, "ORDER"))),
        limit=_count(tail, "LIMIT"),
        offset=_count(tail, "OFFSET"),
        inner_limits=sum(token.says("LIMIT") for token in body),
        inner_orders=sum(token.says("ORDER") for token in body),
        subjects=frozenset(_subjects(body)),
        makes_blanks=any(token.says("BNODE") for token in seen),
    )


def with_limit(query: str, limit: int) -> str:
    """``query`` with another number in its outer LIMIT; a query without one is returned as it is."""
    seen = list(tokens(query))
    depth, found = 0, None
    for token, following in itertools.pairwise(seen):
        depth += _OPEN.get(token.text, 0) if token.kind == "sign" else 0
        if depth == 0 and token.says("LIMIT") and following.kind == "number":
            found = following
    if found is None:
        return query
    return query[: found.start] + str(limit) + query[found.start + len(found.text) :]


def _closing(seen: Sequence[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(seen)):
        depth += {"{": 1, "}": -1}.get(seen[index].text, 0)
        if depth == 0:
            return index
    return len(seen)


def _name(token: Token) -> str:
    return token.text[1:]


def _variables(clause: Sequence[Token]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_name(token) for token in clause if token.kind == "variable"))


def _projection(clause: Sequence[Token]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Projected and computed variables: bare ones, and what follows AS in brackets of the first level."""
    projected, computed, depth = [], [], 0
    for index, token in enumerate(clause):
        if depth == 0 and token.says("FROM", "WHERE"):
            break
        depth += _OPEN.get(token.text, 0) if token.kind == "sign" else 0
        if token.kind == "variable" and depth == 0:
            projected.append(_name(token))
        elif token.kind == "variable" and depth == 1 and clause[index - 1].says("AS"):
            projected.append(_name(token))
            computed.append(_name(token))
    return tuple(projected), tuple(computed)


def _clause(tail: Sequence[Token], word: str) -> Sequence[Token]:
    """The tokens between ``GROUP BY`` or ``ORDER BY`` and the next clause."""
    start = next((i for i, token in enumerate(tail) if token.says(word)), None)
    if start is None:
        return ()
    end = next(
        (
            i
            for i in range(start + 1, len(tail))
            if tail[i].says("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")
        ),
        len(tail),
    )
    return tail[start + 2 : end]


def _order(clause: Sequence[Token]) -> Iterator[OrderKey]:
    index = 0
    while index < len(clause):
        start, descending = index, clause[index].says("DESC")
        if clause[index].kind != "variable":  # ASC(…), DESC(…), (…) or a function call: up to its closing bracket
            while index < len(clause) and clause[index].text != "(":
                index += 1
            depth = 0
            while index < len(clause):
                depth += _OPEN.get(clause[index].text, 0)
                if depth <= 0:
                    break
                index += 1
        index += 1
        inside = clause[start:index]
        names = _variables(inside)
        words = [t for t in inside if t.text not in ("(", ")") and not t.says("ASC", "DESC")]
        text = " ".join(token.text for token in words)
        yield OrderKey(names, len(words) == 1 and len(names) == 1, descending, text)


def _count(tail: Sequence[Token], word: str) -> int | None:
    for token, following in itertools.pairwise(tail):
        if token.says(word) and following.kind == "number" and following.text.isdigit():
            return int(following.text)
    return None


def _subjects(body: Sequence[Token]) -> Iterator[str]:
    """A variable behind ``{``, ``}`` or a full stop and before a predicate."""
    for before, token, after in zip(["{", *(t.text for t in body)], body, body[1:], strict=False):
        opens = before in ("{", "}", ".")
        predicate = after.kind in ("iri", "name", "variable") or after.says("A") or after.text in ("(", "^", "!")
        if token.kind == "variable" and opens and predicate:
            yield _name(token)
