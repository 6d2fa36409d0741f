from decimal import Decimal

import pytest

from okn_benchmark.corpus.record import (
    QueryTrap,
    RecordError,
    ScaleTrap,
    fingerprint,
    meant,
    parse_record,
    tier_of,
)

QUERY = "PREFIX ex: <http://example.org/>\nSELECT ?s WHERE { ?s ex:p ?o }\n"


def record(header: str, query: str = QUERY, name: str = "toy_floor.rq"):
    return parse_record(header + query, name)


def test_a_tidy_record() -> None:
    got = record("#+ summary: >-\n#+   Which things\n#+   have a value?\n#+ tags:\n#+   - toy-kg\n#+   - other\n\n")
    assert (got.id, got.tier, got.summary, got.tags) == (
        "toy_floor",
        "floor",
        "Which things have a value?",
        ("toy-kg", "other"),
    )
    assert got.query == QUERY.strip()
    assert got.query_line == 8
    assert not got.empty


def test_a_plain_summary_keeps_colons_and_number_signs_and_stops_at_the_next_key() -> None:
    got = record("#+ summary: Return two columns: name, rank #1 first.\n#+          Ties: by name.\n#+ tags: [a, b]\n")
    assert got.summary == "Return two columns: name, rank #1 first. Ties: by name."
    assert got.tags == ("a", "b")


@pytest.mark.parametrize(
    ("header", "summary"),
    [
        ("#+summary: no blank\n#+tags: a\n", "no blank"),
        ("\ufeff#+ summary: a mark\r\n#+ tags: a\r\n", "a mark"),
        ('#+ summary: "quoted: yes"\n#+ tags: a\n', "quoted: yes"),
        ("#+   summary: indented\n#+   tags:\n#+     - a\n", "indented"),
        ("#+ summary: |\n#+   two\n#+   lines\n#+ tags:\n#+   - a   \n", "two\nlines"),
        ("#+ summary: unindented\n#+ second line\n#+ tags: a\n", "unindented second line"),
    ],
)
def test_untidy_headers(header: str, summary: str) -> None:
    got = record(header)
    assert got.summary == summary
    assert got.tags == ("a",)


def test_lines_below_the_prefixes_belong_to_the_header_too() -> None:
    got = parse_record("PREFIX ex: <http://example.org/>\n#+ summary: late\nSELECT * { ?s ?p ?o }\n", "late.rq")
    assert got.summary == "late"
    assert "#+" not in got.query
    assert got.tier is None


@pytest.mark.parametrize(
    ("header", "query", "line", "word"),
    [
        ("# only a comment\n", QUERY, 1, "no summary"),
        ("#+ tags: a\n", QUERY, 1, "no summary"),
        ("#+ summary:\n#+ tags: a\n", QUERY, 1, "empty"),
        ("#+ summary: a\n", "\n\n", 4, "no query"),
        ("#+ summary: a\n#+ summary: b\n", QUERY, 2, "twice"),
        ("#+ summary: a\n#+ tags:\n#+   - [1, 2\n#+   x: }\n", QUERY, 4, "not YAML"),
        ("#+ summary: a\n#+ tags:\n#+   key: value\n", QUERY, 2, "shortnames"),
        ("#+ summary: a\n#+ empty: perhaps\n", QUERY, 2, "true or false"),
        ("#+ summary: a\n#+ traps:\n#+   x: 3\n", QUERY, 2, "neither a query"),
        ("#+ summary: a\n#+ traps:\n#+   x: {scale: {column: v, by: 1}}\n", QUERY, 2, "neither a query"),
        ("#+ stray\n#+ summary: a\n", QUERY, 1, "belongs to no key"),
    ],
)
def test_a_bad_record_names_its_line(header: str, query: str, line: int, word: str) -> None:
    with pytest.raises(RecordError, match=word) as caught:
        record(header, query)
    assert (caught.value.name, caught.value.line) == ("toy_floor.rq", line)


@pytest.mark.parametrize("name", ["-x.rq", "a b.rq", "a/b.rq", ".hidden.rq", "ä.rq"])
def test_a_name_that_cannot_name_a_folder_is_refused(name: str) -> None:
    with pytest.raises(RecordError, match="record id"):
        record("#+ summary: a\n", name=name)


def test_traps_and_the_empty_mark() -> None:
    got = record(
        "#+ summary: a\n#+ empty: true\n#+ traps:\n#+   upside-down: |\n#+     SELECT ?s WHERE { ?o ex:p ?s }\n"
        "#+   in-thousands:\n#+     scale: {column: value, by: 0.001}\n"
    )
    assert got.empty
    assert got.traps["in-thousands"] == ScaleTrap("value", Decimal("0.001"))
    trap = got.traps["upside-down"]
    assert isinstance(trap, QueryTrap)
    assert trap.query == "PREFIX ex: <http://example.org/>\nSELECT ?s WHERE { ?o ex:p ?s }"


def test_the_fingerprint_is_of_the_query_alone() -> None:
    one, two = record("#+ summary: a\n"), record("#+ summary: b\n#+ tags: x\n\n")
    assert fingerprint(one.query) == fingerprint(two.query)
    assert fingerprint("a\r\nb\n") == fingerprint("\na\nb")
    assert fingerprint("a") != fingerprint("b")


@pytest.mark.parametrize(("stem", "tier"), [("a_b", "b"), ("a_b_c", "c"), ("a", None), ("_b", None), ("a_", None)])
def test_the_tier_is_what_follows_the_last_underscore(stem: str, tier: str | None) -> None:
    assert tier_of(stem) == tier


def test_a_misspelt_summary_is_named_with_its_line() -> None:
    with pytest.raises(RecordError, match=r"a\.rq:2: there is no summary; 'sumary' is not 'summary'"):
        parse_record("#+ tags: [a]\n#+ sumary: What?\nSELECT ?s { ?s ?p ?o }", "a.rq")


def test_keys_that_mean_nothing_are_kept_by_name_and_line() -> None:
    text = "#+ summary: What?\n#+ trap:\n#+   t: x\n#+ method: GET\n#+ Traps:\n#+   u: y\nSELECT ?s { ?s ?p ?o }"
    found = parse_record(text, "a.rq")
    assert found.other_keys == (("trap", 2), ("method", 4), ("Traps", 5))
    assert [meant(key) for key, _ in found.other_keys] == ["traps", None, "traps"]
