from collections.abc import Iterator
from pathlib import Path

import pytest

from okn_benchmark.corpus.record import parse_record
from okn_benchmark.jobs.check import check
from okn_benchmark.jobs.choose import Choice
from okn_benchmark.jobs.corpus_list import list_corpus
from okn_benchmark.jobs.lint import Finding, lint_record, lint_together
from okn_benchmark.jobs.lint_rows import lint_rows
from okn_benchmark.sparql.embedded import EmbeddedEndpoint
from okn_benchmark.sparql.endpoint import HttpEndpoint
from okn_benchmark.sparql.result import Result
from okn_benchmark.table import Table, Term, iri, table, text, typed

G = "https://purl.org/okn/frink/kg/"
SUMMARY = "Return the ten places with the highest value: place and value, ties broken by place."
QUERY = (
    f"SELECT ?place ?value {{ GRAPH <{G}nde> {{ ?place <http://e/v> ?value }} }} ORDER BY DESC(?value) ?place LIMIT 10"
)


def record(summary: str = SUMMARY, query: str = QUERY, tags: str = "nde", more: str = "", name: str = "toy_low.rq"):
    return parse_record(f"#+ summary: {summary}\n#+ tags: [{tags}]\n{more}\n{query}\n", name)


@pytest.fixture(scope="module")
def engine() -> Iterator[EmbeddedEndpoint]:
    with EmbeddedEndpoint((), "no data", timeout_s=30) as made:
        yield made


def codes(engine: EmbeddedEndpoint, **parts: str) -> set[str]:
    return {finding.code for finding in lint_record(record(**parts), engine.complaint)}


def test_a_good_record_has_no_findings(engine: EmbeddedEndpoint) -> None:
    assert codes(engine) == set()


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"query": f"ASK {{ GRAPH <{G}nde> {{ ?s ?p ?o }} }}"}, "not-select"),
        ({"query": f"SELECT * {{ GRAPH <{G}nde> {{ ?place ?value ?o }} }} ORDER BY ?place ?value ?o"}, "select-star"),
        ({"query": QUERY.replace("ORDER BY DESC(?value) ?place", "")}, "limit-without-order"),
        ({"query": QUERY.replace("ORDER BY DESC(?value) ?place LIMIT 10", "")}, "no-order"),
        ({"query": QUERY.replace(" ?place LIMIT", " LIMIT")}, "order-not-total"),
        ({"query": QUERY.replace("LIMIT 10", "LIMIT 12")}, "limit-not-stated"),
        ({"query": QUERY.replace("?value {", "?value (BNODE() AS ?b) {")}, "blank-node"),
        ({"query": QUERY.replace("?value }", "?value { SELECT ?place { ?place ?p ?o } LIMIT 3 } }")}, "inner-limit"),
        ({"query": QUERY.replace("LIMIT 10", "LIMITS 10")}, "not-parsed"),
        ({"query": QUERY.replace("?value }", "?value FILTER(<http://v/f>(?value)) }")}, "not-parsed"),
        ({"query": QUERY.replace("?value }", "?value SERVICE <http://x> { ?place ?a ?b } }")}, "service"),
        ({"query": QUERY.replace(f"GRAPH <{G}nde>", "")}, "unscoped"),
        ({"query": QUERY.replace("?value {", "?value ?extra {")}, "column-not-mentioned"),
        ({"summary": SUMMARY + " Use NDE."}, "graph-named"),
        ({"summary": SUMMARY + " Ask spoke okn."}, "graph-named"),
        ({"summary": SUMMARY + " As in http://e/v."}, "iri-named"),
        ({"summary": "Return ten rows of place and value, ties broken by place."}, "order-not-stated"),
        ({"summary": "Return the ten places with the highest value: place, value."}, "tie-breaker-not-stated"),
        ({"tags": ""}, "no-tags"),
        ({"tags": "nde, rural-kg"}, "unknown-tag"),
        ({"tags": "nde, corals"}, "unknown-tag"),
        ({"tags": "prokn"}, "graph-not-tagged"),
        ({"tags": "nde, prokn"}, "tag-not-queried"),
        ({"more": "#+ traps:\n#+   t: SELECT {"}, "not-parsed"),
    ],
)
def test_each_fault_of_a_text_has_its_code(engine: EmbeddedEndpoint, parts: dict[str, str], code: str) -> None:
    assert code in codes(engine, **parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"summary": SUMMARY.replace("ten", "10")},
        {"summary": SUMMARY + " Weigh the scales at two spatial scales."},
        {"query": QUERY.replace("?place", "?place_name"), "summary": SUMMARY.replace("place and", "name of each and")},
        {"query": f"SELECT ?kind (COUNT(*) AS ?value) {{ GRAPH <{G}nde> {{ ?s a ?kind }} }} GROUP BY ?kind "
                  "ORDER BY DESC(?value) ?kind LIMIT 10", "summary": SUMMARY.replace("place", "kind")},
        {"query": "PREFIX k: <http://k/>\n" + QUERY.replace("<http://e/v>", "k:a.b.c.USA.13")},
    ],
)  # fmt: skip
def test_what_only_looks_like_a_fault(engine: EmbeddedEndpoint, parts: dict[str, str]) -> None:
    assert codes(engine, **parts) == set()


