"""A sweep stopped at every moment of every write, then resumed: nothing finished is lost, nothing is run twice."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.roots import quick_put
from tests.sweeps import CountedWrite, Paper, opener, paper_sweep, settled

from okn_benchmark.errors import InputError, OutsideFailure, Refusal
from okn_benchmark.jobs.prepare import Sweep
from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.jobs.run import run
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.tree import load_root

CONDITION = "sparql-only__kg-named"
EPISODES = 6
LEAST_MOMENTS = 200
SLICES = 8


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other sweeps on this machine meet elsewhere, so that none of these is recorded as contended."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    return paper_sweep(tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def whole(paper: Paper, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The tree of a sweep that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    root = folder / "root"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        run(paper.into(root), _unheard, quick_put, opener(quick_put, folder / "episodes.txt"))
    return settled(root)


def _unheard(event: object) -> None:
    del event


def moments_of(sweep: Sweep, journal: Path) -> int:
    """How many moments a whole run of it has."""
    put = CountedWrite()
    run(sweep, _unheard, put, opener(put, journal))
    return put.moments


def killed_at(moment: int, sweep: Sweep, journal: Path) -> bool:
    """Run a sweep in a child that dies at ``moment``; False where it ended before."""
    pid = os.fork()
    if pid == 0:
        try:
            put = CountedWrite(stop_at=moment)
            run(sweep, _unheard, put, opener(put, journal))
            os._exit(0)
        except BaseException:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 137)
    return code == 137


def finished(root: Path) -> dict[str, dict[str, bytes]]:
    """The attempts that ended, as ``<record> attempt-<n>``, with their files."""
    return {
        f"{episode.parents[2].name.removesuffix('_results')} {episode.parent.name}": {
            p.name: p.read_bytes() for p in episode.parent.iterdir() if p.is_file()
        }
        for episode in root.glob(f"*_results/{CONDITION}/attempt-*/episode.json")
    }


def readable(root: Path) -> None:
    """A reader comes away with a view, or with a sentence that there is nothing yet."""
    runs = RunsRoot(root)
    if runs.conditions.is_dir() or runs.records():
        assert all(problem.message for problem in load_root(runs).problems)
    else:
        with pytest.raises(InputError, match=r"not a runs root|does not exist"):
            load_root(runs)


def resumed(sweep: Sweep, journal: Path) -> None:
    before = finished(sweep.request.out)
    begun = Counter(journal.read_text().splitlines() if journal.exists() else [])
    run(sweep, _unheard, quick_put, opener(quick_put, journal))
    after = finished(sweep.request.out)
    assert {name: after[name] for name in before} == before
    again = Counter(journal.read_text().splitlines()) - begun
    assert not set(again) & set(before), "a finished attempt was run twice"
    assert set(again) | set(before) == set(after)
    assert max(again.values(), default=0) <= 1


@pytest.mark.parametrize("part", range(SLICES))
def test_a_kill_at_any_moment_then_resume_gives_the_whole_tree(
    paper: Paper, whole: dict[str, Any], tmp_path: Path, part: int
) -> None:
    moments = moments_of(paper.into(tmp_path / "counted" / "root"), tmp_path / "counted.txt")
    assert moments >= LEAST_MOMENTS
    for moment in range(part, moments, SLICES):
        root, journal = tmp_path / str(moment) / "root", tmp_path / f"{moment}.txt"
        assert killed_at(moment, paper.into(root), journal)
        readable(root)
        resumed(paper.into(root, resume=True), journal)
        assert settled(root) == whole, f"stopped at moment {moment}"


def test_a_kill_at_any_moment_of_a_resume_is_resumed_again(paper: Paper, whole: dict[str, Any], tmp_path: Path) -> None:
    for moment in range(40):
        root, journal = tmp_path / str(moment) / "root", tmp_path / f"{moment}.txt"
        assert killed_at(60, paper.into(root), journal)
        assert killed_at(moment, paper.into(root, resume=True), journal)
        resumed(paper.into(root, resume=True), journal)
        assert settled(root) == whole, f"stopped at moment {moment} of the resume"


def test_a_kill_while_old_evidence_is_replaced_loses_none_of_it(
    paper: Paper, whole: dict[str, Any], tmp_path: Path
) -> None:
    for moment in range(12):
        root, journal = tmp_path / str(moment) / "root", tmp_path / f"{moment}.txt"
        run(paper.into(root), _unheard, quick_put, opener(quick_put, journal))
        assert killed_at(moment, paper.into(root, force=True), journal)
        readable(root)
        run(paper.into(root, force=True), _unheard, quick_put, opener(quick_put, journal))
        assert settled(root) == whole
        kept = list(root.glob(f".replaced/*/*_results/{CONDITION}/attempt-*/episode.json"))
        assert len(kept) == EPISODES


def rescore_until(moment: int, runs: RunsRoot) -> None:
    put = CountedWrite(stop_at=moment)
    rescore(runs, lambda path: regenerate(path, put), put=put)


def test_a_kill_at_any_moment_of_a_rescore_is_finished_by_another(
    paper: Paper, whole: dict[str, Any], tmp_path: Path
) -> None:
    root = tmp_path / "root"
    run(paper.into(root), _unheard, quick_put, opener(quick_put, tmp_path / "journal.txt"))
    runs = RunsRoot(root)

    def damage() -> None:
        for path in root.rglob("*"):
            if path.is_file() and runs.kind_of(path) == "derived":
                path.unlink()

    for moment in range(25):
        damage()
        pid = os.fork()
        if pid == 0:
            rescore_until(moment, runs)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, 137)
        rescore(runs, regenerate)
        assert settled(root) == whole, f"stopped at moment {moment}"
        if code == 0:
            break
    assert moment >= 20


def _raising(error: BaseException) -> Callable[[], NoReturn]:
    def stop() -> NoReturn:
        raise error

    return stop


@pytest.mark.parametrize("moment", [0, 20, 33, 61, 100, 170, 190, 205])
def test_a_full_disk_stops_with_a_sentence_and_the_sweep_goes_on_afterwards(
    paper: Paper, whole: dict[str, Any], tmp_path: Path, moment: int
) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    full = OutsideFailure("x could not be written: No space left on device", hint="Free some space.")
    put = CountedWrite(stop_at=moment, stop=_raising(full))
    with pytest.raises(OutsideFailure, match="No space left"):
        run(paper.into(root), _unheard, put, opener(put, journal))
    readable(root)
    resumed(paper.into(root, resume=True), journal)
    assert settled(root) == whole


@pytest.mark.parametrize("moment", [25, 61, 205])
def test_an_interrupt_keeps_what_was_finished(paper: Paper, whole: dict[str, Any], tmp_path: Path, moment: int) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    put = CountedWrite(stop_at=moment, stop=_raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run(paper.into(root), _unheard, put, opener(put, journal))
    assert not (root / ".lock").exists()
    resumed(paper.into(root, resume=True), journal)
    assert settled(root) == whole


def test_a_cut_off_sweep_is_not_started_over_without_being_told(paper: Paper, tmp_path: Path) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    assert killed_at(100, paper.into(root), journal)
    (root / ".lock").unlink()  # left by the killed process, cleared by the next
    before = settled(root)
    with pytest.raises(Refusal, match="already holds this run") as caught:
        run(paper.into(root), _unheard, quick_put, opener(quick_put, journal))
    assert "--resume" in str(caught.value.hint)
    assert settled(root) == before


def test_a_cut_off_sweep_with_other_settings_names_the_field_that_differs(paper: Paper, tmp_path: Path) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    assert killed_at(100, paper.into(root), journal)
    for changes, words in (({"effort": "low"}, "effort: 'default' -> 'low'"), ({"repeat": 1}, "repeat: 2 -> 1")):
        other = paper.altered(root, **changes)
        with pytest.raises(Refusal, match=words):
            run(other, _unheard, quick_put, opener(quick_put, journal))


def test_a_cut_off_sweep_guards_its_tier_against_other_conditions(paper: Paper, tmp_path: Path) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    assert killed_at(100, paper.into(root), journal)
    with pytest.raises(Refusal, match="tier: none -> 'easy'"):
        run(paper.altered(root, tier="easy", label="x"), _unheard, quick_put, opener(quick_put, journal))


def test_a_moved_tree_resumes(paper: Paper, whole: dict[str, Any], tmp_path: Path) -> None:
    old, journal = tmp_path / "old" / "root", tmp_path / "journal.txt"
    assert killed_at(100, paper.into(old), journal)
    new = tmp_path / "ein neuer Ort für 日本 (2)" / "root"
    new.parent.mkdir()
    old.rename(new)
    kept = finished(new)
    assert kept
    resumed(paper.into(new, resume=True), journal)
    # What ran before the move keeps the literal command of its time.
    commands = {name for name in whole if name.endswith("command.txt")}
    assert {k: v for k, v in settled(new).items() if k not in commands} == {
        k: v for k, v in whole.items() if k not in commands
    }


def test_fewer_questions_asked_for_later_drop_none_that_were_measured(
    paper: Paper, whole: dict[str, Any], tmp_path: Path
) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    run(paper.into(root), _unheard, quick_put, opener(quick_put, journal))
    run(paper.altered(root, limit=1, resume=True), _unheard, quick_put, opener(quick_put, journal))
    assert len(journal.read_text().splitlines()) == EPISODES
    changed = {name for name, data in settled(root).items() if data != whole[name]}
    assert changed <= {f"conditions/{CONDITION}.json"}
    assert load_root(RunsRoot(root)).conditions[CONDITION].aggregate["questions"] == 3


def test_more_questions_are_added_to_what_was_measured(paper: Paper, whole: dict[str, Any], tmp_path: Path) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    run(paper.altered(root, limit=1), _unheard, quick_put, opener(quick_put, journal))
    resumed(paper.into(root, resume=True), journal)
    assert settled(root) == whole


def test_resume_runs_what_was_blocked_again_and_keeps_a_timeout(
    paper: Paper, whole: dict[str, Any], tmp_path: Path
) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    endings = {"apples_easy attempt-2": "blocked", "bears_easy attempt-1": "timeout"}
    run(paper.into(root), _unheard, quick_put, opener(quick_put, journal, endings))
    before = finished(root)
    run(paper.into(root, resume=True), _unheard, quick_put, opener(quick_put, journal))
    after = finished(root)
    assert journal.read_text().splitlines()[EPISODES:] == ["apples_easy attempt-2"]
    assert {k for k in before if before[k] != after[k]} == {"apples_easy attempt-2"}
    kept = root / ".replaced" / "0001" / "apples_easy_results" / CONDITION / "attempt-2"
    assert {p.name: p.read_bytes() for p in kept.iterdir()} == before["apples_easy attempt-2"]
    view = load_root(RunsRoot(root))
    assert view.questions["bears_easy"][CONDITION].attempts[0].outcome == "timeout"
    assert view.conditions[CONDITION].aggregate["measured"] == EPISODES
    assert settled(root)["apples_easy_results/summary.csv"] == whole["apples_easy_results/summary.csv"]


def test_other_truth_is_refused_before_anything_is_run(paper: Paper, tmp_path: Path) -> None:
    root, journal = tmp_path / "root", tmp_path / "journal.txt"
    assert killed_at(100, paper.into(root), journal)
    path = RunsRoot(root).truth_json("apples_easy")
    path.write_bytes(path.read_bytes().replace(b'"value": "1"', b'"value": "9"'))
    with pytest.raises(Refusal, match="other ground truth for apples_easy"):
        run(paper.into(root, resume=True), _unheard, quick_put, opener(quick_put, journal))
