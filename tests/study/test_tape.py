"""Record and replay: the same study without its server gives the same results but for the clocks."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.prepare import prepare
from okn_benchmark.runs.layout import RunsRoot
from tests.study.agents import MINDS, MindHost, literal
from tests.study.sweeps import UNITS_OFF, Study, make_study

CLOCKS = {"wall_s", "server_s", "api_retry_s", "contended"}
"""``contended``: whether another sweep ran on the machine meanwhile, which bears on clocks alone."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    made = make_study(tmp_path_factory.mktemp("tape") / "ic50")
    made.run(MINDS["literal"], "recorded", record=made.folder / "tape")
    return made


@pytest.fixture
def dead(study: Study, tmp_path: Path) -> Path:
    """The same profile with a server that does not exist."""
    path = tmp_path / "ic50.toml"
    path.write_text(study.profile.read_text().replace(sys.executable, "no-such-command-anywhere"))
    return path


def without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_clocks(item) for key, item in value.items() if key not in CLOCKS}
    return [without_clocks(item) for item in value] if isinstance(value, list) else value


def results(study: Study, out: str) -> dict[str, Any]:
    """Every result and answer of a root, by its path inside."""
    root = study.folder / out
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*")):
        if path.name == "result.json":
            found[str(path.relative_to(root))] = without_clocks(json.loads(path.read_text()))
        if path.name in ("answer.csv", "ground_truth.csv"):
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


def traffic(study: Study, out: str, record: int, condition: str) -> dict[str, int]:
    root = RunsRoot(study.folder / out)
    calls = json.loads(root.attempt(root.records()[record], condition, 1).calls.read_text())
    return {name: count for name, count in calls["traffic"].items() if name.startswith("tape")}


def test_a_study_reruns_without_its_server(study: Study, dead: Path) -> None:
    swept = study.run(MINDS["literal"], "replayed", replay=study.folder / "tape", profile=dead)
    assert results(study, "replayed") == results(study, "recorded")
    assert len(results(study, "replayed")) == 18
    assert traffic(study, "recorded", 0, swept.condition) == {"tape same": 2, "tape new": 1}
    assert traffic(study, "replayed", 0, swept.condition) == {"tape hits": 3}
    record = json.loads((study.folder / "replayed" / "conditions" / f"{swept.condition}.json").read_text())
    assert record["meta"]["tape"] == "replay"
    assert record["meta"]["server_info"]["name"] == "ic50"


def test_another_arm_meets_the_very_same_server(study: Study, dead: Path) -> None:
    more = {"replay": study.folder / "tape", "profile": dead}
    swept = study.run(MINDS["noticer"], "arm", arm=UNITS_OFF, **more)
    record = json.loads((study.folder / "arm" / "conditions" / f"{swept.condition}.json").read_text())
    assert record["aggregate"]["manipulation"]["passed"] is True


def test_a_call_that_was_not_recorded_gets_a_clear_error(study: Study, dead: Path) -> None:
    host = MindHost(lambda text: f"n\n{len(text)}\n", also=("about",))
    swept = study.run(literal, "missed", replay=study.folder / "tape", profile=dead, host=host)
    root = RunsRoot(study.folder / "missed")
    calls = json.loads(root.attempt(root.records()[0], swept.condition, 1).calls.read_text())
    assert calls["calls"][0]["ok"] is False
    assert "No reply is recorded for this call of about" in calls["calls"][0]["error"]
    assert calls["calls"][1]["ok"] is True
    assert calls["traffic"]["tape misses"] == 1
    assert any("1 request had no" in warning and "recorded" in warning for warning in swept.attempts[0].warnings)


def test_then_live_asks_for_what_is_missing_and_keeps_it(study: Study, dead: Path, tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    host = MindHost(literal, also=("about",))
    study.run(literal, "partly", record=tape)
    swept = study.run(literal, "then-live", replay=tape, then_live=True, host=host)
    assert traffic(study, "then-live", 0, swept.condition) == {
        "tape hits": 1, "tape misses": 1, "tape new": 1, "tape same": 2,
    }  # fmt: skip
    study.run(literal, "all-there", replay=tape, profile=dead, host=host)
    assert traffic(study, "all-there", 0, swept.condition) == {"tape hits": 4}


def test_words_of_another_server_are_told(study: Study, dead: Path, tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    study.run(literal, "old", record=tape)
    for path in tape.glob("activities-*.json"):
        path.write_text(path.read_text().replace('"server": "', '"server": "0'))
    swept = study.run(literal, "stale", replay=tape, profile=dead)
    assert traffic(study, "stale", 0, swept.condition) == {"tape hits": 3, "tape stale": 1}
    assert any("another version" in warning for warning in swept.attempts[0].warnings)
    study.run(literal, "anew", replay=tape, then_live=True)
    assert traffic(study, "anew", 0, swept.condition) == {"tape replaced": 1, "tape same": 2, "tape stale": 1}


def test_a_reply_that_changes_while_it_is_recorded_is_told(study: Study, tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    study.run(literal, "first", record=tape)
    for path in tape.glob("activities-*.json"):
        path.write_text(path.read_text().replace("uM", "mM").replace("nM", "pM"))
    swept = study.run(literal, "second", record=tape)
    assert traffic(study, "second", 0, swept.condition) == {"tape same": 2, "tape unsteady": 1}
    assert any("differed" in warning for warning in swept.attempts[0].warnings)


def test_settings_that_cannot_be_meant(study: Study, tmp_path: Path) -> None:
    for more, says in (
        ({"record": tmp_path, "replay": tmp_path}, "give one of the two"),
        ({"then_live": True}, "--replay DIR"),
        ({"replay": tmp_path / "none"}, "There is no recording"),
        ({"keep_payloads": True}, "--arm FILE"),
    ):
        with pytest.raises(InputError, match=says):
            prepare(study.request("never", **more))


def test_an_empty_recording_blocks_and_says_why(study: Study, dead: Path, tmp_path: Path) -> None:
    sweep = prepare(study.request("empty", replay=tmp_path, profile=dead))
    assert "holds no opening" in (sweep.server_fault or "")