def found_in(engine: EmbeddedEndpoint, **parts: str) -> list[Finding]:
    return list(lint_record(record(**parts), engine.complaint))


def test_a_syntax_error_is_an_error_with_its_line_in_the_file(engine: EmbeddedEndpoint) -> None:
    (found,) = found_in(engine, query="PREFIX ex: <http://e/>\n" + QUERY.replace("?value }", "?value\n ))) }"))
    assert (found.level, found.code, found.line) == ("error", "not-parsed", 6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ORDER BY", "\nORDR BY", "SPARQL has no word 'ORDR'; ORDER may be meant"),
        ("SELECT", "\nSELCT", "SPARQL has no word 'SELCT'; SELECT may be meant"),
        ("SELECT", "\nPREFX e: <http://e/> SELECT", "SPARQL has no word 'PREFX'; PREFIX may be meant"),
        ("SELECT ?place", "\nSELECT (COUNT(?x) AS ?n) ?place", "the SELECT contains a variable that is unbound"),
    ],
)
def test_a_key_that_cannot_be_read_has_one_finding(engine: EmbeddedEndpoint, old: str, new: str, words: str) -> None:
    query = "PREFIX ex: <http://e/>" + QUERY.replace(old, new, 1)
    trap = "#+ traps:\n#+   t: SELECT ?place ?value { ?place e:v ?value }"
    (found,) = found_in(engine, query=query, more=trap)
    assert (found.level, found.code, found.line) == ("error", "not-parsed", 6)
    assert words in found.message
    assert "…" not in found.message


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("?value }", "?value FILTER(<http://v/f>(?value)) }", "custom function <http://v/f>", 4),
        ("?value }", "?value\nFILTER(bif:contains(?value, 'x')) }", "the prefix 'bif:' is not declared", 5),
    ],
)
def test_what_other_engines_run_is_a_warning_and_hides_nothing(
    engine: EmbeddedEndpoint, old: str, new: str, words: str, line: int
) -> None:
    query = QUERY.replace(old, new).replace("ORDER BY DESC(?value) ?place LIMIT 10", "")
    parsed, unordered = found_in(engine, query=query)
    assert (parsed.level, parsed.code, parsed.line) == ("warning", "not-parsed", line)
    assert words in parsed.message
    assert unordered.code == "no-order"


def test_a_fault_of_a_trap_is_an_error_of_its_own(engine: EmbeddedEndpoint) -> None:
    (found,) = found_in(engine, more="#+ traps:\n#+   t: SELECT ?s { ?s ?p ?o } ORDR BY ?s")
    assert (found.level, found.code) == ("error", "not-parsed")
    assert "trap 't'" in found.message


def test_a_misspelt_key_is_an_error_and_a_strange_one_a_note(engine: EmbeddedEndpoint) -> None:
    more = "#+ trap:\n#+   t: SELECT {\n#+ endpoint: http://e/\n#+ Empty: true"
    found = [(finding.level, finding.code, finding.line) for finding in found_in(engine, more=more)]
    assert found == [("error", "misspelt-key", 3), ("note", "other-key", 5), ("error", "misspelt-key", 6)]


