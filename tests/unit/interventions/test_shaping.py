"""Result rules on payloads: each form of table, and what stays byte for byte."""

import json

import pytest

from okn_benchmark.interventions.arm import AddedColumn, ResultRule
from okn_benchmark.interventions.shaping import shaped
from okn_benchmark.interventions.witness import seen

DROP = ResultRule(tool="t", drop=("units",))
KIND = ResultRule(tool="t", add=(AddedColumn(name="label_kind", rule="kind", of="label", after="label"),))
CUT = ResultRule(tool="t", rows=1)

CSV = 'id,value,units\r\n"a, b",1.50,nM\r\nc,2e3,"uM"\r\n'
SPARQL = (
    '{"head": {"vars": ["id", "value", "units"]},\n "results": {"bindings": [\n'
    '  {"id": {"type":"literal","value":"a"}, "value": {"type":"literal","value":"1.50"},'
    ' "units": {"type":"literal","value":"nM"}},\n'
    '  {"id": {"type":"literal","value":"\\u00e9"}}\n ]}}\n'
)
RECORDS = '{\n  "n": 1.0,\n  "rows": [\n    {\n      "id": "a",\n      "units": "nM"\n    }\n  ]\n}'


def test_a_dropped_column_of_csv_takes_one_comma_a_row_and_nothing_else() -> None:
    assert shaped(CSV, DROP) == 'id,value\r\n"a, b",1.50\r\nc,2e3\r\n'


def test_a_dropped_variable_leaves_every_other_character_of_sparql_results() -> None:
    assert shaped(SPARQL, DROP) == (
        '{"head": {"vars": ["id", "value"]},\n "results": {"bindings": [\n'
        '  {"id": {"type":"literal","value":"a"}, "value": {"type":"literal","value":"1.50"}},\n'
        '  {"id": {"type":"literal","value":"\\u00e9"}}\n ]}}\n'
    )


def test_a_dropped_key_leaves_an_indented_object_indented() -> None:
    assert shaped(RECORDS, DROP) == '{\n  "n": 1.0,\n  "rows": [\n    {\n      "id": "a"\n    }\n  ]\n}'


def test_every_table_of_a_text_is_changed_and_the_prose_between_them_is_not() -> None:
    text = "\nFirst, some words.\n\nid,units\n1,nM\n\nv,units\n2,uM\n\n\nLast, more.\n"
    want = "\nFirst, some words.\n\nid\n1\n\nv\n2\n\n\nLast, more.\n"
    assert shaped(text, DROP) == want


def test_a_table_that_would_have_no_column_left_stays_and_is_still_due() -> None:
    rule = ResultRule(tool="t", drop=("id", "units"))
    assert shaped("id,units\n1,nM\n", rule) is None
    assert seen("id,units\n1,nM\n", rule).due


def test_an_empty_line_inside_quotes_ends_nothing() -> None:
    text = 'id,note,units\n1,"one\n\ntwo",nM\n2,b,uM\n'
    assert shaped(text, DROP) == 'id,note\n1,"one\n\ntwo"\n2,b\n'


