import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.sparql.tokens import expand_dotted, outline, prefixes, tokens

HEAD = "PREFIX k: <http://k/>\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?s ?p k:a.USA.13 .", "?s ?p <http://k/a.USA.13> ."),
        ("?s ?p k:a.USA.13.", "?s ?p <http://k/a.USA.13>."),
        ("?s ?p k:a.b.", "?s ?p k:a.b."),
        ("?s ?p unknown:a.b.c", "?s ?p unknown:a.b.c"),
        ('?s ?p "k:a.b.c"', '?s ?p "k:a.b.c"'),
        ("?s ?p '''k:a.b.c'''", "?s ?p '''k:a.b.c'''"),
        ('?s ?p "quote \\" k:a.b.c"', '?s ?p "quote \\" k:a.b.c"'),
        ("?s ?p <http://x/k:a.b.c>", "?s ?p <http://x/k:a.b.c>"),
        ("?s ?p ?o # k:a.b.c\n", "?s ?p ?o # k:a.b.c\n"),
        ("?s ?p k:a\\-b.c.d", "?s ?p <http://k/a-b.c.d>"),
        ("?s ?p k:%20.b.c", "?s ?p <http://k/%20.b.c>"),
        ("FILTER(?a<k:a.b.c && ?b>1)", "FILTER(?a< <http://k/a.b.c> && ?b>1)"),
    ],
)
def test_only_prefixed_names_with_two_dots_are_written_out(before: str, after: str) -> None:
    assert expand_dotted(HEAD + before) == HEAD + after


@given(st.text(alphabet="k:a.b<>\"'\\#?{} \nPREFIX", max_size=60))
def test_any_text_passes_and_without_two_dots_nothing_changes(text: str) -> None:
    list(tokens(text))
    outline(text)
    if text.count(".") < 2:
        assert expand_dotted(text) == text


@pytest.mark.parametrize(
    ("query", "form", "has_dataset", "service"),
    [
        ("SELECT * { ?s ?p ?o }", "SELECT", False, False),
        ("base <http://e/> prefix from: <http://f/> select * { ?from from:service ?o }", "SELECT", False, False),
        ("SELECT * FROM <http://g> { ?s ?p ?o }", "SELECT", True, False),
        ("SELECT * from named <http://g> { ?s ?p ?o }", "SELECT", True, False),
        ("ASK { SERVICE SILENT <http://x> { ?s ?p ?o } }", "ASK", False, True),
        ('ASK { ?s ?p "SERVICE" } # SERVICE', "ASK", False, False),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "CONSTRUCT", False, False),
        ("INSERT DATA { <a> <b> <c> }", None, False, False),
        ("", None, False, False),
    ],
)
def test_the_outline_of_a_query(query: str, form: str | None, has_dataset: bool, service: bool) -> None:
    got = outline(query)
    assert (got.form, got.has_dataset, got.service is not None) == (form, has_dataset, service)


def test_prefixes() -> None:
    assert prefixes("PREFIX : <http://d/> Prefix kwg-ont:<http://k/> SELECT * {}") == {
        "": "http://d/",
        "kwg-ont": "http://k/",
    }


@pytest.mark.parametrize("unit", ['"\\', "'\\", '"""\\', "a.", '"""', "<a", "_:a.", "k:a.b.", '"a\n'])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    started = time.perf_counter()
    list(tokens(unit * 50_000))
    assert time.perf_counter() - started < 10
