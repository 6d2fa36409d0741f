"""``demo``: the first command a stranger types."""

from pathlib import Path

from tests.e2e.conftest import Shell


def test_every_answer_is_exact_and_the_pages_are_there(shell: Shell, tmp_path: Path) -> None:
    done = shell.okn("demo", "--out", tmp_path / "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "27 of 27 answers exact" in done.stdout
    assert "no model took part" in done.stdout
    roots = sorted((tmp_path / "demo").iterdir())
    assert len(roots) == 3
    for root in roots:
        assert len(list((root / "conditions").glob("*.json"))) == 3
        assert "oracle (no model" in (root / "README.md").read_text(encoding="utf-8")
        assert (root / "report.html").stat().st_size > 10_000
    again = shell.okn("demo", "--out", tmp_path / "demo", cwd=tmp_path)
    assert again.returncode == 3
    assert "holds a run already" in again.stderr
