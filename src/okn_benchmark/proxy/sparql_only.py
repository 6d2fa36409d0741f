"""The control condition: one neutral tool that runs a query, and the list of graphs needed to address the endpoint.

No server under test is involved and no profile is read, so the texts below are the same for every server; their
digest goes into every record, and two records that differ in it have no control in common.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from okn_benchmark.graphs.shortnames import GRAPH_PREFIX, SHORTNAMES
from okn_benchmark.jsonrpc import Message, tool_text

if TYPE_CHECKING:
    from okn_benchmark.proxy.http_wire import Blocking

RUN_SPARQL: Final = "run_sparql"

PREAMBLE: Final = (
    f"A SPARQL 1.1 endpoint over {len(SHORTNAMES)} knowledge graphs. Each is a named graph whose IRI is {GRAPH_PREFIX} "
    "followed by its shortname, for example "
    f"GRAPH <{GRAPH_PREFIX}ubergraph> {{ … }}. Several graphs can be joined in one query. "
    f"Shortnames: {', '.join(SHORTNAMES)}."
)
"""What the agent is told where a server under test would give its instructions."""

SPARQL_TOOL: Final[Message] = {
    "name": RUN_SPARQL,
    "title": "Run a SPARQL query",
    "description": (
        "Run one SPARQL 1.1 query and return what the endpoint answers: the rows of a SELECT as CSV with a header and "
        "IRIs in full, true or false for ASK, Turtle for CONSTRUCT and DESCRIBE. Declare every prefix you use. A "
        "rejected query returns the endpoint's own message."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "The complete query, prefixes included."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": True},
}

_ACCEPT: Final = "application/sparql-results+json, text/turtle;q=0.8, application/n-triples;q=0.5"
_LONGEST_MESSAGE: Final = 2000


def preamble_digest() -> str:
    """SHA-256 over everything the agent reads in this condition: preamble and tool definition. 64 hex digits."""
    read = json.dumps([PREAMBLE, SPARQL_TOOL], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(read.encode("utf-8")).hexdigest()


class SparqlOnly:
    """A ``LocalServer`` with ``run_sparql`` against ``endpoint``."""

    name = "sparql-only"
    instructions = PREAMBLE
    tools: tuple[Message, ...] = (SPARQL_TOOL,)

    def __init__(self, endpoint: str, *, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._client: Blocking | None = None

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Message | None:
        """Run the query; every failure is a result the agent can act on."""
        if tool != RUN_SPARQL:
            return None
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return tool_text("The argument query is missing: give one SPARQL query as a string.", is_error=True)
        # Imported with the first query: the HTTP library takes longer to load than everything else here.
        from okn_benchmark.proxy.http_wire import TransportError, fetch, open_blocking
        from okn_benchmark.proxy.sse import TooLarge

        if self._client is None:
            self._client = open_blocking(self._endpoint, {"Accept": _ACCEPT}, timeout_s=self._timeout_s)
        try:
            status, content_type, body = fetch(self._client, self._endpoint, {"query": query})
        except TransportError as error:
            return tool_text(f"The endpoint gave no answer: {str(error) or type(error).__name__}", is_error=True)
        except TooLarge:
            return tool_text("The result is too large to be passed on. Add a LIMIT.", is_error=True)
        if status != 200:
            said = body.decode("utf-8", "replace").strip()[:_LONGEST_MESSAGE]
            return tool_text(f"The endpoint answered with HTTP status {status}: {said}", is_error=True)
        return _result(content_type, body)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()


def _result(content_type: str, body: bytes) -> Message:
    if "json" not in content_type:
        return tool_text(body.decode("utf-8", "replace"))
    from okn_benchmark.errors import InputError
    from okn_benchmark.sparql.results import csv_text, read_results

    try:
        document = json.loads(body)
        if isinstance(document, dict) and isinstance(document.get("boolean"), bool):
            return tool_text("true" if document["boolean"] else "false")
        return tool_text(csv_text(read_results(document)))
    except (ValueError, RecursionError, InputError):
        # Engines that fail after the first bytes went out can only say so inside the body.
        tail = body[-400:].decode("utf-8", "replace")
        return tool_text(f"The endpoint broke off its answer, which ends: {tail}", is_error=True)