def test_notes_alone_leave_nothing_to_mend(tmp_path: Path) -> None:
    text_ = f"#+ summary: {SUMMARY}\n#+ tags: [nde]\n#+ endpoint: http://e/\n{QUERY}\n"
    (tmp_path / "a_low.rq").write_text(text_, encoding="utf-8")
    report = check(Choice(corpus=str(tmp_path)), None, 5)
    assert [finding.code for finding in report.findings] == ["other-key"]
    assert report.exit_code() == 0
    assert "nothing to mend" in report.summary()
    assert report.to_json()["notes"] == 1


def test_an_endpoint_that_runs_a_key_has_the_last_word_on_its_dialect(tmp_path: Path) -> None:
    text_ = f"#+ summary: {SUMMARY}\n#+ tags: [nde]\n{QUERY.replace('SELECT ?place', 'SELECT COUNT(?x) ?place')}\n"
    (tmp_path / "a_low.rq").write_text(text_, encoding="utf-8")

    class Lenient(EmbeddedEndpoint):
        def select(self, query: str) -> Result:
            return super().select(QUERY)

    alone = check(Choice(corpus=str(tmp_path)), None, 5)
    assert [f.level for f in alone.findings if f.code == "not-parsed"] == ["error"]
    asked = check(
        Choice(corpus=str(tmp_path)), "any", 5, opener=lambda spec, *, timeout_s: Lenient((), spec, timeout_s=timeout_s)
    )
    assert [f.level for f in asked.findings if f.code == "not-parsed"] == ["warning"]


def test_records_that_repeat_each_other() -> None:
    records = [record(name="a_x.rq"), record(name="A_x.rq", query=QUERY + " # other"), record(name="b_x.rq")]
    found = {(finding.file, finding.code) for finding in lint_together(records)}
    assert found == {
        ("A_x.rq", "duplicate-id"),
        ("A_x.rq", "duplicate-summary"),
        ("b_x.rq", "duplicate-summary"),
        ("b_x.rq", "duplicate-key"),
    }


def rows(*pairs: tuple[str, int | str | None]) -> Table:
    cells = [[iri(f"http://e/{p}"), None if v is None else typed(str(v), "integer")] for p, v in pairs]
    return table(["place", "value"], cells)


GOOD = rows(("a", 3), ("b", 2))


def row_codes(first: Table, second: Table | None = None, beyond: Table | None = None, **parts: str) -> set[str]:
    return {finding.code for finding in lint_rows(record(**parts), first, second or first, beyond)}


def test_good_rows_have_no_findings() -> None:
    assert row_codes(GOOD, beyond=rows(("a", 3), ("b", 2), ("c", 2))) == set()


TIES = QUERY.replace(" ?place LIMIT", " LIMIT")


@pytest.mark.parametrize(
    ("first", "second", "beyond", "parts", "code"),
    [
        (rows(), None, None, {}, "no-rows"),
        (GOOD, None, None, {"more": "#+ empty: true"}, "rows-though-empty"),
        (GOOD, rows(("a", 3), ("c", 2)), None, {}, "unstable-rows"),
        (GOOD, rows(("b", 2), ("a", 3)), None, {}, "unstable-order"),
        (rows(("a", 3), ("a", 3)), None, None, {}, "duplicate-rows"),
        (table(["place", "value"], [[Term("bnode", "x"), text("y")]]), None, None, {}, "blank-node"),
        (rows(("a", None)), None, None, {}, "unbound-column"),
        (rows(("a", 3), ("b", None)), None, None, {}, "unbound-cells"),
        (rows(("a", 3), ("b", None)), None, None, {}, "unbound-sort-key"),
        (rows(("x/a", 3), ("y/a", 2)), None, None, {}, "local-names-merge"),
        (rows(*((f"{n:05}" + "z" * 600, 100 - n) for n in range(99))), None, None, {}, "too-long"),
        (rows(*((f"{n}", 200 - n) for n in range(100))), None, None, {}, "round-count"),
        (rows(("a", 3), ("b", 3)), None, None, {"query": TIES}, "tied-rows"),
        (GOOD, None, rows(("a", 3), ("b", 2), ("c", 2)), {"query": TIES}, "tie-at-cut"),
        (table(["place", "value"], [[iri("http://e/a"), text("9")], [iri("http://e/b"), text("10")]]), None, None, {},
         "numeric-string-key"),
    ],
)  # fmt: skip
def test_each_fault_of_rows_has_its_code(first, second, beyond, parts: dict[str, str], code: str) -> None:
    assert code in row_codes(first, second, beyond, **parts)


