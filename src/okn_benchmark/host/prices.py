"""What an episode cost by a dated price table of ours, beside whatever the host says it cost."""

import functools
import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from okn_benchmark.jsonio import JsonObject

PER_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens of each bucket."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """``date`` is the day the prices were read, ISO 8601."""

    date: str
    models: Mapping[str, Price]


@functools.cache
def load_prices() -> PriceTable:
    """The table of this package."""
    text = (importlib.resources.files("okn_benchmark.host") / "prices.toml").read_text(encoding="utf-8")
    return parse_prices(tomllib.loads(text))


def parse_prices(data: Mapping[str, Any]) -> PriceTable:
    """A table from its TOML; a key that is missing or not a number is a bug of ours and raises as such."""
    models = {
        name: Price(**{bucket: float(value) for bucket, value in row.items()})
        for name, row in data.get("models", {}).items()
    }
    return PriceTable(date=data["date"], models=models)


def cost_usd(usage_by_model: JsonObject, prices: PriceTable) -> float | None:
    """The sum over models; None for no usage, or for a model without a price (a part is not the whole)."""
    if not usage_by_model:
        return None
    total = 0.0
    for model, counts in usage_by_model.items():
        price = prices.models.get(model)
        if price is None:
            return None
        total += _of_one(counts, price)
    return round(total, 6)


def _of_one(counts: Mapping[str, Any], price: Price) -> float:
    # Hosts that do not split cache writes by lifetime write the short-lived kind.
    long_lived = counts.get("cache_write_1h", 0)
    short_lived = max(counts.get("cache_write", 0) - long_lived, 0)
    spent: float = (
        counts.get("input", 0) * price.input
        + counts.get("output", 0) * price.output
        + counts.get("cache_read", 0) * price.cache_read
        + short_lived * price.cache_write_5m
        + long_lived * price.cache_write_1h
    )
    return spent / PER_MILLION
