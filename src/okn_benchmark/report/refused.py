"""An arm whose manipulation check failed: its attempts are shown and none of its numbers stands. Pure.

What did not happen as declared measured nothing, so such an attempt is in no rate, interval, test or plot. The files of
the attempts are untouched; a repaired arm is run anew.
"""

from dataclasses import replace
from typing import Final

from okn_benchmark.runs.shapes import AttemptResult, QuestionResult

GATE_FAILED: Final = "gate failed"


def refused(result: QuestionResult, reason: str) -> QuestionResult:
    """The same question with every score taken out; ``reason`` says which gate failed and how."""
    return replace(result, attempts=tuple(_refused(a, reason) if a.measured else a for a in result.attempts))


def _refused(attempt: AttemptResult, reason: str) -> AttemptResult:
    words = f"{GATE_FAILED}: {reason}"
    return replace(attempt, outcome="blocked", cause=None, reason=words, verdict=None, extra={GATE_FAILED: True})


def is_refused(attempt: AttemptResult) -> bool:
    """Whether the attempt was taken out by a failed gate, and not blocked."""
    return attempt.extra.get(GATE_FAILED) is True
