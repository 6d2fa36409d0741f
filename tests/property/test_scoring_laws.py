"""The laws of the scoring contract, for any table and any answer."""

from collections import Counter
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import permutations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.property.strategies import ANY_TEXT, WORDS, tables

from okn_benchmark.scoring.answer import Answer, read_answer, write_answer
from okn_benchmark.scoring.cells import NOTHING, lexical
from okn_benchmark.scoring.compare import Key, columns_of, compare
from okn_benchmark.scoring.explain import explain
from okn_benchmark.scoring.number import canonical
from okn_benchmark.scoring.settings import Settings
from okn_benchmark.scoring.verdict import Verdict, judge
from okn_benchmark.sparql.results import csv_text, read_results, write_results
from okn_benchmark.table import Table, table, typed

SETTINGS = Settings()


def own(key: Table) -> Answer:
    return Answer(columns=key.columns, rows=[tuple(map(lexical, row)) for row in key.rows])


@st.composite
def answers(draw: st.DrawFn, key: Table, *, renamed: bool = False) -> Answer:
    """The key's rows, some lost, doubled, shuffled, with cells from elsewhere in the key or from nowhere.

    ``renamed``: as many columns as the key, at least one row, and none of the key's names.
    """
    texts = [lexical(cell) for row in key.rows for cell in row]
    cells = st.sampled_from(texts) | WORDS | ANY_TEXT if texts else WORDS | ANY_TEXT
    wide = len(key.columns)
    width = wide if renamed else draw(st.sampled_from([wide, wide, wide, wide, max(1, wide - 1), wide + 1]))
    count = draw(st.integers(int(renamed), len(key) + 2))
    rows = []
    for _ in range(count):
        row = draw(st.sampled_from(own(key).rows)) if key.rows and draw(st.booleans()) else ()
        row = (*row, *(draw(cells) for _ in range(width)))[:width]
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, width - 1))
            row = (*row[:at], draw(cells), *row[at + 1 :])
        rows.append(row)
    kept = not renamed and width == wide and draw(st.booleans())
    names = key.columns if kept else tuple(f"n{at}" for at in range(width))
    return Answer(columns=names, rows=rows)


def keys_and_answers() -> st.SearchStrategy[tuple[Table, Answer]]:
    return tables().flatmap(lambda key: st.tuples(st.just(key), answers(key)))


def perfect(verdict: Verdict) -> bool:
    return (
        verdict.exact
        and verdict.strict_exact
        and verdict.ordered
        and verdict.strict_ordered
        and verdict.f1 == verdict.strict_f1 == verdict.precision == verdict.recall == 1
    )


@given(tables(min_width=0))
def test_a_key_against_its_own_csv_is_perfect(key: Table) -> None:
    assert perfect(judge(key, csv_text(key).encode()))


@given(tables())
def test_results_json_and_back_changes_no_verdict(key: Table) -> None:
    again = read_results(write_results(key))
    assert judge(again, csv_text(key).encode()) == judge(key, csv_text(key).encode())


@given(tables(), st.randoms(use_true_random=False))
def test_renaming_and_permuting_columns_keeps_exact(key: Table, dice: object) -> None:
    order = list(range(len(key.columns)))
    dice.shuffle(order)  # type: ignore[attr-defined]
    rows = [tuple(row[at] for at in order) for row in own(key).rows]
    verdict = judge(key, write_answer(Answer(columns=tuple(f"n{at}" for at in order), rows=rows)))
    assert verdict.exact
    assert verdict.strict_exact
    assert verdict.ordered
    assert verdict.f1 == 1


@given(tables(), st.randoms(use_true_random=False))
def test_permuting_rows_keeps_exact_and_breaks_the_order(key: Table, dice: object) -> None:
    rows = list(own(key).rows)
    dice.shuffle(rows)  # type: ignore[attr-defined]
    verdict = judge(key, write_answer(Answer(columns=key.columns, rows=rows)))
    assert verdict.exact
    assert verdict.strict_exact
    assert verdict.strict_ordered == (rows == own(key).rows)
    assert verdict.ordered >= verdict.strict_ordered
    assert verdict.diagnosis == (() if verdict.ordered else ("order_only",))


