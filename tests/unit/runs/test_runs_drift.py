"""What a drift check left in a condition record, and what it takes out of the numbers."""

import pytest

from okn_benchmark.runs.aggregate import aggregate
from okn_benchmark.runs.drift import DriftCheck, Moved, read_drift
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult

DRIFTED = {"state": "drifted", "rows_then": 9, "rows_now": 11, "lost": 1, "gained": 3}


def test_what_moved_is_read_by_end_and_record() -> None:
    found = read_drift({"drift": {"start": {}, "end": {"b": {"state": "tie-unstable"}, "a": DRIFTED}}})
    assert found is not None
    assert found.checked == ("start", "end")
    assert found.moved[0] == Moved(record="a", when="end", state="drifted", rows_then=9, rows_now=11, lost=1, gained=3)
    assert [(m.record, m.state, m.rows_then) for m in found.moved[1:]] == [("b", "tie-unstable", None)]
    assert found.apart == {"a"}


def test_a_key_that_moved_at_the_start_alone_is_apart_too() -> None:
    found = read_drift({"drift": {"start": {"a": DRIFTED}}})
    assert found is not None
    assert found.checked == ("start",)
    assert found.apart == {"a"}


@pytest.mark.parametrize("meta", [{}, {"drift": None}, {"drift": "checked"}, {"drift": {}}, {"drift": {"start": []}}])
def test_unknown_is_not_checked(meta: dict) -> None:
    assert read_drift(meta) is None


def test_checked_and_stable_is_not_unknown() -> None:
    assert read_drift({"drift": {"start": {}, "end": {}}}) == DriftCheck(checked=("start", "end"), moved=())


def test_what_cannot_be_understood_is_passed_over() -> None:
    found = read_drift({"drift": {"start": {"a": "drifted", "b": {"state": 3, "lost": True}}, "x": {}}})
    assert found is not None
    assert [(m.record, m.state, m.lost) for m in found.moved] == [("b", "3", None)]
    assert found.apart == frozenset()


def _question(record: str, *, exact: bool) -> QuestionResult:
    attempt = AttemptResult(attempt=1, outcome="answered", verdict={"exact": exact, "f1": float(exact)})
    return QuestionResult(record=record, condition="c", attempts=(attempt,))


def test_a_drifted_record_is_named_and_in_no_mean() -> None:
    results = [_question("a", exact=True), _question("b", exact=False)]
    found = aggregate(results, apart={"b"})
    assert (found["exact_rate"], found["questions"], found["attempts"]) == (1.0, 1, 1)
    assert found["drifted"] == ["b"]
    assert aggregate(results)["drifted"] == []
    assert aggregate(results)["exact_rate"] == 0.5
