import json

from okn_benchmark.report.detail import Limits, Marked, MarkedRow, call_kind, cut, read_said, timeline
from okn_benchmark.runs.shapes import Call


def _call(seq: int, at: str = "", elapsed: float | None = 1.0, **more) -> Call:
    return Call(
        seq=seq, tool="query", arguments={"query": "SELECT 1"}, started_at=at, elapsed_s=elapsed, ok=True, **more
    )


def test_calls_stand_on_the_line_where_they_happened() -> None:
    calls = [_call(1, "2026-11-30T12:00:00Z", 2.0), _call(2, "2026-11-30T12:00:06Z", 4.0)]
    first, second = timeline(calls, Limits())
    assert (first.at_s, first.x, first.width) == (0.0, 0.0, 20.0)
    assert (second.at_s, second.x, second.width) == (6.0, 60.0, 40.0)
    assert first.arguments == "SELECT 1"


def test_a_clock_that_cannot_be_read_has_no_time() -> None:
    (only,) = timeline([_call(1, "yesterday", None)], Limits())
    assert only.at_s is None
    assert only.elapsed_s is None
    assert 0 < only.width <= 100


def test_no_call_leaves_the_line() -> None:
    calls = [_call(n, f"2026-11-30T12:00:{n:02d}Z", 0.0001) for n in range(1, 50)]
    for shown in timeline(calls, Limits()):
        assert 0 <= shown.x <= 100
        assert shown.x + shown.width <= 100.001


def test_the_worst_of_a_call_is_what_is_shown() -> None:
    assert call_kind(_call(1, soft_error="HTTP Error 429")) == "soft error"
    assert call_kind(_call(1, withheld=True)) == "withheld"
    assert call_kind(_call(1, timed_out=True)) == "timed out"


def test_a_conversation_is_read_block_by_block() -> None:
    lines = [
        b"not json",
        json.dumps({"type": "system", "subtype": "init"}).encode(),
        json.dumps({"type": "assistant", "message": {"content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Looking."},
            {"type": "tool_use", "name": "mcp__okn__query", "input": {"query": "SELECT 1"}}]}}).encode(),
        json.dumps({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": [{"type": "text", "text": "a,b"}]}]}}).encode(),
        json.dumps({"type": "user", "message": {"content": "plain"}}).encode(),
        json.dumps({"type": "assistant", "message": "odd"}).encode(),
        json.dumps(["a list"]).encode(),
    ]  # fmt: skip
    said = read_said(lines, Limits())
    assert [(s.who, s.text) for s in said] == [
        ("assistant", "hm"),
        ("assistant", "Looking."),
        ("assistant", "SELECT 1"),
        ("user", "a,b"),
        ("user", "plain"),
    ]
    assert said[2].what == "calls mcp__okn__query"


def test_a_long_conversation_keeps_its_ends_and_counts_the_gap() -> None:
    lines = [json.dumps({"type": "assistant", "message": {"content": f"entry {n}"}}) for n in range(100)]
    said = read_said(lines, Limits(said=10))
    assert [s.text for s in said[:2]] == ["entry 0", "entry 1"]
    assert said[-1].text == "entry 99"
    assert "90 entries" in said[5].text


def test_wrong_rows_come_before_right_ones_when_there_is_no_room() -> None:
    rows = [MarkedRow(mark="matched", answer=("a",), key=("a",))] * 20 + [
        MarkedRow(mark="missing", answer=None, key=("z",))
    ]
    made = cut(
        Marked(answer_columns=("x",), key_columns=("x",), rows=tuple(rows), left_out={"matched": 7}), Limits(rows=3)
    )
    assert [row.mark for row in made.rows] == ["matched", "matched", "missing"]
    assert made.left_out == {"matched": 25}


def test_a_cell_of_a_megabyte_and_a_thousand_columns_are_cut() -> None:
    row = MarkedRow(mark="extra", answer=("x" * 1_000_000,) * 1_000, key=None)
    made = cut(Marked(answer_columns=("c",) * 1_000, key_columns=("k",), rows=(row,), left_out={}), Limits())
    (shown,) = made.rows
    assert shown.answer is not None
    assert len(shown.answer) == 21
    assert len("".join(shown.answer)) < 10_000
