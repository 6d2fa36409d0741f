"""Laws of result rules: twice is once, order is kept, everything else is untouched, and the second reading agrees."""

import csv
import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.interventions.arm import AddedColumn, Arm, OutputLimit, ResultRule
from okn_benchmark.interventions.json_text import opened
from okn_benchmark.interventions.shaping import shaped
from okn_benchmark.interventions.treating import result
from okn_benchmark.interventions.witness import seen

NAMES = ("id", "label", "value", "units", "note")
cells = st.text(st.sampled_from('ab1 ,"|é\n\\.:'), max_size=6)
plain_cells = st.text(st.sampled_from("ab1 ,é.:"), min_size=1, max_size=6).filter(str.strip)
prose = st.text(st.sampled_from("ab, .\n|\t"), max_size=12).map(lambda text: text + "\n")
columns = st.lists(st.sampled_from(NAMES), min_size=2, unique=True)


@st.composite
def tables(draw: st.DrawFn, cell: st.SearchStrategy[str] = cells) -> tuple[list[str], list[list[str]]]:
    names = draw(columns)
    return names, draw(st.lists(st.lists(cell, min_size=len(names), max_size=len(names)), max_size=5))


@st.composite
def rules(draw: st.DrawFn) -> ResultRule:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    kind = draw(st.sampled_from(("drop", "keep", "rename", "add", "rows")))
    form: Any = "auto"
    match kind:
        case "drop":
            # One column at most: a table that would have none left is not touched, and fails the check.
            return ResultRule(tool="t", form=form, drop=tuple(names[:1]))
        case "keep":
            return ResultRule(tool="t", form=form, keep=tuple(names))
        case "rename":
            return ResultRule(tool="t", form=form, rename={names[0]: "new"})
        case "add":
            rule: Any = draw(st.sampled_from(("kind", "unit", "copy")))
            after = draw(st.sampled_from((None, *NAMES)))
            return ResultRule(tool="t", add=(AddedColumn(name="new", rule=rule, of=names[0], after=after),))
    return ResultRule(tool="t", rows=draw(st.integers(1, 3)))


def written_csv(table: tuple[list[str], list[list[str]]], mark: str = ",", end: str = "\n") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator=end).writerows([table[0], *table[1]])
    return out.getvalue()


@st.composite
def payloads(draw: st.DrawFn) -> str:
    """A table in one of the forms a server answers in."""
    kind = draw(st.sampled_from(("csv", "tsv", "records", "split", "sparql", "markdown", "inside", "several")))
    if kind in ("csv", "tsv"):
        table = draw(tables(st.one_of(plain_cells, st.just("two\n\nparagraphs"))))
        return written_csv(table, "," if kind == "csv" else "\t", draw(st.sampled_from(("\n", "\r\n"))))
    if kind == "several":
        parts = draw(st.lists(st.one_of(prose, tables(plain_cells).map(written_csv)), max_size=4))
        return draw(st.sampled_from(("", "\n"))) + "\n".join(parts)
    if kind == "markdown":
        names, rows = draw(tables(plain_cells))
        return "".join(f"| {' | '.join(row)} |\n" for row in [names, ["---"] * len(names), *rows])
    names, rows = draw(tables())
    indent = draw(st.sampled_from((None, 2)))
    value: Any
    if kind == "sparql":
        bindings = [{n: {"type": "literal", "value": c} for n, c in zip(names, r, strict=True) if c} for r in rows]
        value = {"head": {"vars": names}, "results": {"bindings": bindings}}
    elif kind == "split":
        value = {"columns": names, "rows": rows, "more": 1.0}
    else:
        value = {"hits": [dict(zip(names, row, strict=True)) for row in rows], "more": 1.0}
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    return json.dumps({"result": text}) if kind == "inside" else text


@given(payloads(), rules())
def test_twice_is_once(text: str, rule: ResultRule) -> None:
    once = shaped(text, rule)
    if once is not None:
        assert once != text
        assert shaped(once, rule) is None


@given(payloads(), rules())
def test_the_second_reading_sees_the_same_work_and_the_same_rest(text: str, rule: ResultRule) -> None:
    done = shaped(text, rule)
    before, now = seen(text, rule), text if done is None else done
    if done is not None:
        assert before.due
        assert not seen(now, rule).due
    assert seen(now, rule, before.marks).rest == before.rest


@given(tables(plain_cells), rules())
def test_columns_and_rows_keep_their_order(table: tuple[list[str], list[list[str]]], rule: ResultRule) -> None:
    done = shaped(written_csv(table), rule)
    if done is None:
        return
    names, *rows = csv.reader(io.StringIO(done.partition("\n\nshowing")[0]))
    back = {new: old for old, new in rule.rename.items()}
    old = [back.get(name, name) for name in names if name not in {added.name for added in rule.add}]
    assert old == [name for name in table[0] if name in old]
    for column in old:
        was = [row[table[0].index(column)] for row in table[1]][: len(rows)]
        now = [row[[back.get(name, name) for name in names].index(column)] for row in rows]
        assert now == was


@given(st.text(), rules())
def test_text_that_names_no_column_passes(text: str, rule: ResultRule) -> None:
    if not any(name in text for name in NAMES) and "|" not in text and text.lstrip()[:1] not in ("{", "["):
        assert shaped(text, rule) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(json_values, st.sampled_from((None, 1, 3)))
def test_a_value_that_is_opened_closes_to_the_same_characters(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    found = opened(text)
    assert (found is None) == (not isinstance(value, dict | list))
    if found is not None:
        assert found.text == text


@given(json_values, rules())
def test_structured_content_and_text_stay_in_step(value: Any, rule: ResultRule) -> None:
    rows = {"hits": [{"id": "a", "units": "nM", "label": "b"}, {"id": "c"}], "rest": value}
    came = {"content": [{"type": "text", "text": json.dumps(rows)}], "structuredContent": rows}
    done = result(Arm(name="a", results=(rule,)), "t", came).result
    assert json.loads(done["content"][0]["text"]) == done["structuredContent"]


@given(st.lists(st.text(max_size=200), max_size=4), st.integers(140, 300))
def test_a_limit_holds_and_twice_is_once(texts: list[str], characters: int) -> None:
    arm = Arm(name="a", output=OutputLimit(characters=characters))
    came = {"content": [{"type": "text", "text": text} for text in texts]}
    once = result(arm, "t", came)
    assert sum(len(block["text"]) for block in once.result["content"]) <= characters
    assert result(arm, "t", once.result).result == once.result
    assert all(not step.left and step.kept and step.due == (step.before != step.after) for step in once.steps)
