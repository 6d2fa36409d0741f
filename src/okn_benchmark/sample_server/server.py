"""The MCP server: each tool is a line of text in, JSON text out, and a sentence when it fails."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from okn_benchmark import __version__
from okn_benchmark.errors import OknBenchmarkError
from okn_benchmark.jsonio import line
from okn_benchmark.sample_server import texts
from okn_benchmark.sample_server.tools import GraphTools
from okn_benchmark.sparql.endpoint import SAMPLE, open_endpoint
from okn_benchmark.sparql.result import Endpoint

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

QUERY_TIMEOUT_S = 60.0


def open_graphs(graphs_url: str | None) -> Endpoint:
    """The endpoint the tools ask: the bundled samples, or the federation endpoint of a graph service.

    ``graphs_url`` is a base such as ``http://127.0.0.1:8890``, or the endpoint itself.
    """
    if graphs_url is None:
        return open_endpoint(SAMPLE, timeout_s=QUERY_TIMEOUT_S)
    base = graphs_url.rstrip("/")
    return open_endpoint(base if base.endswith("/sparql") else f"{base}/federation/sparql", timeout_s=QUERY_TIMEOUT_S)


def build_server(endpoint: Endpoint, log: Path | None = None) -> "MCPServer[Any]":
    """The server over ``endpoint``. ``log`` gets one JSON line per tool call that reached a tool."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server: MCPServer[Any] = MCPServer(
        texts.NAME, title="Sample knowledge graphs", instructions=texts.INSTRUCTIONS, version=__version__,
        log_level="ERROR",
    )  # fmt: skip
    tools = GraphTools(endpoint)

    def answer(tool: Callable[..., Any], **arguments: Any) -> str:
        if log is not None:
            _note(log, tool.__name__, arguments)
        try:
            return json.dumps(tool(**arguments), ensure_ascii=False)
        except OknBenchmarkError as error:
            raise ToolError(error.whole) from error

    @server.tool(description=texts.LIST_GRAPHS, structured_output=False)
    def list_graphs() -> str:
        return answer(tools.list_graphs)

    @server.tool(description=texts.DESCRIBE_GRAPH, structured_output=False)
    def describe_graph(shortname: str) -> str:
        return answer(tools.describe_graph, shortname=shortname)

    @server.tool(description=texts.GET_SCHEMA, structured_output=False)
    def get_schema(shortname: str, class_iri: str | None = None) -> str:
        return answer(tools.get_schema, shortname=shortname, class_iri=class_iri)

    @server.tool(description=texts.RUN_QUERY, structured_output=False)
    def run_query(query: str) -> str:
        return answer(tools.run_query, query=query)

    @server.tool(description=texts.LOOKUP_LABEL, structured_output=False)
    def lookup_label(text: str, shortname: str | None = None, limit: int = 20) -> str:
        return answer(tools.lookup_label, text=text, shortname=shortname, limit=limit)

    @server.tool(description=texts.GET_DESCENDANTS, structured_output=False)
    def get_descendants(term: str, shortname: str = "ubergraph") -> str:
        return answer(tools.get_descendants, term=term, shortname=shortname)

    @server.tool(description=texts.ROUTE_QUESTION, structured_output=False)
    def route_question(question: str) -> str:
        return answer(tools.route_question, question=question)

    return server


def _note(log: Path, tool: str, arguments: dict[str, Any]) -> None:
    entry = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "tool": tool, "arguments": arguments}
    with log.open("a", encoding="utf-8") as stream:
        stream.write(line(entry) + "\n")
