"""Answers that are built to take long. Each would run for minutes if anything here were quadratic."""

import json

import pytest

from okn_benchmark.scoring.answer import Answer, write_answer
from okn_benchmark.scoring.explain import explain
from okn_benchmark.scoring.verdict import judge
from okn_benchmark.table import Table, iri, table, text, typed

KEY = table(
    ["id", "label", "v", "n"],
    [
        [
            iri(f"http://x.example/g/{n}"),
            text(f"Label é {n}"),
            typed(f"{n}.5", "decimal"),
            typed(str(n), "integer"),
        ]
        for n in range(50)
    ],
)


def one_column(cell: str, times: int = 50) -> bytes:
    return write_answer(Answer(columns=("id", "label", "v", "n"), rows=[(cell, cell, cell, cell)] * times))


@pytest.mark.parametrize(
    "cell",
    [
        "1" * 200_000,
        "1e9999",
        "9" * 5_000 + "e-9999",
        "0." + "0" * 100_000 + "1",
        "a" + "\u0315\u0300" * 100_000,
        '"' * 100_000,
        '"' + 'x"@en' * 30_000,
        "_:" * 50_000,
        "a:" * 50_000,
        "/" * 100_000,
        "2020-01-01T00:00:00." + "0" * 100_000,
        "<" * 50_000 + ">" * 50_000,
    ],
    ids=lambda cell: cell[:12],
)
def test_a_cell_of_any_length_and_kind(cell: str) -> None:
    verdict = judge(KEY, one_column(cell))
    assert verdict.f1 == 0
    json.dumps(verdict.to_json(), allow_nan=False)
    assert explain(KEY, one_column(cell), limit=1).extra_count == 50


def test_a_header_of_a_hundred_thousand_columns() -> None:
    wide = ",".join(f"c{n}" for n in range(100_000)).encode() + b"\n"
    assert judge(KEY, wide + b"x," * 99_999 + b"x\n").f1 == 0
    key = table(["a"], [[text("x")]])
    assert judge(key, wide + b"y," * 99_999 + b"x\n").f1 == 0


def test_ten_columns_that_look_alike_are_told_apart() -> None:
    rows = [[str((row * (at + 3) + row // 7) % 3) for at in range(10)] for row in range(400)]
    key = table([f"c{at}" for at in range(10)], [[typed(cell, "integer") for cell in row] for row in rows])
    given = Answer(columns=tuple(f"n{at}" for at in range(10)), rows=[tuple(row[::-1]) for row in reversed(rows)])
    verdict = judge(key, write_answer(given))
    assert verdict.exact
    assert not verdict.guards


def test_a_search_that_runs_out_says_so_and_keeps_the_best() -> None:
    width = 12
    rows = [[str((row * 7919 + at * 104729 + (row * at) % 11) % 2) for at in range(width)] for row in range(600)]
    other = [[str((row * 6101 + at * 7907 + (row + at) % 7) % 2) for at in range(width)] for row in range(600)]
    key = table([f"c{at}" for at in range(width)], [[typed(cell, "integer") for cell in row] for row in rows])
    verdict = judge(
        key, write_answer(Answer(columns=tuple(f"n{at}" for at in range(width)), rows=list(map(tuple, other))))
    )
    assert [guard.guard for guard in verdict.guards] == ["assignment_budget"]
    assert verdict.guards[0].column is None
    assert 0 <= verdict.f1 <= 1


def test_more_columns_than_anyone_searches() -> None:
    width = 150
    key = table([f"c{at}" for at in range(width)], [[text(str(at)) for at in range(width)]])
    order = [(at * 7) % width for at in range(width)]
    shuffled = Answer(
        columns=tuple(f"n{at}" for at in range(width)), rows=[tuple(str(order[at]) for at in range(width))]
    )
    assert judge(key, write_answer(shuffled)).ordered  # rows in order need no search
    wrong = Answer(columns=shuffled.columns, rows=[("x", *shuffled.rows[0][1:])])
    assert "assignment_budget" in {guard.guard for guard in judge(key, write_answer(wrong)).guards}


def test_equal_rows_by_the_thousand() -> None:
    key = table(["a", "b"], [[typed("5", "integer"), text("5", language="en")]] * 3_000)
    answer = Answer(columns=("a", "b"), rows=[("5.0", "5")] * 2_999 + [("5", "5.0")])
    assert judge(key, write_answer(answer)).f1 == 2_999 / 3_000


def test_many_rows_of_several_readings() -> None:
    cells = [[typed(str(n % 40), "integer"), text(str(n % 40), language="en")][n % 2] for n in range(4_000)]
    key = Table(("a", "b"), tuple((cell, text(str(n % 3))) for n, cell in enumerate(cells)))
    rows = [(str(n % 40) + (".0" if n % 2 == 0 else ""), str(n % 3)) for n in range(4_000)]
    assert judge(key, write_answer(Answer(columns=("a", "b"), rows=rows[::-1]))).exact
