"""A condition record that was damaged: ``run --resume`` says the way out, and the way out works."""

import json
from pathlib import Path

from tests.e2e.conftest import Run

CONTROL = ("--tools", "sparql-only", "--kg-hint", "tags")


def test_a_broken_condition_record_has_a_way_out(run: Run, tmp_path: Path) -> None:
    assert run(*CONTROL, limit=1).returncode == 0
    record = tmp_path / "root" / "conditions" / "sparql-only__kg-named.json"
    whole = json.loads(record.read_text(encoding="utf-8"))
    record.write_text('{"schema": ', encoding="utf-8")
    stuck = run(*CONTROL, "--resume", limit=1)
    assert stuck.returncode == 2
    assert "is not valid JSON" in stuck.stderr
    assert f"move {record.name} out of the root and run this condition again with --resume" in stuck.stderr
    record.rename(tmp_path / "aside.json")
    done = run(*CONTROL, "--resume", limit=1)
    assert done.returncode == 0, done.stderr
    again = json.loads(record.read_text(encoding="utf-8"))
    assert again["aggregate"] == whole["aggregate"]
    assert list(again["questions"]) == list(whole["questions"])
    assert not (tmp_path / "root" / ".replaced").exists()
