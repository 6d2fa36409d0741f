"""Tokens and models from the host's final message: four buckets, per model and summed."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Tokens

_BUCKETS: Final = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache_read",
    "cacheCreationInputTokens": "cache_write",
    "cacheCreationEphemeral5mInputTokens": "cache_write_5m",
    "cacheCreationEphemeral1hInputTokens": "cache_write_1h",
}
_TOTALS: Final = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """``by_model``: model id → buckets of ours, plus the host's own ``host_cost_usd`` for it."""

    model: str | None
    tokens: Tokens | None
    by_model: JsonObject
    host_cost_usd: float | None


def usage_facts(final: JsonObject | None, answering: tuple[str, ...]) -> Usage:
    """``answering`` are the models that signed the main conversation's messages, one entry per answer.

    Without a final message (a killed host) the tokens are unknown: the stream's own figures are written before an
    answer is complete.
    """
    signed = Counter(answering).most_common(1)
    if final is None:
        return Usage(model=signed[0][0] if signed else None, tokens=None, by_model={}, host_cost_usd=None)
    by_model = _by_model(final.get("modelUsage"))
    return Usage(
        # The bill repeats the id the host asked for; what answered is known from its signature alone.
        model=signed[0][0] if signed else _most_billed(by_model),
        tokens=_summed(by_model) if by_model else _totals(final.get("usage")),
        by_model=by_model,
        host_cost_usd=_number(final.get("total_cost_usd")),
    )


def _by_model(usage: Any) -> JsonObject:
    out: JsonObject = {}
    for model, counts in usage.items() if isinstance(usage, dict) else ():
        if not isinstance(counts, dict):
            continue
        found = {ours: _whole(counts.get(theirs)) for theirs, ours in _BUCKETS.items()}
        out[str(model)] = {k: v for k, v in found.items() if v is not None} | {
            "host_cost_usd": _number(counts.get("costUSD"))
        }
    return out


def _most_billed(by_model: JsonObject) -> str | None:
    """The model that wrote most, where no message is left to tell; side tasks of the host may use a smaller one."""
    return max(by_model, key=lambda model: by_model[model].get("output", 0), default=None)


def _summed(by_model: JsonObject) -> Tokens:
    def total(bucket: str) -> int:
        return sum(counts.get(bucket, 0) for counts in by_model.values())

    return Tokens(
        input=total("input"),
        output=total("output"),
        cache_read=total("cache_read"),
        cache_write=total("cache_write"),
    )


def _totals(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    found = {ours: _whole(usage.get(theirs)) or 0 for theirs, ours in _TOTALS.items()}
    return Tokens(
        input=found["input"],
        output=found["output"],
        cache_read=found["cache_read"],
        cache_write=found["cache_write"],
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
