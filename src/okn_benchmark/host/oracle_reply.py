"""From what a query tool said to the CSV the oracle submits."""

import json
from typing import Any

from okn_benchmark.errors import InputError
from okn_benchmark.host.proxy_client import Reply
from okn_benchmark.profile import OracleTool
from okn_benchmark.sparql.results import csv_text, read_csv_results, read_results, read_tsv_results

SOURCE = "the tool's reply"


def answer_csv(reply: Reply, tool: OracleTool) -> str:
    """The reply as an agent would hand it in.

    Raises:
        InputError: not in the form the profile says.
    """
    if tool.path is None and tool.reply != "sparql-json":
        found: Any = reply.text
    else:
        found = at_path(_document(reply), tool.path)
    if tool.reply == "sparql-json":
        return csv_text(read_results(json.loads(found) if isinstance(found, str) else found, SOURCE))
    if not isinstance(found, str):
        raise InputError(f"{SOURCE} holds no {tool.reply} text at {tool.path}.")
    return csv_text(read_csv_results(found, SOURCE) if tool.reply == "csv" else read_tsv_results(found, SOURCE))


def at_path(document: Any, path: str | None) -> Any:
    """Step into ``document`` by dotted names; a whole number steps into a list.

    Raises:
        InputError: a step that is not there.
    """
    found = document
    for step in path.split(".") if path else ():
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise InputError(f"{SOURCE} has no {step!r} on the way along {path}.")
    return found


def _document(reply: Reply) -> Any:
    """The JSON in the text; where the text is not JSON, the structured content beside it."""
    try:
        return json.loads(reply.text)
    except (ValueError, RecursionError) as error:
        structured = (reply.result or {}).get("structuredContent")
        if structured is None:
            raise InputError(f"{SOURCE} is not JSON: {reply.text[:120]!r}.") from error
        return structured
