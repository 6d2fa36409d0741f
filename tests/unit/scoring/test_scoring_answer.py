"""Submitted bytes to texts: what a refused submitter is told, and that no size of anything matters."""

import csv

import pytest

from okn_benchmark.scoring.answer import Answer, Malformed, read_answer, write_answer

MALFORMED = {
    b"": ("There is no header: the first line must name the columns.", None),
    b"\n\r\n": ("There is no header: the first line must name the columns.", None),
    b"x,n\na,1,9\n": ("Row 1 has 3 cells, the header has 2.", 1),
    b"x,n\na,1\n\nb\n": ("Row 2 has 1 cell, the header has 2.", 2),
    b'x\na\n"b\n': ("A quote is opened and never closed.", 2),
    b'"x\n': ("A quote is opened and never closed.", None),
    b"x\n\xff\n": ("The text is not UTF-8 (invalid start byte).", None),
}


@pytest.mark.parametrize("data", MALFORMED, ids=repr)
def test_a_refusal_says_which_row_and_why(data: bytes) -> None:
    reason, row = MALFORMED[data]
    assert read_answer(data) == Malformed(reason=reason, row=row)


def test_a_cell_beyond_the_default_limit_is_read() -> None:
    csv.field_size_limit(131_072)
    found = read_answer(b"x\n" + b"a" * 1_000_000 + b"\n")
    assert isinstance(found, Answer)
    assert len(found.rows[0][0]) == 1_000_000


def test_a_quoted_cell_of_a_hundred_thousand_lines_is_one_cell() -> None:
    found = read_answer(b'x\n"' + b"a\n" * 100_000 + b'"\n')
    assert isinstance(found, Answer)
    assert len(found.rows) == 1


def test_the_line_that_finds_open_quotes_may_itself_be_submitted() -> None:
    assert read_answer(b'x\nend"probe\n') == Answer(columns=("x",), rows=[('end"probe',)])
    assert read_answer(b'end"probe') == Answer(columns=('end"probe',), rows=[])


def test_a_lone_empty_cell_is_written_so_that_it_is_read() -> None:
    assert write_answer(Answer(columns=("x",), rows=[("",)])) == b'x\n""\n'


def test_a_lone_carriage_return_is_quoted() -> None:
    answer = Answer(columns=("x",), rows=[("a\rb",)])
    assert read_answer(write_answer(answer)) == answer
