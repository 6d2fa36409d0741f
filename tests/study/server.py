"""A small tabular MCP server over ``ic50.csv``, on stdio. Standard library only; run by path.

``activities`` answers in CSV, ``activities_json`` in JSON with structured content beside it, ``about`` in prose.
"""

import csv
import io
import json
import sys
from pathlib import Path

ROWS = list(csv.DictReader(Path(__file__).with_name("ic50.csv").read_text(encoding="utf-8").splitlines()))
COMPOUND = {
    "type": "object",
    "properties": {"compound": {"type": "string", "description": "A ChEMBL id; all without."}},
}
TOOLS = [
    {"name": "activities", "description": "IC50 rows as CSV.", "inputSchema": COMPOUND},
    {
        "name": "activities_json",
        "description": "IC50 rows as JSON.",
        "inputSchema": COMPOUND,
        "outputSchema": {"type": "object", "properties": {"rows": {"type": "array"}}},
    },
    {"name": "about", "description": "What is served.", "inputSchema": {"type": "object"}},
]
INSTRUCTIONS = "Rows of chemblId, value, units. Look at the units."


def rows(compound):
    return [row for row in ROWS if compound in (None, row["chemblId"])]


def called(name, arguments):
    found = rows(arguments.get("compound"))
    if name == "about":
        return {"content": [{"type": "text", "text": "IC50 values, in nM or uM, of one target."}]}
    if not found:
        return {"content": [{"type": "text", "text": "Error: no such compound"}], "isError": True}
    if name == "activities":
        out = io.StringIO()
        writer = csv.DictWriter(out, list(ROWS[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
        return {"content": [{"type": "text", "text": out.getvalue()}]}
    value = {"rows": [{**row, "value": float(row["value"])} for row in found]}
    return {"content": [{"type": "text", "text": json.dumps(value, indent=1)}], "structuredContent": value}


def result(message):
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "ic50", "version": "1"},
                "instructions": INSTRUCTIONS,
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return called(message["params"]["name"], message["params"].get("arguments") or {})
        case "ping":
            return {}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        made = result(asked)
        failed = {"error": {"code": -32601, "message": "Method not found"}}
        body = failed if made is None else {"result": made}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **body}) + "\n")
        sys.stdout.flush()
