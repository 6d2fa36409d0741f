"""What scipy and statsmodels compute where a comparison is asked for by itself: imported here, and only on use."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from okn_benchmark.stats.intervals import Interval
from okn_benchmark.stats.paired import SEED

RESAMPLES = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsRatio:
    """Mantel-Haenszel's pooled odds ratio over questions, with the test of no association."""

    value: float
    interval: Interval
    p: float


def bca_paired(left: Sequence[float], right: Sequence[float]) -> Interval | None:
    """The BCa interval, by scipy, of the mean difference; None without spread or with fewer than three questions."""
    gaps = [a - b for a, b in zip(left, right, strict=True)]
    if len(gaps) < 3 or max(gaps) - min(gaps) < 1e-12:
        return None
    from scipy import stats

    found = stats.bootstrap((gaps,), _mean, n_resamples=RESAMPLES, method="BCa", rng=SEED).confidence_interval
    return Interval(low=float(found.low), high=float(found.high), method=f"BCa, {RESAMPLES:,} resamples (scipy)")


def pooled_odds(arms: Sequence[tuple[Sequence[bool], Sequence[bool]]]) -> OddsRatio | None:
    """Over these questions only; None where no question separates right from wrong in a way that has a ratio."""
    from statsmodels.stats.contingency_tables import StratifiedTable

    tables = [_table(a, b) for a, b in arms if a and b]
    up = sum(t[0][0] * t[1][1] for t in tables)
    down = sum(t[0][1] * t[1][0] for t in tables)
    if not tables or up == 0 or down == 0:
        return None
    found = StratifiedTable(tables)
    low, high = found.oddsratio_pooled_confint()
    return OddsRatio(
        value=float(found.oddsratio_pooled),
        interval=Interval(low=float(low), high=float(high), method="Mantel-Haenszel (statsmodels)"),
        p=float(found.test_null_odds(correction=False).pvalue),
    )


def fisher(left: Sequence[bool], right: Sequence[bool]) -> float:
    """Fisher's exact two-sided p of one question's attempts."""
    from scipy import stats

    table: Any = _table(left, right)
    return float(stats.fisher_exact(table).pvalue)


def _table(left: Sequence[bool], right: Sequence[bool]) -> list[list[int]]:
    return [[sum(left), len(left) - sum(left)], [sum(right), len(right) - sum(right)]]


def _mean(values: Any, axis: int = -1) -> Any:
    return values.mean(axis=axis)


def versions() -> dict[str, str]:
    """The libraries these numbers were computed with."""
    return {name: version(name) for name in ("numpy", "scipy", "statsmodels")}
