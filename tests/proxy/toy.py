"""A small MCP server without any SDK that can also misbehave: a script on stdio, or a class for an HTTP server.

    python toy.py [--pages] [--junk] [--ignore-eof] [--ignore-term] [--seen FILE] [--no-tools] [--mute] [--exit CODE]

Speaks both protocol eras. Standard library only, and nothing of the package under test.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
NAMES = [
    "echo",
    "blob",
    "hang",
    "release",
    "die",
    "exit",
    "soft",
    "status",
    "iserror",
    "rpcerror",
    "rich",
    "structured",
    "mismatched",
    "meta",
    "environment",
    "progress",
    "log",
    "ask",
    "changed",
    "shout",
    "query",
    "submit_csv",
]
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def tools() -> list[dict[str, Any]]:
    made = [{"name": n, "description": f"The tool {n}.", "inputSchema": {"type": "object"}} for n in NAMES]
    for tool in made:
        if tool["name"] in {"structured", "mismatched"}:
            tool["outputSchema"] = SCHEMA
        if tool["name"] == "meta":
            tool |= {
                "_meta": {"x/vendor": 1},
                "vendorField": {"kept": 1.0},
                "annotations": {"readOnlyHint": True, "x": 1},
            }
    return made


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


RICH = {
    "content": [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///x.csv", "name": "x"},
        {"type": "resource", "resource": {"uri": "file:///y", "text": "t\u2028ü", "mimeType": "text/plain"}},
        {"type": "text", "text": "t", "annotations": {"priority": 1.0}, "_meta": {"k": "v"}},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    ],
    "_meta": {"srv": 1},
    "vendorResultField": [1, 1.0, 2.5],
}


class Toy:
    """``answer`` takes one message and emits what the server says to it."""

    def __init__(self, *, pages: bool = False, no_tools: bool = False, mute: bool = False) -> None:
        self.pages, self.no_tools, self.mute = pages, no_tools, mute
        self.seen: list[dict[str, Any]] = []
        self._held: list[tuple[Any, bool]] = []
        self._asking: dict[Any, tuple[Any, bool]] = {}

    def answer(self, message: dict[str, Any], emit: Callable[[dict[str, Any]], None]) -> None:  # noqa: C901
        self.seen.append(message)
        if self.mute:
            return
        method, request_id = message.get("method"), message.get("id")
        params = message.get("params") or {}
        modern = VERSION_KEY in (params.get("_meta") or {})

        def result(body: dict[str, Any], to: Any = request_id, envelope: bool = modern) -> None:
            extra = {"resultType": "complete"} if envelope else {}
            emit({"jsonrpc": "2.0", "id": to, "result": {**body, **extra}})

        def error(code: int, said: str, **more: Any) -> None:
            emit({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": said, **more}})

        if method is None:
            to, envelope = self._asking.pop(request_id, (None, False))
            if to is not None:
                result(text(json.dumps(message.get("result"))), to, envelope)
        elif method == "initialize":
            result(self._hello() | {"protocolVersion": params.get("protocolVersion", "2025-06-18")})
        elif method == "server/discover" and modern:
            result(self._hello() | {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/list" and not self.no_tools:
            cache = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
            result(self._page(params.get("cursor")) | cache | {"vendorPageField": "kept"})
        elif method == "tools/call":
            self._call(request_id, params, modern, emit, result, error)
        elif method == "ping":
            result({})
        elif method == "resources/list":
            result({"resources": [{"uri": "toy://one", "name": "one", "size": 3.0}]})
        elif method == "prompts/get":
            error(-32602, "No such prompt", data={"known": []})
        elif request_id is not None:
            error(-32601, "Method not found", data=method)

    def _hello(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"logging": {}, "experimental": {"toy": {"x": 1.0}}}
        if not self.no_tools:
            capabilities["tools"] = {"listChanged": True}
        return {
            "capabilities": capabilities,
            "serverInfo": {"name": "toy", "version": "0", "vendor": [1]},
            "instructions": "Toy instructions.",
        }

    def _page(self, cursor: str | None) -> dict[str, Any]:
        listed = tools()
        if not self.pages:
            return {"tools": listed}
        start = int(cursor or 0)
        page: dict[str, Any] = {"tools": listed[start : start + 8]}
        return page | {"nextCursor": str(start + 8)} if start + 8 < len(listed) else page

    def _call(  # noqa: C901 - a table of tools
        self, request_id: Any, params: dict[str, Any], modern: bool, emit: Any, result: Any, error: Any
    ) -> None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        token = (params.get("_meta") or {}).get("progressToken")
        match name:
            case "echo" | "query":
                result(text(json.dumps(arguments)))
            case "blob" | "shout":
                result(text("x" * int(arguments.get("n", 100))))
            case "hang":
                self._held.append((request_id, modern))
            case "release":
                for held, envelope in self._held:
                    result(text("late"), held, envelope)
                self._held.clear()
                result(text("released"))
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                sys.stderr.write("toy: leaving on purpose\n")
                sys.stderr.flush()
                os._exit(3)
            case "soft":
                result(text('{"descendant_count": 0, "error": "HTTP Error 429: Too Many Requests"}', isError=False))
            case "status":
                result(text("ok", structuredContent={"status_code": 503, "rows": []}))
            case "iserror":
                result(text("bad query", isError=True))
            case "rpcerror":
                error(-32099, "backend on fire", data={"retry": 3})
            case "rich":
                result(RICH)
            case "structured":
                result(text("42", structuredContent={"n": 42}))
            case "mismatched":
                result(text("42", structuredContent={"n": "forty-two"}))
            case "meta":
                result(text(json.dumps(params.get("_meta"))))
            case "environment":
                result(text(json.dumps(dict(os.environ))))
            case "progress" | "log" | "changed":
                for step in range(3):
                    if name == "progress" and token is not None:
                        emit(_note("progress", {"progressToken": token, "progress": step, "total": 3.0}))
                    if name == "log":
                        emit(_note("message", {"level": "info", "data": {"step": step}}))
                if name == "changed":
                    emit(_note("tools/list_changed", {}))
                result(text("done"))
            case "ask":
                self._asking[f"ask-{request_id}"] = (request_id, modern)
                emit({"jsonrpc": "2.0", "id": f"ask-{request_id}", "method": "roots/list"})
            case _:
                error(-32602, f"Unknown tool: {name}")


def _note(what: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{what}", "params": params}


def main() -> None:
    parser = argparse.ArgumentParser()
    for flag in ("--pages", "--junk", "--ignore-eof", "--ignore-term", "--no-tools", "--mute"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--seen")
    parser.add_argument("--exit", type=int)
    got = parser.parse_args()
    if got.exit is not None:
        sys.stderr.write("toy: cannot start\n")
        sys.exit(got.exit)
    if got.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    toy = Toy(pages=got.pages, no_tools=got.no_tools, mute=got.mute)
    out = sys.stdout.buffer

    def emit(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    if got.junk:
        out.write(b"starting up\nTraceback (most recent call last):\n{not json}\n\n[1, 2]\n")
        out.flush()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if got.seen:
            with Path(got.seen).open("ab") as seen:
                seen.write(line)
        if got.junk and message.get("method") == "tools/call":
            out.write(b"DEBUG: a call\n")
        toy.answer(message, emit)
    if got.ignore_eof:
        threading.Event().wait(30)


if __name__ == "__main__":
    main()
