"""The check of the judge: that it passes on sound keys, and that a judge wired wrongly would not."""

import pytest

from okn_benchmark.jobs.selfcheck import check_key
from okn_benchmark.scoring.answer import Answer
from okn_benchmark.scoring.damage import KINDS, Copy, Unfit, damaged, harmless
from okn_benchmark.scoring.settings import Settings
from okn_benchmark.scoring.verdict import judge
from okn_benchmark.table import Table, iri, table, text, typed

KEY = table(
    ["gene", "label", "score", "n"],
    [
        [iri("http://x.example/g/1"), text("TP53"), typed("0.453562", "decimal"), typed("12", "integer")],
        [iri("http://x.example/g/2"), text("BRCA1, breast"), typed("12.25", "decimal"), typed("7", "integer")],
        [None, text("EGFR", language="en"), typed("3.0", "decimal"), typed("5", "integer")],
    ],
)


def copies(key: Table = KEY) -> dict[str, Copy | Unfit]:
    return {copy.kind: copy for copy in (*damaged(key), *harmless(key, frozenset()))}


def test_there_are_twelve_kinds_of_damage_and_four_that_only_look_like_it() -> None:
    assert len(list(damaged(KEY))) == 12
    assert len(list(harmless(KEY, frozenset()))) == 4
    assert set(copies()) == set(KINDS)


def test_every_kind_fits_this_key_and_is_judged_as_predicted() -> None:
    found = check_key("r", KEY, Settings(), {})
    assert found.unfit == {}
    assert found.faults == ()
    assert found.copies == 16


@pytest.mark.parametrize("kind", KINDS)
def test_a_prediction_is_one_that_another_verdict_would_break(kind: str) -> None:
    """Held against the verdict on the key itself, or on nothing, each copy but the harmless ones must complain."""
    copy = copies()[kind]
    assert isinstance(copy, Copy)
    opposite = judge(KEY, None) if copy.exact else judge(table(["a"], []), b"a\n")
    assert list(copy.faults(opposite))


def test_every_damaged_copy_differs_from_the_key() -> None:
    own = next(copy for copy in copies().values() if copy.kind == "Windows text")
    assert isinstance(own, Copy)
    for copy in damaged(KEY):
        assert isinstance(copy, Copy)
        assert copy.submitted != own.submitted.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def test_what_a_key_cannot_have_is_said_with_its_reason() -> None:
    found = check_key("r", table(["n"], [[typed("5", "integer")]]), Settings(), {})
    assert found.faults == ()
    assert found.unfit["lost row"] == "there are fewer than two rows"
    assert found.unfit["other namespace"] == "no cell is an IRI with a local name"


def test_a_guard_that_fires_is_named_and_forbids_the_copy_it_is_about() -> None:
    key = table(["x"], [[iri("http://a.example/1")], [iri("http://b.example/1")]])
    found = check_key("r", key, Settings(), {})
    assert [guard.guard for guard in found.guards] == ["short_forms"]
    assert found.unfit["short IRIs"] == "the guard short_forms fires on this key"
    assert found.faults == ()


def test_an_empty_key_is_a_fault_unless_its_record_declares_it() -> None:
    empty = table(["x"], [])
    assert "no rows" in check_key("r", empty, Settings(), {}).faults[0]
    assert check_key("r", empty, Settings(), {}, may_be_empty=True).faults == ()


def test_a_trap_that_equals_the_key_is_a_fault() -> None:
    found = check_key("r", KEY, Settings(), {"grams": KEY})
    assert "grams" in found.faults[0]


def test_a_fault_is_a_sentence_with_both_values() -> None:
    copy = Copy(kind="lost row", submitted=b"", exact=False, f1=0.5, label="truncated")
    assert list(copy.faults(judge(table(["a"], []), b"a\n"))) == [
        "lost row: exact is true, and must be false.",
        "lost row: f1 is 1.0000, and must be 0.5000.",
        "lost row: the diagnosis (none) lacks truncated.",
    ]


def test_copies_are_made_from_the_texts_a_key_prints() -> None:
    torn = copies()["torn"]
    assert isinstance(torn, Copy)
    assert torn.submitted.endswith(b'"torn')
    assert Answer(columns=KEY.columns, rows=[]).columns == KEY.columns
