import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.errors import InputError
from okn_benchmark.sparql.results import (
    csv_text,
    read_csv_results,
    read_results,
    read_tsv_results,
    write_results,
)
from okn_benchmark.table import Table, Term, iri, table, text, typed

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
TERMS = st.one_of(
    st.none(),
    st.builds(iri, TEXT),
    st.builds(text, TEXT),
    st.builds(lambda value: Term("literal", value, "", "en"), TEXT),
    st.builds(lambda value: typed(value, "integer"), TEXT),
    st.builds(lambda value: Term("bnode", value), st.text("abc1", min_size=1, max_size=4)),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(st.from_regex(r"[a-z][a-z0-9]{0,3}", fullmatch=True), min_size=1, max_size=4, unique=True))
    row = st.tuples(*[TERMS] * len(columns))
    return table(columns, draw(st.lists(row, max_size=6)))


@given(tables())
def test_json_keeps_everything(value: Table) -> None:
    assert read_results(write_results(value)) == value


@given(tables())
def test_the_csv_reads_back_as_the_same_cells(value: Table) -> None:
    records = [record for record in csv.reader(io.StringIO(csv_text(value), newline="")) if record]
    plain = [["" if c is None else "_:" + c.value if c.kind == "bnode" else c.value for c in row] for row in value.rows]
    assert records == [list(value.columns), *plain]


def test_a_lone_unbound_cell_is_not_a_blank_line() -> None:
    assert csv_text(table(["a"], [[None], [text("x")]])) == 'a\n""\nx\n'


def test_csv_quotes_what_needs_it_and_nothing_else() -> None:
    assert csv_text(table(["a", "b"], [[text("x, y"), text('say "hi"')], [text("cr\rhere"), iri("http://e/x")]])) == (
        'a,b\n"x, y","say ""hi"""\n"cr\rhere",http://e/x\n'
    )


def test_a_plain_string_loses_its_datatype_and_a_tagged_one_keeps_its_language() -> None:
    string = {"type": "literal", "value": "x", "datatype": "http://www.w3.org/2001/XMLSchema#string"}
    tagged = {"type": "literal", "value": "x", "xml:lang": "en", "datatype": "whatever"}
    document = {"head": {"vars": ["a", "b"]}, "results": {"bindings": [{"a": string, "b": tagged}]}}
    assert read_results(document).rows == ((text("x"), text("x", language="en")),)


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ([], "not a JSON object"),
        ({"boolean": True}, "ASK"),
        ({"head": {"vars": ["a"]}}, "results is missing"),
        ({"head": {"vars": "a"}, "results": {"bindings": []}}, "head.vars"),
        ({"head": {"vars": ["a", "a"]}, "results": {"bindings": []}}, "twice"),
        ({"head": {"vars": ["a"]}, "results": {"bindings": {}}}, "not a list"),
        ({"head": {"vars": ["a"]}, "results": {"bindings": [3]}}, r"bindings\[0\]"),
        ({"head": {"vars": ["a"]}, "results": {"bindings": [{"b": {}}]}}, "'b'"),
        ({"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri"}}]}}, "no text value"),
        ({"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "triple", "value": "x"}}]}}, "triple"),
    ],
)
def test_what_is_not_a_table_is_named(document: object, word: str) -> None:
    with pytest.raises(InputError, match=word):
        read_results(document, "these")


def test_csv_and_tsv_results() -> None:
    assert read_csv_results("?a,b\r\nx,\r\n").rows == ((text("x"), None),)
    got = read_tsv_results('?a\t?b\n<http://e/x>\t"a\\tb"@en\n12\t1.5\n_:x\t\n1e3\t"7"^^<http://e/t>\ntrue\t"p"\n')
    assert got.columns == ("a", "b")
    assert got.rows == (
        (iri("http://e/x"), text("a\tb", language="en")),
        (typed("12", "integer"), typed("1.5", "decimal")),
        (Term("bnode", "x"), None),
        (typed("1e3", "double"), typed("7", "http://e/t")),
        (typed("true", "boolean"), text("p")),
    )
    assert read_tsv_results("?a\n\n1\n").rows == ((None,), (typed("1", "integer"),))


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (read_csv_results, "a,b\n1\n"),
        (read_csv_results, ""),
        (read_tsv_results, "?a\nbare\n"),
        (read_tsv_results, "?a\t?b\n1\n"),
    ],
)
def test_broken_tables_of_text(read, raw: str) -> None:
    with pytest.raises(InputError):
        read(raw)