def test_codes_with_leading_zeros_are_no_numbers() -> None:
    codes_of_counties = table(["place", "value"], [[iri("http://e/a"), text("06001")], [iri("http://e/b"), text("1")]])
    assert "numeric-string-key" not in row_codes(codes_of_counties)


DATA = f"<{G}nde> {{ <http://e/a> <http://e/v> 3 . <http://e/b> <http://e/v> 2 . <http://e/c> <http://e/v> 2 . }}"
TRAPS = (
    f"#+ traps:\n#+   upside-down: SELECT ?place ?value {{ GRAPH <{G}nde> {{ ?value <http://e/v> ?place }} }}\n"
    f"#+   same: SELECT ?place ?value {{ GRAPH <{G}nde> {{ ?place <http://e/v> ?value }} }}\n"
    "#+   in-thousands: {scale: {column: value, by: 1000}}"
)


def test_a_check_at_an_endpoint(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, query in (("good_low", QUERY), ("cut_low", TIES.replace("LIMIT 10", "LIMIT 2")), ("bad_low", "SELECT {")):
        (folder / f"{name}.rq").write_text(
            f"#+ summary: {SUMMARY} {name} two\n#+ tags: [nde]\n{TRAPS if name == 'good_low' else ''}\n{query}\n",
            encoding="utf-8",
        )
    (folder / "none_low.rq").write_text("SELECT ?s { ?s ?p ?o }\n", encoding="utf-8")
    (tmp_path / "data.trig").write_text(DATA, encoding="utf-8")
    report = check(Choice(corpus=str(folder)), str(tmp_path / "data.trig"), 30)
    found = {(finding.file, finding.code) for finding in report.findings}
    assert {
        ("good_low.rq", "trap-is-right"),
        ("cut_low.rq", "tie-at-cut"),
        ("bad_low.rq", "query-rejected"),
        ("none_low.rq", "bad-record"),
    } <= found
    assert ("good_low.rq", "tie-at-cut") not in found
    assert report.exit_code() == 1
    assert report.checked == 3
    assert "data.trig@" in report.summary()


def test_a_dead_endpoint_ends_a_check_with_its_own_code(tmp_path: Path) -> None:
    (tmp_path / "a_low.rq").write_text(f"#+ summary: {SUMMARY}\n#+ tags: [nde]\n{QUERY}\n", encoding="utf-8")

    def opener(spec: str, *, timeout_s: float) -> HttpEndpoint:
        return HttpEndpoint(spec, timeout_s=timeout_s, pause=lambda _: None)

    report = check(Choice(corpus=str(tmp_path)), "http://127.0.0.1:9/sparql", 5, opener=opener)
    assert report.exit_code() == 4
    assert [finding.code for finding in report.findings] == ["query-failed"]


def test_a_listing_of_a_folder_without_one_good_record(tmp_path: Path) -> None:
    (tmp_path / "a_low.rq").write_text("nothing", encoding="utf-8")
    listing = list_corpus(Choice(corpus=str(tmp_path)))
    assert listing.exit_code() == 1
    assert "0 of 0 records" in listing.summary()
    assert [bad["file"] for bad in listing.to_json()["bad"]] == ["a_low.rq"]


def test_a_query_that_brings_a_parser_down_is_only_a_finding(tmp_path: Path) -> None:
    deep = "SELECT ?s { " + "{" * 100_000 + "?s ?p ?o" + "}" * 100_000 + " } ORDER BY ?s"
    (tmp_path / "a_low.rq").write_text(f"#+ summary: {SUMMARY}\n#+ tags: [nde]\n{deep}\n", encoding="utf-8")
    (tmp_path / "b_low.rq").write_text(f"#+ summary: {SUMMARY} B.\n#+ tags: [nde]\n{QUERY}\n", encoding="utf-8")
    found = {(finding.file, finding.code) for finding in check(Choice(corpus=str(tmp_path)), None, 5).findings}
    assert ("a_low.rq", "not-parsed") in found
    assert not {code for file, code in found if file == "b_low.rq"}