@given(tables(min_rows=1), st.data())
def test_a_changed_cell_is_a_lost_row(key: Table, data: st.DataObject) -> None:
    answer = own(key)
    row, at = data.draw(st.integers(0, len(key) - 1)), data.draw(st.integers(0, len(key.columns) - 1))
    strange = "nowhere in the key " + "!" * 30
    answer.rows[row] = (*answer.rows[row][:at], strange, *answer.rows[row][at + 1 :])
    verdict = judge(key, write_answer(answer))
    assert not verdict.exact
    assert verdict.f1 == (len(key) - 1) / len(key)
    assert verdict.strict_f1 == verdict.f1


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8), st.data())
def test_a_changed_count_is_a_lost_row(numbers: list[int], data: st.DataObject) -> None:
    key = table(["k", "n"], [[typed(str(at), "integer"), typed(str(n), "integer")] for at, n in enumerate(numbers)])
    answer = own(key)
    row = data.draw(st.integers(0, len(key) - 1))
    answer.rows[row] = (str(row), str(numbers[row] + data.draw(st.sampled_from([-1, 1, 1000]))))
    verdict = judge(key, write_answer(answer))
    assert not verdict.exact
    assert verdict.f1 == (len(key) - 1) / len(key)


@given(keys_and_answers())
def test_the_numbers_of_a_verdict_agree(pair: tuple[Table, Answer]) -> None:
    key, answer = pair
    verdict = judge(key, write_answer(answer))
    assert 0 <= verdict.strict_f1 <= verdict.f1 <= 1
    assert 0 <= verdict.precision <= 1
    assert 0 <= verdict.recall <= 1
    assert verdict.exact == (verdict.f1 == 1)
    assert verdict.strict_exact == (verdict.strict_f1 == 1)
    assert verdict.exact >= verdict.strict_exact
    assert verdict.exact >= verdict.ordered >= verdict.strict_ordered
    assert verdict.settings == SETTINGS
    assert verdict.guards[: len(Key(key, SETTINGS).guards)] == Key(key, SETTINGS).guards
    if verdict.exact:
        assert verdict.diagnosis in {(), ("order_only",)}
        assert verdict.trap.outcome == "correct"


@given(keys_and_answers())
def test_an_explanation_counts_the_same_rows(pair: tuple[Table, Answer]) -> None:
    key, answer = pair
    verdict, told = judge(key, write_answer(answer)), explain(key, write_answer(answer), limit=100)
    assert told.matched_count + told.near_count + told.missing_count == len(key)
    assert told.matched_count + told.near_count + told.extra_count == len(answer.rows)
    assert told.matched_count == round(verdict.recall * len(key)) if key.rows else told.matched_count == 0
    for miss in told.near:
        assert miss.cells[key.columns.index(miss.column)] == miss.submitted
        assert lexical(key.rows[miss.key_row - 1][key.columns.index(miss.column)]) == miss.expected


@given(
    tables(min_rows=1, max_rows=4, max_width=3).flatmap(lambda key: st.tuples(st.just(key), answers(key, renamed=True)))
)
def test_the_assignment_and_the_matching_are_the_best_there_are(pair: tuple[Table, Answer]) -> None:
    key, answer = pair
    comparison = compare(Key(key, SETTINGS), columns_of(answer))
    for tier in (comparison.strict, comparison.normalized):
        assert tier.matched == max(_matched(tier.columns, answer, order) for order in _orders(len(key.columns)))
        assert tier.ordered == any(_in_sequence(tier.columns, answer, order) for order in _orders(len(key.columns)))


def _orders(width: int) -> list[tuple[int, ...]]:
    return list(permutations(range(width)))


