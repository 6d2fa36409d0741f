"""``rescore``, ``freeze`` and ``report`` as processes, over a copy of the golden root: no network, no agent program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import Run
from tests.golden.build import ALPHA, GOLDEN
from tests.roots import snapshot

from okn_benchmark.runs.layout import RunsRoot

REASON = "Published; new runs go elsewhere."


def okn(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Our command with nothing on PATH and no way out of the machine."""
    env = {"PATH": "", "HOME": os.environ.get("HOME", ""), "PYTHONUTF8": "1", "http_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "okn_benchmark", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, timeout=60)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "ein Ort für 日本" / "root"))


def test_rescore_twice_moves_no_score_and_no_byte(root: Path) -> None:
    before = snapshot(root)
    first, second = okn("rescore", root), okn("rescore", root)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "no score moved" in first.stdout
    assert first.stdout == second.stdout
    assert snapshot(root) == before


def test_rescore_prints_exactly_the_score_that_moved(root: Path) -> None:
    path = RunsRoot(root).attempt("apples_easy", ALPHA, 1).answer
    path.write_bytes(path.read_bytes().replace(b",1", b",9"))
    done = okn("rescore", root)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"apples_easy · {ALPHA} · attempt 1: exact yes → no, f1 1 → 0.6667")
    assert "1 score moved" in lines[1]


def test_broken_files_are_named_on_stderr_and_the_rest_is_judged(root: Path) -> None:
    done = okn("rescore", root)
    assert "conditions/alpha-all-tools__kg-not-named.json" in done.stderr
    assert "was cut off" in done.stderr
    assert str(root) not in done.stderr


def test_report_twice_prints_the_same_bytes(root: Path) -> None:
    first, second = okn("report", root, "--markdown", "-"), okn("report", root, "--markdown", "-")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout != ""


def test_a_closed_root_is_refused_by_name_and_reason_until_its_marker_is_deleted(root: Path) -> None:
    closed = okn("freeze", root, "--reason", REASON)
    assert closed.returncode == 0, closed.stderr
    assert REASON in closed.stdout
    before = {p: p.stat().st_mtime_ns for p in root.rglob("*")}
    for command in (("rescore", root), ("freeze", root, "--reason", "again")):
        refused = okn(*command)
        assert refused.returncode == 3
        assert f"{root} is frozen: {REASON}" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert okn("report", root).returncode == 0
    inside = okn("report", root, "--markdown", root / "README.md")
    assert inside.returncode == 3
    assert {p: p.stat().st_mtime_ns for p in root.rglob("*")} == before
    (root / ".frozen").unlink()
    assert okn("rescore", root).returncode == 0


def test_verify_names_the_first_file_that_changed(root: Path) -> None:
    okn("freeze", root, "--reason", REASON)
    same = okn("freeze", root, "--verify")
    assert same.returncode == 0
    assert "every byte" in same.stdout
    path = RunsRoot(root).attempt("apples_easy", ALPHA, 1).answer
    path.write_bytes(path.read_bytes().replace(b",1", b",9"))
    changed = okn("freeze", root, "--verify")
    assert changed.returncode == 1
    assert f"apples_easy_results/{ALPHA}/attempt-1/answer.csv has been changed" in changed.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("freeze", "{root}"), 2, "takes a reason"),
        (("freeze", "{root}", "--reason", " "), 2, "for a reason"),
        (("freeze", "{root}", "--verify"), 2, "is not frozen"),
        (("freeze", "{root}", "--verify", "--reason", "x"), 2, "only looks"),
        (("freeze", "{root}/absent", "--reason", "x"), 2, "does not exist"),
        (("freeze", "{root}/conditions", "--reason", "x"), 2, "not a runs root"),
        (("rescore", "{root}/absent"), 2, "does not exist"),
        (("rescore", "{root}/conditions"), 2, "not a runs root"),
        (("rescore", "{root}/summary.csv"), 2, "not a folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_writes_nothing(
    root: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = snapshot(root)
    done = okn(*(argument.format(root=root) for argument in arguments))
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(root) == before


def test_a_place_that_cannot_be_written_is_one_sentence(root: Path) -> None:
    (root / ".lock").mkdir()
    done = okn("rescore", root)
    assert done.returncode == 4
    assert f"{root} cannot be locked for writing: Is a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_root_takes_no_run_under_any_flag(run: Run, tmp_path: Path) -> None:
    root, control = tmp_path / "root", ("--tools", "sparql-only", "--kg-hint", "tags")
    assert run(*control, limit=1).returncode == 0
    assert okn("freeze", root, "--reason", REASON).returncode == 0
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*")}
    for flags in ((), ("--resume",), ("--force",), ("--label", "x")):
        refused = run(*control, *flags, limit=1)
        assert refused.returncode == 3
        assert f"{root} is frozen: {REASON}" in refused.stderr
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*")} == before
    (root / ".frozen").unlink()
    assert run(*control, "--resume", limit=1).returncode == 0


def test_what_a_run_wrote_a_rescore_would_have_written(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert run("--tools", "sparql-only", "--kg-hint", "tags", "--repeat", "2").returncode == 0
    before = snapshot(root)
    done = okn("rescore", root)
    assert done.returncode == 0
    assert "4 attempts judged; no score moved." in done.stdout
    assert snapshot(root) == before
