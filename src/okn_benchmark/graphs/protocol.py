"""The SPARQL 1.1 protocol without a socket: what a request asks, which form the answer takes. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from okn_benchmark.sparql.tokens import Form

RESULT_TYPES: Final[Mapping[str, str]] = {
    "application/sparql-results+json": "json",
    "application/json": "json",
    "application/sparql-results+xml": "xml",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}
TRIPLE_TYPES: Final[Mapping[str, str]] = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "text/plain": "ntriples",
    "application/rdf+xml": "rdfxml",
    "application/ld+json": "jsonld",
}
_FORM: Final = "application/x-www-form-urlencoded"
_QUERY: Final = "application/sparql-query"


class BadRequest(Exception):
    """A request outside the protocol; ``status`` is the HTTP answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query and the dataset the protocol parameters give it, if any."""

    query: str
    default_graphs: tuple[str, ...]
    named_graphs: tuple[str, ...]


def read_request(method: str, content_type: str, url_query: str, body: bytes) -> Asked:
    """GET, a form POST, or a POST whose body is the query.

    Raises:
        BadRequest: 400 without exactly one query, 403 for an update, 415 for another content type.
    """
    parameters = _parameters(url_query)
    kind = content_type.partition(";")[0].strip().lower()
    if method == "POST":
        if kind == _FORM:
            parameters = _joined(parameters, _parameters(_text(body)))
        elif kind == _QUERY:
            parameters = {**parameters, "query": [_text(body)]}
        elif kind == "application/sparql-update":
            raise BadRequest(403, "This endpoint is read-only.")
        else:
            raise BadRequest(415, f"A query is posted as {_FORM} or {_QUERY}, not as {kind or 'an unnamed type'}.")
    if "update" in parameters:
        raise BadRequest(403, "This endpoint is read-only.")
    queries = parameters.get("query", [])
    if len(queries) != 1:
        raise BadRequest(400, f"A request carries one query parameter; this one has {len(queries) or 'none'}.")
    return Asked(
        query=queries[0],
        default_graphs=tuple(parameters.get("default-graph-uri", ())),
        named_graphs=tuple(parameters.get("named-graph-uri", ())),
    )


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(400, f"The request is not UTF-8 (byte {error.start}).") from error


def _parameters(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=100, errors="strict")
    except ValueError as error:  # UnicodeDecodeError is one
        raise BadRequest(400, "The parameters of the request cannot be decoded.") from error


def _joined(one: Mapping[str, Sequence[str]], two: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: [*one.get(name, ()), *two.get(name, ())] for name in {**one, **two}}


def negotiate(accept: str, form: Form | None) -> tuple[str, str]:
    """The media type to answer with and the engine's name for it.

    Raises:
        BadRequest: 406, naming what there is.
    """
    offered = TRIPLE_TYPES if form in ("CONSTRUCT", "DESCRIBE") else RESULT_TYPES
    best: tuple[float, int, str] | None = None
    for position, media_type in enumerate(offered):
        weight = _weight(accept, media_type)
        if weight > 0 and (best is None or (weight, -position) > best[:2]):
            best = (weight, -position, media_type)
    if best is None:
        raise BadRequest(406, f"Nothing in 'Accept: {accept[:200]}' can be served; there is {', '.join(offered)}.")
    return best[2], offered[best[2]]


def _weight(accept: str, media_type: str) -> float:
    """The q value an Accept header gives a type: the most specific range wins, and a missing header takes all."""
    if not accept.strip():
        return 1.0
    major = media_type.partition("/")[0]
    ranges = {}
    for item in accept.split(","):
        name, *parameters = [piece.strip().lower() for piece in item.split(";")]
        ranges[name] = next((_quality(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
    return next((ranges[name] for name in (media_type, f"{major}/*", "*/*") if name in ranges), 0.0)


def _quality(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 <= value <= 1.0 else 0.0
