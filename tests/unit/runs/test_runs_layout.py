"""Paths of a root: evidence or derived by place, and nothing outside it."""

from pathlib import Path

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.runs.layout import RunsRoot, evidence_files, is_temporary

ROOT = RunsRoot(Path("root"))
HOSTILE = ["../x", "a/b", "", ".", "..", ".hidden", "a\\b", "a\0b", "a\nb", " a", "a ", "/etc", "x" * 300, "\udcff"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_never_becomes_a_path(name: str) -> None:
    for attempt in (ROOT.question, ROOT.condition, ROOT.truth_json, lambda n: ROOT.arm("r", n)):
        with pytest.raises(InputError):
            attempt(name)


@pytest.mark.parametrize("name", ["spoke-okn_x", "größe", "a b", "a.b", "日本"])
def test_an_ordinary_id_is_taken_as_it_is(name: str) -> None:
    assert ROOT.question(name) == Path("root") / f"{name}_results"


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("README.md", "derived"),
        ("summary.csv", "derived"),
        ("report.html", "derived"),
        ("declared.toml", "evidence"),
        (".frozen", "state"),
        (".lock", "state"),
        ("conditions/c.json", "condition"),
        ("r_results/summary.csv", "derived"),
        ("r_results/ground_truth.json", "evidence"),
        ("r_results/ground_truth.csv", "evidence"),
        ("r_results/c/result.json", "derived"),
        ("r_results/c/attempt-1/episode.json", "evidence"),
        ("r_results/c/attempt-1/answer.csv", "evidence"),
        # An episode may leave files under our names in its scratch folder; the place decides.
        ("r_results/c/attempt-1/cwd/result.json", "evidence"),
        ("r_results/c/attempt-1/cwd/summary.csv", "evidence"),
        (".replaced/0001/r_results/c/result.json", "evidence"),
        ("notes/result.json", "evidence"),
    ],
)
def test_the_place_decides_who_may_write(place: str, kind: str) -> None:
    assert ROOT.kind_of(ROOT.path / place) == kind


@pytest.mark.parametrize("place", ["../elsewhere", "../root2/README.md", "r_results/../../x"])
def test_a_place_outside_the_root_has_no_kind(place: str) -> None:
    with pytest.raises(InputError, match="not inside the runs root"):
        ROOT.kind_of(ROOT.path / place)


def test_folders_are_found_by_name_and_number(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    for name in ("attempt-10", "attempt-2", "attempt-1", "attempt-0", "attempt-x", "attempt-01", "notes"):
        (root.arm("r", "c") / name).mkdir(parents=True)
    (root.question("r") / ".hidden").mkdir()
    (tmp_path / "_results").mkdir()
    (tmp_path / "other").mkdir()
    assert root.records() == ["r"]
    assert root.arms("r") == ["c"]
    assert [a.number for a in root.attempts("r", "c")] == [1, 2, 10]
    assert root.attempts("r", "absent") == []


def test_condition_names_ignore_what_a_crash_left(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    assert root.condition_names() == []
    root.conditions.mkdir()
    for name in ("b.json", "a.json", ".a.json.123.tmp", ".x.json", "notes.txt"):
        (root.conditions / name).write_text("{}")
    assert root.condition_names() == ["a", "b"]


def test_rejected_submissions_are_in_the_order_of_their_number(tmp_path: Path) -> None:
    attempt = RunsRoot(tmp_path).attempt("r", "c", 1)
    attempt.folder.mkdir(parents=True)
    for number in (1, 2, 10):
        (attempt.folder / f"rejected-{number}.csv").touch()
    assert [p.name for p in attempt.rejected()] == ["rejected-1.csv", "rejected-2.csv", "rejected-10.csv"]


def test_evidence_is_listed_in_a_stable_order_without_following_links(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path / "root")
    cwd = root.attempt("r", "c", 1).cwd
    cwd.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").touch()
    (cwd / "link").symlink_to(tmp_path / "outside")
    (cwd / ".a.txt.abc.tmp").touch()
    root.result("r", "c").touch()
    (root.path / "README.md").touch()
    (root.path / ".git").mkdir()
    (root.path / ".git" / "HEAD").touch()
    found = [p.relative_to(root.path).as_posix() for p in evidence_files(root)]
    assert found == ["r_results/c/attempt-1/cwd/link"]
    assert is_temporary(cwd / ".a.txt.abc.tmp")


def test_folders_with_names_we_would_not_give_are_no_records_and_no_conditions(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    for name in (" x_results", "a\nb_results", "r_results/ c", "r_results/ok", "conditions"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("ok.json", " c.json", "a\tb.json"):
        (root.conditions / name).write_text("{}")
    assert root.records() == ["r"]
    assert root.arms("r") == ["ok"]
    assert root.condition_names() == ["ok"]
