"""Whatever bytes are submitted: a verdict comes back."""

import csv
import io

from hypothesis import example, given
from hypothesis import strategies as st
from tests.property.strategies import tables

from okn_benchmark.scoring.answer import Answer, Malformed, read_answer
from okn_benchmark.scoring.explain import explain
from okn_benchmark.scoring.verdict import judge
from okn_benchmark.table import Table

PIECES = st.sampled_from(
    [b"a", b",", b'"', b'""', b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"\x00", b"\xff", b"5.0", b"1e9999", b" ", b"c0",
     b"http://a.example/x/1", b'"x"@en', b"end\"probe", b"\xe2\x80\xa8", b"\xcc\x81", b"-INF", b"c1", b"?"]
)  # fmt: skip
NOISE = st.binary(max_size=60) | st.lists(PIECES, max_size=25).map(b"".join)


@given(NOISE)
@example(b'"')
@example(b'a\n"')
@example(b'"a"\n"b""')
@example(b'end"probe')
@example(b'a\nend"probe\n')
def test_reading_returns_a_table_or_a_reason(data: bytes) -> None:
    found = read_answer(data)
    if isinstance(found, Malformed):
        assert found.reason.endswith(".")
        return
    assert all(len(row) == len(found.columns) for row in found.rows)
    text = data.decode("utf-8-sig")
    assert [list(found.columns), *map(list, found.rows)] == [row for row in csv.reader(io.StringIO(text, "")) if row]


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=1, max_size=3), min_size=1, max_size=4
    )
)
def test_what_another_csv_writer_writes_is_read(rows: list[list[str]]) -> None:
    width = len(rows[0])
    rows = [(row + [""] * width)[:width] for row in rows]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    assert read_answer(out.getvalue().encode()) == Answer(columns=tuple(rows[0]), rows=[tuple(row) for row in rows[1:]])


@given(tables(min_width=0), NOISE)
def test_judging_and_explaining_never_raise(key: Table, data: bytes) -> None:
    verdict = judge(key, data)
    assert verdict.submitted
    assert verdict.reference_rows == len(key)
    assert 0 <= verdict.f1 <= 1
    told = explain(key, data, limit=2)
    assert told.matched_count + told.near_count + told.missing_count == len(key)
