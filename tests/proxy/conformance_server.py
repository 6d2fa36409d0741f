"""A stdio server with the tools that the official conformance suite calls by name. Standard library only."""

import json
import sys
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
DIALECT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def resource(uri: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}
EMBEDDED = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
CONTENT: dict[str, list[dict[str, Any]]] = {
    "test_simple_text": [said("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [EMBEDDED],
    "test_multiple_content_types": [said("Multiple content types test:"), IMAGE, MIXED],
    "test_tool_with_logging": [said("Logged.")],
    "test_tool_with_progress": [said("Progressed.")],
    "test_error_handling": [said("This tool intentionally returns an error for testing")],
    "json_schema_2020_12_tool": [said("Fits.")],
}
TOOLS = [{"name": name, "description": name, "inputSchema": {"type": "object", "properties": {}}} for name in CONTENT]
TOOLS[-1]["inputSchema"] = DIALECT


def emit(**members: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **members}) + "\n")
    sys.stdout.flush()


def call(params: dict[str, Any]) -> dict[str, Any]:
    name, token = params["name"], (params.get("_meta") or {}).get("progressToken")
    if name == "test_tool_with_logging":
        for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            emit(method="notifications/message", params={"level": "info", "data": step})
    if name == "test_tool_with_progress" and token is not None:
        for done in (0, 50, 100):
            emit(method="notifications/progress", params={"progressToken": token, "progress": done, "total": 100})
    return {"content": CONTENT[name], "isError": name == "test_error_handling"}


for line in sys.stdin:
    message = json.loads(line)
    params, request_id = message.get("params") or {}, message.get("id")
    match message.get("method"):
        case "initialize":
            capabilities = {"tools": {"listChanged": True}, "logging": {}}
            server = {"name": "conformance", "version": "0"}
            version = params["protocolVersion"]
            emit(id=request_id, result={"protocolVersion": version, "capabilities": capabilities, "serverInfo": server})
        case "tools/list":
            emit(id=request_id, result={"tools": TOOLS})
        case "tools/call":
            emit(id=request_id, result=call(params))
        case "ping" | "logging/setLevel":
            emit(id=request_id, result={})
        case _ if request_id is not None:
            emit(id=request_id, error={"code": -32601, "message": "Method not found"})
