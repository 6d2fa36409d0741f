"""Servers to measure against: on stdio and HTTP without any SDK, and on HTTP with the SDK, as servers in use are.

python proxy_servers.py [stdio|table|sse|json|sdk-sse|sdk-json]     (an HTTP one prints its URL)
"""

import contextlib
import json
import socket
import sys
from collections.abc import Callable
from typing import Any

TOOLS = [{"name": "blob", "description": "As many letters as asked for.", "inputSchema": {"type": "object"}}]


def letters(size: int) -> str:
    return "x" * size


def table(size: int) -> str:
    """CSV of at least that many characters, with a column of units."""
    row = "row-{n:08},1.5,nM\n"
    return "id,value,units\n" + "".join(row.format(n=n) for n in range(size // len(row.format(n=0)) + 1))


def answered(message: dict[str, Any], text: Callable[[int], str] = letters) -> dict[str, Any] | None:
    request_id, params = message.get("id"), message.get("params") or {}
    if request_id is None:
        return None
    match message["method"]:
        case "initialize":
            server = {"name": "bare", "version": "0"}
            version = params["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            result = {"content": [{"type": "text", "text": text(params["arguments"]["n"])}]}
        case _:
            result = {}
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def stdio(text: Callable[[int], str]) -> None:
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        reply = answered(json.loads(line), text)
        if reply is not None:
            out.write(json.dumps(reply).encode() + b"\n")
            out.flush()


def http(kind: str) -> None:
    import threading

    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_connection, args=(connection, kind), daemon=True).start()


def _connection(connection: socket.socket, kind: str) -> None:
    with contextlib.suppress(ConnectionError), connection, connection.makefile("rb") as stream:
        while line := stream.readline():
            length = 0
            while (header := stream.readline().strip()) != b"":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            if not line.startswith(b"POST"):
                connection.sendall(b"HTTP/1.1 405 Not Allowed\r\nContent-Length: 0\r\n\r\n")
                continue
            reply = answered(json.loads(stream.read(length)))
            connection.sendall(_response(reply, kind))


def _response(reply: dict[str, Any] | None, kind: str) -> bytes:
    if reply is None:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    body, mime = json.dumps(reply).encode(), b"application/json"
    if kind == "sse":
        body, mime = b"event: message\ndata: " + body + b"\n\n", b"text/event-stream"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nMcp-Session-Id: s\r\nContent-Length: %d\r\n\r\n" % (mime, len(body))
    return head + body


def sdk(kind: str) -> None:
    import mcp_types as types
    import uvicorn
    from mcp.server.lowlevel import Server

    async def on_list(*_: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="blob", input_schema={"type": "object"})])

    async def on_call(_: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text="x" * params.arguments["n"])])

    server = Server("sdk", version="0", on_list_tools=on_list, on_call_tool=on_call)
    app = server.streamable_http_app(json_response=kind == "sdk-json")
    # With its protocol named, or asyncio leaves Nagle's delays on, which no server started by its port has.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_keep_alive=600)).run(sockets=[listening])


if __name__ == "__main__":
    which = sys.argv[1] if len(sys.argv) > 1 else "stdio"
    if which in ("stdio", "table"):
        stdio(table if which == "table" else letters)
    else:
        (sdk if which.startswith("sdk") else http)(which)
