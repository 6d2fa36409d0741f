"""Aggregates: every rate beside what it is a rate of, unknown never zero."""

from typing import Any

import pytest

from okn_benchmark.runs.aggregate import aggregate, mean, outcome_counts, question_entry
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult, Tokens


def attempt(number: int, f1: float | None = 1.0, **changes: Any) -> AttemptResult:
    """An attempt with that f1; None is blocked."""
    if f1 is None:
        return AttemptResult(**({"attempt": number, "outcome": "blocked", "cause": "startup"} | changes))
    verdict = {
        "contract": 1,
        "exact": f1 == 1.0,
        "strict_exact": False,
        "ordered": f1 == 1.0,
        "strict_ordered": False,
        "f1": f1,
        "strict_f1": f1 / 2,
        "precision": f1,
        "recall": f1,
        "diagnosis": [] if f1 == 1.0 else ["subset", "iri_form"],
    }
    return AttemptResult(**({"attempt": number, "outcome": "answered", "verdict": verdict, "server_s": 1.0} | changes))


def question(name: str, *scores: float | None) -> QuestionResult:
    attempts = tuple(attempt(n, score) for n, score in enumerate(scores, start=1))
    return QuestionResult(record=name, condition="c", attempts=attempts, tier="t")


def test_denominators_are_stated() -> None:
    got = aggregate([question("a", 1.0, 1.0, None), question("b", 0.5, 1.0, 0.0), question("c", None, None, None)])
    assert (got["questions"], got["questions_measured"]) == (3, 2)
    assert (got["attempts"], got["measured"], got["blocked"]) == (9, 5, 4)
    assert got["blocked_by_cause"] == {"startup": 4}
    assert got["outcomes"] == {"answered": 5, "blocked": 4}
    assert (got["always_exact"], got["ever_exact"], got["flaky"]) == (1, 2, 1)


def test_means_weigh_each_question_the_same_whatever_its_attempts() -> None:
    got = aggregate([question("a", 1.0), question("b", 0.0, 0.0, 0.0)])
    assert got["mean_f1"] == 0.5
    assert got["exact_rate"] == 0.5
    assert got["mean_strict_f1"] == 0.25
    assert got["strict_exact_rate"] == 0.0


@pytest.mark.parametrize("results", [[], [question("a")], [question("a", None, None)]])
def test_a_rate_over_nothing_is_unknown(results: list[QuestionResult]) -> None:
    got = aggregate(results)
    assert got["measured"] == 0
    for name in ("exact_rate", "strict_exact_rate", "ordered_rate", "mean_f1", "mean_strict_f1", "mean_recall"):
        assert got[name] is None
    assert mean([]) is None


def test_totals_say_how_many_attempts_knew() -> None:
    attempts = (
        attempt(1, wall_s=1.5, cost_usd=0.1, queries_ok=2, tools_called=("a", "b")),
        attempt(2, wall_s=2.5, tokens=Tokens(input=1, output=2, cache_read=3, cache_write=4), soft_errors={"a": 2}),
        attempt(3, None),
    )
    totals = aggregate([QuestionResult(record="a", condition="c", attempts=attempts)])["totals"]
    assert totals["wall_s"] == {"sum": 4.0, "known": 2}
    assert totals["cost_usd"] == {"sum": 0.1, "known": 1}
    assert totals["queries_ok"] == {"sum": 2, "known": 1}
    assert totals["tool_calls"] == {"sum": 2, "known": 1}
    assert totals["tokens_cache_write"] == {"sum": 4, "known": 1}
    assert totals["turns"] == {"sum": None, "known": 0}
    assert totals["soft_errors"] == {"sum": 2, "known": 2}


def test_sums_do_not_depend_on_the_order_of_the_questions() -> None:
    questions = [question(str(n), n / 7, n / 11) for n in range(7)]
    assert aggregate(questions) == aggregate(questions[::-1])


def test_wrong_answers_are_counted_by_their_first_diagnosis() -> None:
    assert aggregate([question("a", 0.5, 0.2, 1.0)])["diagnoses"] == {"subset": 2}


def test_a_measured_attempt_without_a_verdict_scores_nothing() -> None:
    silent = AttemptResult(attempt=1, outcome="no_submission")
    got = aggregate([QuestionResult(record="a", condition="c", attempts=(silent,))])
    assert (got["measured"], got["mean_f1"], got["exact_rate"]) == (1, 0.0, 0.0)


def test_a_question_entry_is_over_its_measured_attempts() -> None:
    got = question_entry(question("a", 1.0, 0.5, None))
    assert (got["attempts"], got["measured"], got["blocked"], got["exact"]) == (3, 2, 1, 1)
    assert got["mean_f1"] == 0.75
    assert question_entry(question("a", None))["mean_f1"] is None


def test_outcomes_are_in_the_order_of_the_vocabulary() -> None:
    attempts = [AttemptResult(attempt=1, outcome=o) for o in ("blocked", "timeout", "answered", "timeout")]  # type: ignore[arg-type]
    assert list(outcome_counts(attempts).items()) == [("answered", 1), ("timeout", 2), ("blocked", 1)]
