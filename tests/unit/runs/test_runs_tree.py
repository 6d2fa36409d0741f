"""A root read back in any state, and held to one truth."""

import json
from pathlib import Path

import pytest
from tests.roots import ROWS, Attempt, identity, truth, write_attempt, write_condition, write_truth

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.runs.freeze import close
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult
from okn_benchmark.runs.store import DerivedWriter
from okn_benchmark.runs.tree import load_root
from okn_benchmark.runs.truth import require_same_truth


def result(record: str, condition: str) -> QuestionResult:
    attempts = (AttemptResult(attempt=1, outcome="answered", verdict={"exact": True}),)
    return QuestionResult(record=record, condition=condition, attempts=attempts)


@pytest.fixture
def root(tmp_path: Path) -> RunsRoot:
    made = RunsRoot(tmp_path / "root")
    for record in ("r1", "r2"):
        write_truth(made, record)
        for condition in ("a", "b"):
            write_attempt(made, record, condition, 1, Attempt(), identity())
            DerivedWriter(made).result(result(record, condition))
    for condition in ("a", "b"):
        write_condition(made, condition, identity(), ["r1", "r2"])
    return made


def test_a_root_is_read_in_order(root: RunsRoot) -> None:
    view = load_root(root)
    assert list(view.conditions) == ["a", "b"]
    assert {r: list(arms) for r, arms in view.questions.items()} == {"r1": ["a", "b"], "r2": ["a", "b"]}
    assert list(view.truths) == ["r1", "r2"]
    assert view.truths["r1"] == truth()
    assert (view.problems, view.unfinished, view.frozen, view.replaced) == ((), {}, None, 0)


@pytest.mark.parametrize("text", ["", "{", '{"schema": "result/99"}', "[]"])
def test_a_broken_result_is_named_and_the_rest_is_read(root: RunsRoot, text: str) -> None:
    root.result("r1", "a").write_text(text)
    view = load_root(root)
    assert [p.path for p in view.problems] == ["r1_results/a/result.json"]
    assert str(root.path) not in view.problems[0].message
    assert {r: list(arms) for r, arms in view.questions.items()} == {"r1": ["b"], "r2": ["a", "b"]}


def test_a_broken_condition_is_named_and_is_no_cut_off_sweep(root: RunsRoot) -> None:
    root.condition("a").write_text("{")
    view = load_root(root)
    assert [p.path for p in view.problems] == ["conditions/a.json"]
    assert list(view.conditions) == ["b"]
    assert view.unfinished == {}


def test_a_condition_under_another_name_is_named(root: RunsRoot) -> None:
    root.condition("a").rename(root.condition("c"))
    view = load_root(root)
    assert "its name is 'a'" in view.problems[0].message
    assert view.unfinished == {"a": 2}


def test_a_result_copied_from_elsewhere_is_not_counted(root: RunsRoot) -> None:
    root.result("r1", "a").write_bytes(root.result("r2", "a").read_bytes())
    view = load_root(root)
    assert "r1" in view.questions
    assert "a" not in view.questions["r1"]
    assert "copied" in view.problems[0].message


def test_a_missing_result_and_missing_attempts_are_named(root: RunsRoot) -> None:
    root.result("r1", "a").unlink()
    write_condition(root, "b", identity(), ["r1", "r2", "r3"])
    assert [(p.path, p.message) for p in load_root(root).problems] == [
        ("r1_results/a/result.json", "r1_results/a/result.json is missing."),
        ("conditions/b.json", "it lists 'r3', of which this root holds no attempts."),
    ]


def test_only_questions_a_condition_lists_are_counted(root: RunsRoot) -> None:
    write_condition(root, "a", identity(), ["r2"])
    assert list(load_root(root).questions["r1"]) == ["b"]


def test_a_sweep_that_was_cut_off_is_counted_apart(root: RunsRoot) -> None:
    root.condition("a").unlink()
    view = load_root(root)
    assert view.unfinished == {"a": 2}
    assert list(view.conditions) == ["b"]
    assert view.problems == ()


def test_a_root_that_holds_attempts_alone_is_a_root(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    write_attempt(root, "r1", "a", 1, Attempt(), identity())
    assert load_root(root).unfinished == {"a": 1}


def test_broken_truth_is_met_when_it_is_asked_for(root: RunsRoot) -> None:
    root.truth_json("r1").write_text("{")
    view = load_root(root)
    with pytest.raises(InputError, match=r"ground_truth\.json"):
        view.truths["r1"]
    with pytest.raises(KeyError):
        view.truths["absent"]


def test_a_closed_root_and_set_aside_evidence_are_told(root: RunsRoot) -> None:
    (root.replaced / "0001").mkdir(parents=True)
    close(root, "published", "2026-11-30")
    view = load_root(root)
    assert view.frozen is not None
    assert view.frozen.reason == "published"
    assert view.replaced == 1


def test_a_root_moves_to_another_folder_with_spaces_and_other_scripts(root: RunsRoot, tmp_path: Path) -> None:
    moved = RunsRoot(tmp_path / "ein anderer Ort für 日本")
    root.path.rename(moved.path)
    assert load_root(moved).problems == ()
    assert list(load_root(moved).questions) == ["r1", "r2"]


def test_the_same_rows_are_the_same_truth_whenever_they_were_fetched(root: RunsRoot) -> None:
    require_same_truth(root, {"r1": truth(retrieved_at="later", elapsed_s=9.0, fingerprint="f"), "r9": truth(())})


@pytest.mark.parametrize(
    "other", [truth(ROWS[:2]), truth(ROWS[::-1]), truth(endpoint="http://elsewhere"), truth((*ROWS, ROWS[0]))]
)
def test_other_rows_are_refused_by_record_with_the_way_out(root: RunsRoot, other: object) -> None:
    with pytest.raises(Refusal, match=r"other ground truth for r1\.") as caught:
        require_same_truth(root, {"r1": other, "r2": truth()})  # type: ignore[dict-item]
    assert "--out" in str(caught.value.hint)


def test_many_differing_records_are_not_all_listed(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    records = [f"r{n}" for n in range(8)]
    for record in records:
        write_truth(root, record)
    with pytest.raises(Refusal, match=r"r0, r1, r2, r3, r4 and 3 more"):
        require_same_truth(root, {record: truth(()) for record in records})


def test_truth_edited_by_hand_into_something_else_is_named(root: RunsRoot) -> None:
    value = json.loads(root.truth_json("r1").read_bytes())
    value["results"] = {"boolean": True}
    root.truth_json("r1").write_text(json.dumps(value))
    with pytest.raises(InputError) as caught:
        require_same_truth(root, {"r1": truth()})
    assert "by hand" in str(caught.value.hint)