HOSTILE = {
    "blank lines": "\n" * 100_000,
    "paragraphs": "a, b\n\n" * 20_000,
    "brackets": "[" * 100_000,
    "braces": '{"a":' * 50_000,
    "quotes": '"' * 20_000,
    "pipes": "|" * 10_000 + "\n|" + "-|" * 5_000,
    "commas": "," * 100_000,
    "returns": "id,units\r1,nM\r2,uM\n",
    "half a character": "a\ud800,units\n\ud800,1\n",
    "an escaped half": '[{"units": 1, "x": "\\ud800"}]',
    "twice": '[{"units": 1, "units": 2, "x": 3}]',
    "nothing left": "units,unit\n1,2\n",
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_little_time_and_alike_by_both_readings(name: str) -> None:
    text = HOSTILE[name]
    for rule in (DROP, KIND, CUT, ResultRule(tool="t", rows=2, form="csv"), ResultRule(tool="t", fields=("$..x",))):
        before, done = seen(text, rule), shaped(text, rule)
        assert before.due == (done is not None)
        now = text if done is None else done
        assert not seen(now, rule).due
        assert seen(now, rule, before.marks).rest == before.rest


def test_the_first_key_leaves_no_gap_behind() -> None:
    assert shaped('[{"units": "nM", "id": 1}, {"units": "uM", "id": 2}]', DROP) == '[{"id": 1}, {"id": 2}]'
    assert shaped('[{"id": 1, "units": "nM" }]', DROP) == '[{"id": 1 }]'


def test_a_header_beside_rows() -> None:
    text = '{"columns":["id","units","v"],"rows":[["a","nM",1.0],["b",null,2]]}'
    rule = ResultRule(tool="t", drop=("units",), rename={"v": "value"}, rows=1)
    want = '{"columns":["id","value"],"rows":[["a",1.0]],"showing":1,"total":2}'
    assert shaped(text, rule) == want


def test_a_pipe_table_keeps_its_padding_and_its_prose() -> None:
    text = "Found two:\n\n| id | units |\n|:---|---:|\n| a\\|b | nM |\n\nThat is all, really.\n"
    assert shaped(text, DROP) == "Found two:\n\n| id |\n|:---|\n| a\\|b |\n\nThat is all, really.\n"


def test_tabs() -> None:
    assert shaped("id\tunits\n1,5\tnM\n", DROP) == "id\n1,5\n"


def test_text_inside_json_is_opened_and_closed_again() -> None:
    text = json.dumps({"result": "id,units,v\na,nM,1\n", "n": 1})
    assert json.loads(shaped(text, DROP) or "") == {"result": "id,v\na,1\n", "n": 1}


def test_a_kind_is_told_for_every_label() -> None:
    text = "id,label\nCHEMBL1,aspirin\nCHEMBL2,CHEMBL2\nC3,http://x.org/y\nC4,42\nC5,\n"
    want = "id,label,label_kind\nCHEMBL1,aspirin,name\nCHEMBL2,CHEMBL2,identifier\n"
    assert shaped(text, KIND) == want + "C3,http://x.org/y,IRI\nC4,42,number\nC5,,\n"


def test_a_kind_in_sparql_results_knows_an_iri_by_its_type() -> None:
    text = '{"head":{"vars":["label"]},"results":{"bindings":[{"label":{"type":"uri","value":"x"}},{}]}}'
    made = json.loads(shaped(text, KIND) or "")
    assert made["head"]["vars"] == ["label", "label_kind"]
    assert made["results"]["bindings"][0]["label_kind"] == {"type": "literal", "value": "IRI"}
    assert made["results"]["bindings"][1] == {}


@pytest.mark.parametrize(
    ("cell", "column", "unit"),
    [
        ("30 uM", "ic50", "uM"),
        ("< 0.5 mg/kg", "ic50", "mg/kg"),
        ("30", "IC50 (nM)", "nM"),
        ("30", "ic50", ""),
        ("", "IC50 [nM]", ""),
    ],
)
def test_units_are_read_where_they_are_said(cell: str, column: str, unit: str) -> None:
    rule = ResultRule(tool="t", add=(AddedColumn(name="units", rule="unit", of=column),))
    assert shaped(f"id,{column}\na,{cell}\n", rule) == f"id,{column},units\na,{cell},{unit}\n"


def test_constants_and_copies() -> None:
    add = (AddedColumn(name="src", rule="constant", value="a,b"), AddedColumn(name="again", rule="copy", of="id"))
    assert shaped("id,v\nx,1\n", ResultRule(tool="t", add=add)) == 'id,v,src,again\nx,1,"a,b",x\n'


def test_rows_are_cut_and_the_cut_is_stated() -> None:
    csv = ResultRule(tool="t", rows=1, form="csv")
    assert shaped("a,b\n1,2\n3,4\n", csv) == "a,b\n1,2\n\nshowing 1 of total 2 rows\n"
    assert json.loads(shaped('{"hits":[{"a":1},{"a":2}],"more":true}', CUT) or "") == {
        "hits": [{"a": 1}], "more": True, "showing": 1, "total": 2,
    }  # fmt: skip
    assert json.loads(shaped('[{"a":1},{"a":2}]', CUT) or "") == {"showing": 1, "total": 2, "rows": [{"a": 1}]}


def test_columns_kept() -> None:
    assert shaped(CSV, ResultRule(tool="t", keep=("value", "absent"))) == "value\r\n1.50\r\n2e3\r\n"


def test_fields_are_kept_by_path() -> None:
    rule = ResultRule(tool="t", fields=("$.hits[*].id", "$.n"))
    assert shaped('{"hits": [{"id": 1, "x": 2}, {"id": 3}], "n": 1.50, "z": 0}', rule) == (
        '{"hits": [{"id": 1}, {"id": 3}], "n": 1.50}'
    )


def test_a_table_is_found_where_the_path_says() -> None:
    text = '{"a":{"t":[{"units":1,"x":1}]},"b":[{"units":1,"x":1}]}'
    assert shaped(text, ResultRule(tool="t", drop=("units",), at="$.a.t")) == (
        '{"a":{"t":[{"x":1}]},"b":[{"units":1,"x":1}]}'
    )
    assert shaped(text, ResultRule(tool="t", rows=0 + 1, drop=("units",), at="$.b")) == (
        '{"a":{"t":[{"units":1,"x":1}]},"b":[{"x":1}]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "units", "The units, in short, are nM.\nSee below, please.", '{"units": "nM"}', "[1, 2]", "{", '"units"',
        "id,units\na\n", 'id,units\n"a,nM\n', "[]", "null", '{"rows":[]}', "a,b\n1,2\n", "units\nnM\n",
    ],
)  # fmt: skip
def test_what_is_no_table_with_the_column_stays(text: str) -> None:
    assert shaped(text, DROP) is None
    assert not seen(text, DROP).due


def test_prose_with_commas_is_no_table_to_cut() -> None:
    assert shaped("one, two\nthree, four\nfive, six\n", CUT) is None


@pytest.mark.parametrize(
    "rule", [DROP, KIND, CUT, ResultRule(tool="t", keep=("id",)), ResultRule(tool="t", rename={"units": "u"})]
)
@pytest.mark.parametrize("text", [CSV, SPARQL, RECORDS, "id,label\na,b\nc,d\n", '[{"label":"x","id":1},{"id":2}]'])
def test_the_second_reading_agrees_with_the_change(text: str, rule: ResultRule) -> None:
    before, done = seen(text, rule), shaped(text, rule)
    assert before.due == (done is not None)
    now = text if done is None else done
    assert not seen(now, rule).due
    assert seen(now, rule, before.marks).rest == before.rest