def _fits(columns: object, answer: Answer, order: tuple[int, ...], want: int, have: int) -> bool:
    texts = columns_of(answer).texts
    for at, column in enumerate(columns):  # type: ignore[arg-type, var-annotated]
        (code,) = column.read([texts[order[at]][have]])
        classes = column.several[-2 - code] if code < NOTHING else (code,)
        if column.classes[want] not in classes:
            return False
    return True


def _matched(columns: object, answer: Answer, order: tuple[int, ...]) -> int:
    """Kuhn's algorithm row by row: slow, and nothing like the code under test."""
    rows = len(columns[0].classes)  # type: ignore[index]
    owner: dict[int, int] = {}

    def seat(have: int, tried: set[int]) -> bool:
        for want in range(rows):
            if want not in tried and _fits(columns, answer, order, want, have):
                tried.add(want)
                if want not in owner or seat(owner[want], tried):
                    owner[want] = have
                    return True
        return False

    return sum(seat(have, set()) for have in range(len(answer.rows)))


def _in_sequence(columns: object, answer: Answer, order: tuple[int, ...]) -> bool:
    rows = len(columns[0].classes)  # type: ignore[index]
    return rows == len(answer.rows) and all(_fits(columns, answer, order, row, row) for row in range(rows))


@given(
    st.lists(
        st.decimals(min_value="1e-9", max_value="1e9", allow_nan=False, allow_infinity=False), min_size=1, max_size=6
    ),
    st.integers(4, 20),
)
def test_a_decimal_printed_with_four_digits_or_more_is_itself(values: list[Decimal], digits: int) -> None:
    fractions = [value for value in values if value != value.to_integral_value()]
    assume(fractions)
    key = table(["v"], [[typed(str(value), "decimal")] for value in fractions])
    short = [(str(Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(value)),) for value in fractions]
    verdict = judge(key, write_answer(Answer(columns=("v",), rows=short)))
    assume(not verdict.guards)
    assert verdict.exact


SPELLINGS = st.from_regex(
    r"[+-]?([0-9]{1,4}(\.[0-9]{0,4})?|\.[0-9]{1,4})([eE][+-]?[0-9]{1,2})?", fullmatch=True
).filter(str.isascii)


@given(SPELLINGS, SPELLINGS)
def test_spellings_are_equal_exactly_when_their_values_are(one: str, other: str) -> None:
    assert (canonical(one) == canonical(other)) == (Fraction(one) == Fraction(other))


@given(SPELLINGS, st.integers(-9, 9))
def test_a_number_written_otherwise_is_the_same_number(one: str, shift: int) -> None:
    digits, exponent = Decimal(one).as_tuple().digits, int(Decimal(one).as_tuple().exponent)
    sign = "-" if one.startswith("-") else "+"
    other = f"{sign}00{''.join(map(str, digits))}{'0' * (9 + shift)}.000e{exponent - 9 - shift}"
    assert canonical(one) == canonical(other)


@given(st.lists(st.lists(ANY_TEXT, min_size=2, max_size=2).map(tuple), max_size=4))
def test_what_is_written_is_read(rows: list[tuple[str, ...]]) -> None:
    answer = Answer(columns=("a", "b"), rows=rows)
    assert read_answer(write_answer(answer)) == answer


@given(tables(min_rows=1), st.integers(1, 3))
def test_rows_are_a_multiset(key: Table, times: int) -> None:
    answer = own(key)
    verdict = judge(key, write_answer(Answer(columns=answer.columns, rows=answer.rows + answer.rows[:1] * times)))
    assert verdict.f1 == 2 * len(key) / (2 * len(key) + times)
    assert "superset" in verdict.diagnosis
    assert Counter(verdict.diagnosis)["duplicates"] == 1


@given(tables(), tables())
def test_a_trap_convicts_exactly_its_own_answer(key: Table, trap: Table) -> None:
    verdict = judge(key, csv_text(trap).encode(), SETTINGS, {"t": trap})
    assert verdict.trap.outcome == ("review" if verdict.exact else "trap")
    assert ("trap:t" in verdict.diagnosis) == (not verdict.exact)
