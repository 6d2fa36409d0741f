"""Rescore: from disk alone, evidence untouched, every score that moved said, nothing else changed."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.roots import ROWS, Attempt, answer, identity, snapshot, write_attempt, write_condition, write_truth

from okn_benchmark.errors import InputError, OutsideFailure, Refusal
from okn_benchmark.files import replace_whole
from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.jsonio import pretty
from okn_benchmark.runs.freeze import close
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import hold
from okn_benchmark.runs.readers import read_condition, read_question_result
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult

CONDITION = "demo-all-tools__kg-named"


@pytest.fixture
def root(tmp_path: Path) -> RunsRoot:
    """Two questions of two attempts, judged."""
    made = RunsRoot(tmp_path / "root")
    for record in ("r1", "r2"):
        write_truth(made, record)
        for number, rows in enumerate((ROWS, ROWS[:2]), start=1):
            write_attempt(made, record, CONDITION, number, Attempt(answer=answer(rows)), identity())
    write_condition(made, CONDITION, identity(), ["r1", "r2"])
    rescore(made, regenerate)
    return made


def result(root: RunsRoot, record: str) -> QuestionResult:
    return read_question_result(root.result(record, CONDITION).read_bytes(), "result.json")


def condition(root: RunsRoot) -> ConditionRecord:
    return read_condition(root.condition(CONDITION).read_bytes(), "condition.json")


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(pretty(value), encoding="utf-8")


def test_nothing_moves_and_no_byte_changes_the_second_time(root: RunsRoot) -> None:
    before = {p: (p.read_bytes(), p.stat().st_ino) for p in root.path.rglob("*") if p.is_file()}
    done = rescore(root, regenerate)
    assert (done.moves, done.problems, done.dropped, done.judged, done.built) == ((), (), (), 4, 0)
    assert {p: (p.read_bytes(), p.stat().st_ino) for p in root.path.rglob("*") if p.is_file()} == before


def test_one_edited_cell_moves_exactly_that_score_everywhere_it_stands(root: RunsRoot) -> None:
    before = snapshot(root.path)
    path = root.attempt("r1", CONDITION, 1).answer
    path.write_bytes(path.read_bytes().replace(b"/a,1", b"/a,7"))
    done = rescore(root, regenerate)
    assert [(m.record, m.attempt) for m in done.moves] == [("r1", 1)]
    changes = {name: (old, new) for name, old, new in done.moves[0].changes}
    assert changes["exact"] == (True, False)
    assert changes["f1"] == (1.0, pytest.approx(2 / 3))
    changed = {name for name, data in snapshot(root.path).items() if before.get(name) != data}
    assert changed == {
        f"r1_results/{CONDITION}/attempt-1/answer.csv",
        f"r1_results/{CONDITION}/result.json",
        "r1_results/summary.csv",
        "summary.csv",
        "README.md",
        f"conditions/{CONDITION}.json",
    }
    assert condition(root).aggregate["exact_rate"] == 0.25
    path.write_bytes(answer())
    assert rescore(root, regenerate).moves[0].changes[0] == ("exact", False, True)
    assert snapshot(root.path) == before


def test_a_move_is_one_line_with_old_new_and_both_contracts(root: RunsRoot) -> None:
    path = root.result("r1", CONDITION)
    edit(path, lambda v: v["attempts"][0]["verdict"].update(contract=0, exact=False, f1=0.123456, ordered=False))
    (move,) = rescore(root).moves
    assert str(move) == (
        f"r1 · {CONDITION} · attempt 1: exact no → yes, f1 0.1235 → 1, ordered no → yes (contract 0 → 1)"
    )


def test_an_outcome_that_is_read_differently_is_a_move_too(root: RunsRoot) -> None:
    edit(
        root.result("r1", CONDITION),
        lambda v: v["attempts"][0].update(outcome="blocked", cause="startup", verdict=None),
    )
    (move,) = rescore(root).moves
    assert str(move).startswith(f"r1 · {CONDITION} · attempt 1: outcome blocked → answered, exact – → yes")
    assert str(move).endswith("(contract – → 1)")


def test_a_broken_result_is_named_and_built_again(root: RunsRoot) -> None:
    before = snapshot(root.path)
    root.result("r1", CONDITION).write_text("{")
    done = rescore(root, regenerate)
    assert done.built == 2
    assert done.problems[0].path == f"r1_results/{CONDITION}/result.json"
    assert snapshot(root.path) == before


def test_a_broken_truth_is_named_the_rest_judged_and_the_question_not_forgotten(root: RunsRoot) -> None:
    before = snapshot(root.path)
    root.truth_json("r1").write_text("{")
    done = rescore(root, regenerate)
    assert [p.path for p in done.problems] == ["r1_results"]
    assert done.judged == 2
    assert list(condition(root).questions) == ["r1", "r2"]
    assert condition(root).aggregate["questions"] == 1
    root.truth_json("r1").write_bytes(before["r1_results/ground_truth.json"])
    rescore(root, regenerate)
    assert snapshot(root.path) == before


def test_a_question_removed_and_excluded_by_hand_is_dropped_and_its_attempts_stay(root: RunsRoot) -> None:
    def by_hand(value: dict[str, Any]) -> None:
        del value["questions"]["r1"]
        value["meta"]["excluded"].append({"id": "r1", "reason": "its key was wrong"})

    evidence = snapshot(root.question("r1"))
    edit(root.condition(CONDITION), by_hand)
    done = rescore(root, regenerate)
    assert done.dropped == ((CONDITION, "r1"),)
    assert list(condition(root).questions) == ["r2"]
    assert condition(root).aggregate["questions"] == 1
    assert condition(root).meta["excluded"] == [{"id": "r1", "reason": "its key was wrong"}]
    assert "r1," not in root.summary.read_text()
    assert {k: v for k, v in snapshot(root.question("r1")).items() if "attempt-" in k} == {
        k: v for k, v in evidence.items() if "attempt-" in k
    }


def test_an_exclusion_alone_drops_the_question_as_well(root: RunsRoot) -> None:
    edit(root.condition(CONDITION), lambda v: v["meta"]["excluded"].append({"id": "r2", "reason": "x"}))
    rescore(root, regenerate)
    assert list(condition(root).questions) == ["r1"]


def test_a_removed_question_alone_is_dropped(root: RunsRoot) -> None:
    edit(root.condition(CONDITION), lambda v: v["questions"].pop("r2"))
    rescore(root, regenerate)
    assert list(condition(root).questions) == ["r1"]


def test_a_record_without_questions_is_filled_from_what_is_on_disk(root: RunsRoot) -> None:
    before = snapshot(root.path)
    edit(root.condition(CONDITION), lambda v: (v.pop("questions"), v.pop("aggregate")))
    rescore(root, regenerate)
    assert snapshot(root.path) == before


def test_an_exclusion_that_cannot_be_read_is_named_and_nothing_of_that_condition_rewritten(root: RunsRoot) -> None:
    edit(root.condition(CONDITION), lambda v: v["meta"].update(excluded=[{"why": "x"}]))
    before = snapshot(root.path)
    done = rescore(root)
    assert "meta.excluded[0] has no id" in done.problems[0].message
    assert snapshot(root.path) == before


def test_settings_of_the_run_are_the_settings_of_the_rescore(root: RunsRoot) -> None:
    edit(root.condition(CONDITION), lambda v: v["meta"].update(scoring={"significant_digits": 3}))
    rescore(root)
    verdict = result(root, "r1").attempts[0].verdict
    assert verdict is not None
    assert verdict["settings"] == {"significant_digits": 3, "numeric_rel_tol": 5e-4}


def test_a_closed_root_is_refused_with_its_name_and_reason_and_not_touched(root: RunsRoot) -> None:
    close(root, "Published; new runs go elsewhere.", "2026-11-30")
    before = {p: p.stat().st_mtime_ns for p in root.path.rglob("*")}
    with pytest.raises(Refusal) as caught:
        rescore(root, regenerate)
    assert str(root.path) in caught.value.message
    assert "Published; new runs go elsewhere." in caught.value.message
    assert {p: p.stat().st_mtime_ns for p in root.path.rglob("*")} == before
    root.frozen.unlink()
    assert rescore(root, regenerate).moves == ()


def test_a_root_that_is_being_written_is_refused(root: RunsRoot) -> None:
    with hold(root, "okn-benchmark run"), pytest.raises(Refusal, match="in use by okn-benchmark run"):
        rescore(root)


def test_a_folder_that_is_no_root_is_refused_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a runs root"):
        rescore(RunsRoot(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        rescore(RunsRoot(tmp_path / "absent"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_in_the_middle_is_a_sentence_and_a_second_time_finishes(root: RunsRoot) -> None:
    before = snapshot(root.path)
    for record in ("r1", "r2"):
        root.result(record, CONDITION).unlink()
    written: list[Path] = []

    def filling(path: Path, data: bytes) -> None:
        if written:
            raise OutsideFailure(f"{path} could not be written: No space left on device")
        written.append(path)
        replace_whole(path, data)

    with pytest.raises(OutsideFailure, match="No space left"):
        rescore(root, regenerate, put=filling)
    rescore(root, regenerate)
    assert snapshot(root.path) == before


def test_a_folder_that_may_not_be_written_is_a_sentence_before_anything_is_judged(root: RunsRoot) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = RunsRoot(Path(shutil.copytree(root.path, Path(folder) / "root")))
        Path(folder).chmod(0o755)
        here.path.chmod(0o555)
        pid = os.fork()
        if pid == 0:
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)
                rescore(here, regenerate)
            except OutsideFailure as error:
                os._exit(7 if "cannot be locked for writing: Permission denied" in error.message else 8)
            except BaseException:
                os._exit(6)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        here.path.chmod(0o755)


def test_a_cut_off_sweep_is_named_and_left_alone(root: RunsRoot) -> None:
    other = identity(kg_hint="none")
    write_attempt(root, "r1", "demo-all-tools__kg-not-named", 1, Attempt(episode=None), other)
    before = snapshot(root.path)
    done = rescore(root)
    assert [p.path for p in done.problems] == ["conditions/demo-all-tools__kg-not-named.json"]
    assert "cut off" in done.problems[0].message
    assert snapshot(root.path) == before


def test_an_attempt_cut_off_in_a_recorded_condition_is_named_and_not_judged(root: RunsRoot) -> None:
    write_attempt(root, "r1", CONDITION, 3, replace(Attempt(), episode=None), identity())
    done = rescore(root)
    assert [p.path for p in done.problems] == [f"r1_results/{CONDITION}/attempt-3"]
    assert [a.attempt for a in result(root, "r1").attempts] == [1, 2]


def test_an_attempt_whose_evidence_is_gone_is_named(root: RunsRoot) -> None:
    shutil.rmtree(root.attempt("r1", CONDITION, 2).folder)
    done = rescore(root)
    assert [(p.path, "no finished evidence" in p.message) for p in done.problems] == [
        (f"r1_results/{CONDITION}/attempt-2", True)
    ]


def test_no_clock_and_no_machine_stand_in_what_is_derived(root: RunsRoot, tmp_path: Path) -> None:
    derived = {k: v for k, v in snapshot(root.path).items() if root.kind_of(root.path / k) == "derived"}
    assert len(derived) == 6
    for name, data in derived.items():
        assert str(tmp_path).encode() not in data, name
        assert os.uname().nodename.encode() not in data, name
        assert b"12:00:00" not in data, name
