"""The roots that come with the checkout: closed, whole, small, of no machine, and judged today as they were then."""

import re
import shutil
from pathlib import Path

import pytest
from tests.e2e.conftest import CHECKOUT, Shell
from tests.roots import snapshot

from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.report.about import ORACLE_HOST
from okn_benchmark.runs.layout import RunsRoot

SHELF = CHECKOUT / "runs"
ORACLES = SHELF / "oracle-single"
CLOSED = sorted(marker.parent for marker in SHELF.glob("*/.frozen"))
LARGEST = 3_000_000


def test_there_is_a_root_to_look_at() -> None:
    assert ORACLES in CLOSED


@pytest.mark.parametrize("root", CLOSED, ids=lambda root: root.name)
class TestEveryClosedRoot:
    """Whatever stands on the shelf."""

    def test_every_byte_of_evidence_is_what_it_was(self, root: Path, shell: Shell) -> None:
        done = shell.okn("freeze", root, "--verify")
        assert done.returncode == 0, done.stdout + done.stderr

    def test_it_is_read_and_nothing_is_written(self, root: Path, shell: Shell) -> None:
        before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
        done = shell.okn("report", root)
        assert done.returncode == 0, done.stderr
        assert "is frozen" in done.stderr
        assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before

    def test_it_is_small_and_has_every_page(self, root: Path) -> None:
        held = RunsRoot(root)
        assert sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) < LARGEST
        for page in (held.readme, held.html, held.summary):
            assert page.stat().st_size > 1_000, page

    def test_it_names_no_home_and_no_checkout_of_ours(self, root: Path) -> None:
        own = re.compile(rb"/(?:root|home|Users|work)/[A-Za-z]")
        assert not [name for name, data in snapshot(root).items() if own.search(data)]

    def test_the_judge_of_today_says_the_same(self, root: Path, tmp_path: Path) -> None:
        copy = RunsRoot(Path(shutil.copytree(root, tmp_path / root.name)))
        copy.frozen.unlink()
        assert rescore(copy, regenerate).moves == ()


def test_the_oracles_root_says_what_it_is() -> None:
    view = read_report(ORACLES).view
    assert {row.about.host for row in view.conditions} == {ORACLE_HOST}
    assert len(view.conditions) == 3
    assert len(view.questions) == 12
    assert view.attempts == view.measured == 36
    assert {row.exact.value for row in view.conditions if row.exact} == {1.0}
    assert all(row.about.corpus_commit and not row.about.corpus_dirty for row in view.conditions)
    for page in (RunsRoot(ORACLES).readme, RunsRoot(ORACLES).html, SHELF / "README.md"):
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert "says that the instrument works" in text or "say that the instrument works" in text
        assert "no model" in text.lower()
