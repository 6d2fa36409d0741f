"""Two writers: evidence once, derived as often as one likes, neither in the other's place."""

import os
import resource
import signal
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.roots import Attempt, answer, identity, meta, snapshot, truth, write_attempt, write_condition, write_truth

from okn_benchmark.errors import InputError, OutsideFailure, Refusal
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import read_condition
from okn_benchmark.runs.replaced import JOURNAL, finish_pending, set_aside, set_aside_condition
from okn_benchmark.runs.shapes import ConditionRecord, QuestionResult
from okn_benchmark.runs.store import DerivedWriter, EvidenceWriter


@pytest.fixture
def root(tmp_path: Path) -> RunsRoot:
    return RunsRoot(tmp_path / "root")


def filled(root: RunsRoot) -> RunsRoot:
    for record in ("r1", "r2"):
        write_truth(root, record)
        for condition in ("c", "other"):
            write_attempt(root, record, condition, 1, Attempt(), identity())
    write_condition(root, "c", identity(), ["r1", "r2"])
    write_condition(root, "other", identity(), ["r1", "r2"])
    return root


def test_evidence_is_written_once(root: RunsRoot) -> None:
    writer, path = EvidenceWriter(root), root.attempt("r", "c", 1).answer
    writer.write(path, b"a\n")
    with pytest.raises(Refusal, match="recorded evidence") as caught:
        writer.write(path, b"b\n")
    assert "--force" in str(caught.value.hint)
    assert path.read_bytes() == b"a\n"


def test_a_dangling_link_in_the_place_of_evidence_is_not_followed(root: RunsRoot, tmp_path: Path) -> None:
    path = root.attempt("r", "c", 1).answer
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "outside")
    with pytest.raises(Refusal):
        EvidenceWriter(root).write(path, b"x")
    assert not (tmp_path / "outside").exists()


def test_neither_writer_writes_in_the_others_place(root: RunsRoot) -> None:
    attempt = root.attempt("r", "c", 1)
    for path in (root.readme, root.result("r", "c"), root.condition("c"), root.frozen):
        with pytest.raises(Refusal, match="not written as evidence"):
            EvidenceWriter(root).write(path, b"x")
    for path in (attempt.answer, attempt.episode, root.truth_json("r"), root.condition("c"), root.frozen):
        with pytest.raises(Refusal, match="not written as a derived file"):
            DerivedWriter(root).write(path, b"x")
    for writer in (EvidenceWriter(root), DerivedWriter(root)):
        with pytest.raises(InputError, match="not inside the runs root"):
            writer.write(root.path / ".." / "x", b"x")
    assert not root.path.exists()


def test_a_derived_file_that_would_not_change_is_left_alone(root: RunsRoot) -> None:
    writer, result = DerivedWriter(root), QuestionResult(record="r", condition="c", attempts=())
    assert writer.result(result)
    before = root.result("r", "c").stat()
    assert not writer.result(result)
    assert root.result("r", "c").stat().st_ino == before.st_ino
    assert writer.result(replace(result, tier="t"))


def test_a_condition_keeps_its_meta_when_what_is_derived_is_rewritten(root: RunsRoot) -> None:
    record = ConditionRecord(name="c", meta=meta(identity()), questions={"r": {}})
    with pytest.raises(Refusal, match="meta"):
        DerivedWriter(root).condition(record)
    EvidenceWriter(root).condition(record)
    assert DerivedWriter(root).condition(replace(record, aggregate={"questions": 1}))
    with pytest.raises(Refusal, match="meta is recorded evidence"):
        DerivedWriter(root).condition(replace(record, meta=record.meta | {"endpoint": "elsewhere"}))
    kept = read_condition(root.condition("c").read_bytes(), "c.json")
    assert (kept.meta, kept.aggregate) == (record.meta, {"questions": 1})


def test_truth_that_is_there_is_left_as_it_is(root: RunsRoot) -> None:
    writer = EvidenceWriter(root)
    writer.truth("r", truth(), answer())
    before = snapshot(root.path)
    writer.truth("r", truth(retrieved_at="later"), answer())
    assert snapshot(root.path) == before


def test_truth_half_written_by_a_crash_is_completed(root: RunsRoot) -> None:
    EvidenceWriter(root).write(root.truth_csv("r"), answer())
    EvidenceWriter(root).truth("r", truth(), answer())
    assert root.truth_json("r").exists()


