"""One small server on whichever generation of the SDK runs it: stdio, or HTTP that prints its URL.

python sdk_server.py [sse|json|stateless]
"""

import socket
import sys
from importlib.metadata import version
from typing import Any

import anyio

NEW = int(version("mcp").partition(".")[0]) >= 2
INSTRUCTIONS = "SDK server instructions."
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
KIND = sys.argv[1] if len(sys.argv) > 1 else "stdio"

from mcp.server.lowlevel import Server  # noqa: E402

if NEW:
    import mcp_types as types

    async def on_list(context: Any, params: Any) -> Any:
        plain = types.Tool(name="blob", description="Blob.", input_schema={"type": "object"})
        structured = types.Tool(name="structured", input_schema={"type": "object"}, output_schema=OUTPUT)
        return types.ListToolsResult(tools=[plain, structured])

    async def on_call(context: Any, params: Any) -> Any:
        if params.name == "structured":
            return types.CallToolResult(content=[types.TextContent(text="42")], structured_content={"n": 42})
        return types.CallToolResult(content=[types.TextContent(text="x" * int((params.arguments or {}).get("n", 1)))])

    server: Any = Server("sdk", version="1", instructions=INSTRUCTIONS, on_list_tools=on_list, on_call_tool=on_call)
else:
    from mcp import types

    server = Server("sdk", version="1", instructions=INSTRUCTIONS)

    @server.list_tools()
    async def on_list() -> Any:
        plain = types.Tool(name="blob", description="Blob.", inputSchema={"type": "object"})
        return [plain, types.Tool(name="structured", inputSchema={"type": "object"}, outputSchema=OUTPUT)]

    @server.call_tool()
    async def on_call(name: str, arguments: dict[str, Any]) -> Any:
        if name == "structured":
            return [types.TextContent(type="text", text="42")], {"n": 42}
        return [types.TextContent(type="text", text="x" * int(arguments.get("n", 1)))]


def app() -> Any:
    as_json, stateless = KIND == "json", KIND == "stateless"
    if NEW:
        return server.streamable_http_app(json_response=as_json, stateless_http=stateless)
    from contextlib import asynccontextmanager

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Mount

    manager = StreamableHTTPSessionManager(app=server, json_response=as_json, stateless=stateless)

    @asynccontextmanager
    async def life(_: Any) -> Any:
        async with manager.run():
            yield

    return Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=life)


async def stdio() -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if KIND == "stdio":
    anyio.run(stdio)
else:
    import uvicorn

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(16)
    # The old one mounts a folder: without the slash it answers with a redirect, which a client has to follow.
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app(), log_level="critical")).run(sockets=[listening])
