"""The server an audit registers: slow to start, long of speech, and with results of known size. Standard library only.

Every length is told by a run of one letter after a marker, so that what arrived can be counted in what a host sent on.
"""

import argparse
import json
import select
import sys
from typing import Any, Final

INSTRUCTIONS_MARK: Final = "okn-audit-instructions:"
DESCRIPTION_MARK: Final = "okn-audit-description:"
RESULT_MARK: Final = "okn-audit-result:"
SENT_CHARS: Final = 5_000
MARKED_LIMIT: Final = 500_000

PLAIN_TOOL: Final = "plain_result"
MARKED_TOOL: Final = "marked_result"
SUBMIT: Final = "submit_csv"
TOOLS: Final = (PLAIN_TOOL, MARKED_TOOL, SUBMIT)


def tools() -> list[dict[str, Any]]:
    """Two ways to get a result of a wanted size, and the answer channel."""
    size = {"type": "object", "properties": {"chars": {"type": "integer"}}, "required": ["chars"]}
    csv = {"type": "object", "properties": {"csv": {"type": "string"}}, "required": ["csv"]}
    return [
        {"name": PLAIN_TOOL, "description": DESCRIPTION_MARK + "d" * SENT_CHARS, "inputSchema": size},
        {
            "name": MARKED_TOOL,
            "description": "The same, marked as one whose results are wanted whole.",
            "inputSchema": size,
            "_meta": {"anthropic/maxResultSizeChars": MARKED_LIMIT},
        },
        {"name": SUBMIT, "description": "Takes the answer.", "inputSchema": csv},
    ]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of one request; None for a method this server does not know."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-11-25"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "okn-audit", "version": "1"},
                "instructions": INSTRUCTIONS_MARK + "i" * SENT_CHARS,
            }
        case "tools/list":
            return {"tools": tools()}
        case "tools/call":
            chars = params.get("arguments", {}).get("chars", 0)
            return {"content": [{"type": "text", "text": RESULT_MARK + "r" * int(chars)}], "isError": False}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    """Serve on stdin and stdout; ``--delay`` is how many seconds the first answer takes."""
    parser = argparse.ArgumentParser(description="The server an audit registers.")
    parser.add_argument("--delay", type=float, default=0.0)
    delay = parser.parse_args().delay
    # A wait on nothing: the start is slow as a real server's is, while its input is already open.
    select.select([], [], [], delay)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") is None:
            continue
        result = answer(str(message.get("method")), message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        reply |= {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
