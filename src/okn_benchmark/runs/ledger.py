"""What a server puts into an agent's context, episode by episode: characters as offered and delivered. Pure.

Characters are counted; tokens are the host's own, and beside them stands an estimate that says what it is: characters
divided by four.
"""

import math
from collections.abc import Iterable
from typing import Any, Final

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import AttemptResult, Calls

CHARS_PER_TOKEN: Final = 4
"""An estimate for English prose; JSON and IRIs take more tokens than it says."""

CONTEXT_KEYS: Final = ("definition_chars", "instructions_chars", "result_chars", "context_chars")


def estimated_tokens(chars: int | None) -> int | None:
    """Characters ÷ 4, rounded up."""
    return None if chars is None else math.ceil(chars / CHARS_PER_TOKEN)


def ledger_of(calls: Calls) -> JsonObject:
    """One episode. Definitions and instructions as offered, results as delivered, once each.

    ``submit_csv``, the harness's own tool, is in ``tools`` and in no total.
    """
    metrics = calls.metrics
    definitions, instructions = metrics.definition_chars, _instructions(calls)
    known = [chars for chars in (definitions, instructions) if chars is not None]
    context = sum(known) + metrics.response_chars if definitions is not None else None
    offered = calls.extra.get("offered")
    return {
        "definition_chars": definitions,
        "definition_tokens_estimate": estimated_tokens(definitions),
        "instructions_chars": instructions,
        "result_chars": metrics.response_chars,
        "context_chars": context,
        "context_tokens_estimate": estimated_tokens(context),
        "tools_offered": len(offered["tools"]) if isinstance(offered, dict) and "tools" in offered else None,
        "tools": _by_tool(calls),
    }


def _instructions(calls: Calls) -> int | None:
    """As given to the host, which is not what the server said where an arm changed it."""
    session = calls.extra.get("session")
    given = session.get("instructions_given_chars") if isinstance(session, dict) else None
    return given if isinstance(given, int) else calls.metrics.instructions_chars


def _by_tool(calls: Calls) -> JsonObject:
    out: dict[str, dict[str, Any]] = {}
    for call in calls.calls:
        entry = out.setdefault(call.tool, {"calls": 0, "result_chars": 0})
        entry["calls"] += 1
        entry["result_chars"] += call.response_chars
    return dict(sorted(out.items()))


def ledger_totals(attempts: Iterable[AttemptResult]) -> JsonObject:
    """Sums over the attempts that know the figure, with how many those are."""
    known = [attempt.ledger for attempt in attempts if attempt.ledger is not None]
    return {key: _sum([entry.get(key) for entry in known]) for key in CONTEXT_KEYS}


def _sum(values: list[Any]) -> JsonObject:
    whole = [value for value in values if isinstance(value, int)]
    return {"sum": sum(whole) if whole else None, "known": len(whole)}
