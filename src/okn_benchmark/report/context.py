"""What a condition's server put into the agent's context, and what a right answer came to in it. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from okn_benchmark.runs.ledger import CHARS_PER_TOKEN
from okn_benchmark.runs.shapes import AttemptResult
from okn_benchmark.stats.per_success import PerSuccess, per_success

INTRO: Final = (
    "Characters of the server's definitions and instructions as offered and of its results as delivered, each counted "
    f"once; beside them the host's own tokens, which count a context again on every turn. ÷ {CHARS_PER_TOKEN} is an "
    "estimate of tokens from characters, not a count. Per right answer: the mean over all questions divided by the "
    "share that is right, with questions resampled for the interval."
)
HEAD: Final = (
    "condition", "definitions", "instructions", "results", "context", "÷ 4", "per right answer", "95 %",
    "host tokens in", "written to cache", "read from cache", "out", "per right answer (host)", "95 % (host)",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Means per attempt, over a question's attempts first. Characters, and the host's tokens by bucket."""

    definition_chars: float | None
    instructions_chars: float | None
    result_chars: float | None
    context_chars: float | None
    input: float | None
    cache_write: float | None
    cache_read: float | None
    output: float | None
    chars_per_right: PerSuccess | None
    tokens_per_right: PerSuccess | None
    """Of the tokens that go in, from the cache or not."""

    @property
    def tokens_estimate(self) -> float | None:
        """Characters ÷ 4."""
        return None if self.context_chars is None else self.context_chars / CHARS_PER_TOKEN


Value = Callable[[AttemptResult], float | None]
Questions = Sequence[tuple[Sequence[AttemptResult], Sequence[bool]]]
"""For each question its measured attempts and which of them are right."""


def context_of(questions: Questions) -> Context:
    """The ledger of one condition; unknown where no attempt tells."""
    live = [(attempts, right) for attempts, right in questions if attempts]
    means = {name: _mean(live, value) for name, value in _VALUES.items()}
    return Context(
        **means,
        chars_per_right=_per_right(live, _ledger("context_chars")),
        tokens_per_right=_per_right(live, tokens_in),
    )


def _ledger(name: str) -> Value:
    def value(attempt: AttemptResult) -> float | None:
        found = (attempt.ledger or {}).get(name)
        return float(found) if isinstance(found, int) and not isinstance(found, bool) else None

    return value


def _bucket(name: str) -> Value:
    return lambda attempt: None if attempt.tokens is None else float(getattr(attempt.tokens, name))


def tokens_in(attempt: AttemptResult) -> float | None:
    """Everything that went in, as the host counts it."""
    t = attempt.tokens
    return None if t is None else float(t.input + t.cache_read + t.cache_write)


_VALUES: Final[Mapping[str, Value]] = {
    **{name: _ledger(name) for name in ("definition_chars", "instructions_chars", "result_chars", "context_chars")},
    **{name: _bucket(name) for name in ("input", "cache_write", "cache_read", "output")},
}


def _known(attempts: Sequence[AttemptResult], value: Value) -> list[float]:
    return [found for attempt in attempts if (found := value(attempt)) is not None]


def _mean(questions: Questions, value: Value) -> float | None:
    groups = [known for attempts, _ in questions if (known := _known(attempts, value))]
    return fmean(map(fmean, groups)) if groups else None


def _per_right(questions: Questions, value: Value) -> PerSuccess | None:
    """None unless every measured attempt tells its cost: a cost left out would make its answers free."""
    pairs: list[tuple[float, float]] = []
    for attempts, right in questions:
        known = _known(attempts, value)
        if len(known) < len(attempts):
            return None
        pairs.append((fmean(known), fmean(right)))
    return per_success(pairs)


def context_rows(rows: Sequence[tuple[str, Context, str]], dash: str) -> list[list[str]]:
    """Cells under ``HEAD``; the third of each entry stands in place of numbers where there are none."""
    return [
        [name, *(_cells(context, dash) if not words else [words, *[dash] * (len(HEAD) - 2)])]
        for name, context, words in rows
    ]


def _cells(c: Context, dash: str) -> list[str]:
    chars = [c.definition_chars, c.instructions_chars, c.result_chars, c.context_chars, c.tokens_estimate]
    tokens = [c.input, c.cache_write, c.cache_read, c.output]
    return [
        *(_whole(value, dash) for value in chars),
        *_per(c.chars_per_right, dash),
        *(_whole(value, dash) for value in tokens),
        *_per(c.tokens_per_right, dash),
    ]


def _whole(value: Any, dash: str) -> str:
    return dash if value is None else f"{value:,.0f}"


def _per(found: PerSuccess | None, dash: str) -> list[str]:
    if found is None:
        return [dash, dash]
    if found.value is None:
        return ["none right", dash]
    if found.low is None:
        return [f"{found.value:,.0f}", dash]
    high = "∞" if found.high is None else f"{found.high:,.0f}"
    return [f"{found.value:,.0f}", f"[{found.low:,.0f}, {high}]"]
