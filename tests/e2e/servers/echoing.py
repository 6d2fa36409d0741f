"""An HTTP MCP server that repeats the caller's Authorization header wherever it can. Standard library only.

Prints its port. ``/closed`` refuses with 401; anything else opens. Tools: ``tell`` repeats it in a result, ``fail`` in
an error result, ``refuse`` in a JSON-RPC error, ``break`` in the body of an HTTP 500.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = ("tell", "fail", "refuse", "break")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = f"you sent {self.headers.get('Authorization')}"
        if self.path == "/closed":
            self.reply(401, {"error": said})
        elif "id" not in message:
            self.reply(202, None)
        elif (message.get("params") or {}).get("name") == "break":
            self.reply(500, {"error": said})
        else:
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], **answer(message, said)})

    def do_GET(self):
        self.reply(405, None)

    def do_DELETE(self):
        self.reply(200, None)

    def reply(self, status, value):
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def answer(message, said):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        about = {"name": "echoing", "version": said, "build": said}
        version = params["protocolVersion"]
        return {
            "result": {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
                "instructions": said,
            }
        }
    if method == "tools/list":
        schema = {"type": "object"}
        return {"result": {"tools": [{"name": n, "description": said, "inputSchema": schema} for n in TOOLS]}}
    if method == "tools/call" and params["name"] != "refuse":
        return {"result": {"content": [{"type": "text", "text": said}], "isError": params["name"] == "fail"}}
    return {"error": {"code": -32000, "message": said, "data": {"why": said}}}


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
