"""A stdio MCP server with bad habits on demand. Standard library only; run by path."""

import argparse
import json
import os
import select
import signal
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--log", type=Path, help="answer.csv and requests.jsonl go here")
parser.add_argument("--delay", type=float, default=0.0, help="seconds before the first answer")
parser.add_argument("--no-submit", action="store_true")
parser.add_argument("--dead", action="store_true", help="leave at once")
parser.add_argument("--pages", action="store_true", help="one tool a page")
parser.add_argument("--roots", action="store_true", help="ask for roots; list a tool more when they come")
args = parser.parse_args()

TEXT = {"type": "object", "properties": {"query": {"type": "string"}}}
TOOLS = [
    {"name": "run_query", "description": "Runs a query.", "inputSchema": TEXT},
    {"name": "show_secret", "description": "Shows MY_TOKEN.", "inputSchema": {"type": "object"}},
    {"name": "hang", "description": "Never answers.", "inputSchema": {"type": "object"}},
    {"name": "die", "description": "Ends the server.", "inputSchema": {"type": "object"}},
    {"name": "kill_host", "description": "Kills whoever started this server.", "inputSchema": {"type": "object"}},
    {"name": "broken", "description": "Answers with a protocol error.", "inputSchema": {"type": "object"}},
]
RESULTS = {
    "head": {"vars": ["gene", "score"]},
    "results": {
        "bindings": [
            {"gene": {"type": "uri", "value": "http://example.org/g1"}, "score": {"type": "literal", "value": "1.5"}},
            {"gene": {"type": "uri", "value": "http://example.org/g2"}},
        ]
    },
}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def reply(message, result):
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def log(message):
    if args.log:
        with (args.log / "requests.jsonl").open("a") as stream:
            stream.write(json.dumps(message) + "\n")


def call(message):
    name, given = message["params"]["name"], message["params"].get("arguments", {})
    text, is_error = "ok", False
    if name == "hang":
        for line in sys.stdin:
            log(json.loads(line))
        sys.exit(0)
    elif name == "die":
        os._exit(3)
    elif name == "kill_host":
        os.kill(os.getppid(), signal.SIGKILL)
        return
    elif name == "broken":
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "broken on purpose"}})
        return
    elif name == "show_secret":
        text = os.environ.get("MY_TOKEN", "none")
    elif name == "run_query":
        query = given.get("query", "")
        is_error = query == "bad"
        text = {"big": "x" * 100_000, "bad": "syntax error"}.get(query) or json.dumps(RESULTS)
    elif name == "submit_csv":
        (args.log / "answer.csv").write_text(given["csv"])
        text = "accepted"
    reply(message, {"content": [{"type": "text", "text": text}], "isError": is_error})


def listing(message):
    tools = (
        TOOLS if args.no_submit else [*TOOLS, {"name": "submit_csv", "description": "Takes it.", "inputSchema": TEXT}]
    )
    if not args.pages:
        reply(message, {"tools": tools})
        return
    at = int(message.get("params", {}).get("cursor", 0))
    more = {"nextCursor": str(at + 1)} if at + 1 < len(tools) else {}
    reply(message, {"tools": [tools[at]], **more})


if args.dead:
    sys.exit("no such database")
select.select([], [], [], args.delay)
for line in sys.stdin:
    request = json.loads(line)
    log(request)
    method = request.get("method")
    if method == "initialize":
        reply(
            request,
            {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "toy", "version": "1"},
                "instructions": "Ask run_query, then submit.",
            },
        )
        if args.roots:
            send({"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"})
    elif method == "tools/list":
        listing(request)
    elif method == "tools/call":
        call(request)
    elif method is not None and request.get("id") is not None:
        send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no such method"}})
