"""A recorded sweep of each bundled corpus, run again with no server at all."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Shell

from okn_benchmark.corpus.source import bundled_names

CLOCKS = {"wall_s", "server_s", "api_retry_s", "contended"}
"""``contended``: whether another sweep ran on the machine meanwhile, which bears on clocks alone."""

QUESTIONS = 4
"""Of each corpus: every question starts a server, and the next four tell no more than these."""


def without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_clocks(item) for key, item in value.items() if key not in CLOCKS}
    return [without_clocks(item) for item in value] if isinstance(value, list) else value


def left(root: Path) -> dict[str, Any]:
    """Results without clocks, everything else byte for byte."""
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.name == "result.json":
            found[name] = without_clocks(json.loads(path.read_text()))
        if path.name in ("answer.csv", "ground_truth.csv", "prompt.txt"):
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize("corpus", bundled_names())
def test_a_recorded_sweep_reruns_without_a_server(shell: Shell, corpus: str, profile: Path, tmp_path: Path) -> None:
    assert shell.okn("reference", "--corpus", corpus, "--endpoint", "sample").returncode == 0
    nowhere = tmp_path / "nowhere.toml"
    text = profile.read_text()
    nowhere.write_text(
        "\n".join('command = "no-such-command"' if r.startswith("command") else r for r in text.splitlines())
    )
    fixed = ("run", "--corpus", corpus, "--tools", "all-tools", "--host", "oracle", "--endpoint", "sample")
    fixed = (*fixed, "--limit", str(QUESTIONS))
    tape = tmp_path / "tape"
    live = shell.okn(*fixed, "--profile", profile, "--record", tape, "--out", tmp_path / "live")
    assert live.returncode == 0, live.stderr
    again = shell.okn(*fixed, "--profile", nowhere, "--replay", tape, "--out", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    assert left(tmp_path / "again") == left(tmp_path / "live")
    assert len(list((tmp_path / "again").rglob("result.json"))) == QUESTIONS
    assert len(list((tmp_path / "again").rglob("answer.csv"))) == QUESTIONS
