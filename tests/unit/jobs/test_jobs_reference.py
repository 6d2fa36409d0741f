import pytest

from okn_benchmark.cli.reference import _show_built
from okn_benchmark.corpus.select import Selection
from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.jobs.reference import BuildReport, DriftReport, failures
from okn_benchmark.reference.build import Built
from okn_benchmark.reference.drift import Drift
from okn_benchmark.sparql.result import EndpointFailure, QueryRejected, Unreachable

DEAD = Unreachable("http://e cannot be reached.", hint="Check the URL.")
ENTRIES = (
    Built(record="a", status="kept", rows=1),
    Built(record="b", status="failed", error=DEAD),
    Built(record="c", status="not tried"),
    Built(record="d", status="not tried"),
)


def report(*entries: Built) -> BuildReport:
    return BuildReport(endpoint="http://e", selection=Selection(records=(), excluded=(), total=4), entries=entries)


def test_what_failed_and_what_was_not_tried_are_counted_apart() -> None:
    made = report(*ENTRIES)
    assert made.summary() == "0 of 4 records run against http://e; 1 kept, 1 failed, 2 not tried."
    shown = made.to_json()
    assert (shown["failed"], shown["not_tried"]) == (1, 2)
    assert [(entry["status"], entry["error"] is None) for entry in shown["records"]] == [
        ("kept", True), ("failed", False), ("not tried", True), ("not tried", True),
    ]  # fmt: skip
    assert made.exit_code() == OutsideFailure.exit_code
    assert failures(ENTRIES) == ["b: http://e cannot be reached. Check the URL.", "not tried after that: c, d"]


def test_a_check_counts_them_apart_too() -> None:
    entries = (Drift(record="a", state="failed", error=DEAD), Drift(record="b", state="not tried"))
    made = DriftReport(endpoint="http://e", entries=entries)
    assert made.summary() == "http://e: 1 failed, 1 not tried."
    assert made.exit_code() == OutsideFailure.exit_code


def test_a_failure_line_names_its_record_once_and_ends_a_strangers_words() -> None:
    rejected = InputError("reef.rq: http://e rejects the query: line 1: nope")
    answered = EndpointFailure("http://e answers 405: Method Not Allowed", hint="Check that it is an endpoint.")
    lines = failures(
        [Built(record=name, status="failed", error=e) for name, e in (("reef", rejected), ("b", answered))]
    )
    assert lines == [
        "reef.rq: http://e rejects the query: line 1: nope.",
        "b: http://e answers 405: Method Not Allowed. Check that it is an endpoint.",
    ]


def test_a_sentence_keeps_the_stop_it_has() -> None:
    assert [QueryRejected(words).sentence for words in ("No", "No.", "Why?")] == ["No.", "No.", "Why?"]


def test_progress_says_nothing_of_what_was_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    for entry in ENTRIES:
        _show_built(entry)
    assert capsys.readouterr().err.splitlines() == ["a: 1 row (kept)", "b: failed"]
