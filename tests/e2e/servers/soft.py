"""A stdio MCP server that fails politely: ``get_descendants`` reports success and has an HTTP error in its body.

``data`` answers with a table in which a cell holds the word error. Standard library only.
"""

import json
import sys

FAILED = json.dumps({"descendant_count": 0, "descendants": [], "error": "HTTP Error 429: Too Many Requests"})
CELL = {"note": {"type": "literal", "value": "standard error 429"}}
ROWS = json.dumps({"head": {"vars": ["note"]}, "results": {"bindings": [CELL]}})
TOOLS = {"get_descendants": FAILED, "data": ROWS}


def result(message):
    params = message.get("params", {})
    if message["method"] == "initialize":
        about = {"name": "soft", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if message["method"] == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    return {"content": [{"type": "text", "text": TOOLS[params["name"]]}], "isError": False}


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("initialize", "tools/list", "tools/call"):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}), flush=True)
    elif "id" in message:
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