def test_what_force_replaces_is_moved_and_nothing_is_deleted(root: RunsRoot) -> None:
    filled(root)
    before = snapshot(root.path)
    folder = set_aside_condition(root, "c")
    assert folder == root.replaced / "0001"
    moved = {k: v for k, v in before.items() if k.startswith(("conditions/c.", "r1_results/c/", "r2_results/c/"))}
    assert len(moved) == 13
    assert snapshot(folder) == moved
    kept = {k: v for k, v in before.items() if k not in moved}
    assert {k: v for k, v in snapshot(root.path).items() if not k.startswith(".replaced/")} == kept


def test_each_replacement_has_a_folder_of_its_own(root: RunsRoot) -> None:
    filled(root)
    first = set_aside_condition(root, "c")
    assert set_aside_condition(root, "c") is None
    write_attempt(root, "r1", "c", 1, Attempt(answer=None), identity())
    second = set_aside(root, [root.attempt("r1", "c", 1).folder])
    assert (first, second) == (root.replaced / "0001", root.replaced / "0002")
    assert not (root.replaced / "0002" / "r1_results/c/attempt-1/answer.csv").exists()


def test_a_replacement_cut_off_in_the_middle_is_finished_later(root: RunsRoot, tmp_path: Path) -> None:
    done = RunsRoot(tmp_path / "done")
    for one in (root, done):
        filled(one)
    set_aside_condition(done, "c")

    def stopping(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if path.name == JOURNAL:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        set_aside_condition(root, "c", stopping)
    assert root.condition("c").exists()
    finish_pending(root)
    assert snapshot(root.path) == snapshot(done.path)
    finish_pending(root)
    assert snapshot(root.path) == snapshot(done.path)


def test_temporary_files_of_a_crash_are_cleared_but_never_an_episodes_own(root: RunsRoot) -> None:
    filled(root)
    before = snapshot(root.path)
    places = [root.path, root.conditions, root.question("r1"), root.arm("r1", "c")]
    for place in places:
        (place / ".x.json.0123456789ab.tmp").write_text("half")
    (root.attempt("r1", "c", 1).folder / ".kept.tmp").write_text("the agent's")
    finish_pending(root)
    assert snapshot(root.path) == before | {"r1_results/c/attempt-1/.kept.tmp": b"the agent's"}


def test_a_journal_that_points_outside_moves_nothing(root: RunsRoot, tmp_path: Path) -> None:
    filled(root)
    (tmp_path / "precious").write_text("x")
    folder = root.replaced / "0001"
    folder.mkdir(parents=True)
    (folder / JOURNAL).write_text('{"paths": ["../precious"]}')
    with pytest.raises(InputError, match="not inside"):
        finish_pending(root)
    assert (tmp_path / "precious").exists()


def test_a_full_disk_is_a_sentence_and_leaves_the_old_bytes(root: RunsRoot) -> None:
    writer = DerivedWriter(root)
    writer.write(root.readme, b"old\n")

    def full(path: Path, data: bytes) -> None:
        del data
        raise OutsideFailure(f"{path} could not be written: No space left on device", hint="Free some space.")

    with pytest.raises(OutsideFailure, match="No space left"):
        DerivedWriter(root, full).write(root.readme, b"new\n")
    assert root.readme.read_bytes() == b"old\n"


def in_a_child(act: Callable[[], None], expected: str) -> None:
    """Run ``act`` in a fork, which may give up rights for good, and see it refused with a sentence and a way out."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except OutsideFailure as error:
            os._exit(7 if expected in error.message and error.hint else 8)
        except BaseException:
            os._exit(6)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_a_disk_that_takes_no_more_is_the_same_sentence(root: RunsRoot) -> None:
    DerivedWriter(root).write(root.readme, b"old\n")

    def act() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        DerivedWriter(root).write(root.readme, b"x" * 5000)

    in_a_child(act, "could not be written")
    assert snapshot(root.path) == {"README.md": b"old\n"}


def test_a_read_only_folder_is_a_sentence() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = RunsRoot(Path(folder) / "root")
        root.path.mkdir()
        Path(folder).chmod(0o755)
        root.path.chmod(0o555)

        def act() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)
            DerivedWriter(root).write(root.readme, b"x")

        in_a_child(act, "README.md could not be written: Permission denied")


def test_a_path_that_runs_through_a_file_is_a_sentence(root: RunsRoot) -> None:
    root.path.write_text("a file where a folder should be")
    with pytest.raises(OutsideFailure, match="could not be written"):
        DerivedWriter(root).write(root.readme, b"x")
