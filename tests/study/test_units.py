"""The price of a column: three agents, with and without the unit, against the table computed by hand (README.md)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.tree import load_root
from tests.study.agents import MINDS, MindHost
from tests.study.sweeps import UNITS_OFF, Study, make_study, outcomes

BY_HAND: dict[tuple[str, str], dict[str, Counter[str]]] = {
    ("literal", "on"): {"um": Counter(trap=4), "nm": Counter(correct=2)},
    ("literal", "off"): {"um": Counter(trap=4), "nm": Counter(correct=2)},
    ("assumes-nM", "on"): {"um": Counter(correct=4), "nm": Counter(correct=2)},
    ("assumes-nM", "off"): {"um": Counter(trap=4), "nm": Counter(correct=2)},
    ("noticer", "on"): {"um": Counter(correct=4), "nm": Counter(correct=2)},
    ("noticer", "off"): {"um": Counter(neither=4), "nm": Counter(neither=2)},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("study") / "ic50")


@pytest.mark.parametrize("name", MINDS)
@pytest.mark.parametrize("units", ["on", "off"])
def test_the_outcome_table_is_the_one_computed_by_hand(study: Study, name: str, units: str) -> None:
    arm = UNITS_OFF if units == "off" else None
    swept = study.run(MINDS[name], name, arm=arm)
    assert outcomes(swept) == BY_HAND[name, units]
    assert swept.condition == ("ic50-all-tools__kg-not-named" + ("__arm-units-off" if arm else ""))
    record = json.loads((study.folder / name / "conditions" / f"{swept.condition}.json").read_text())
    if arm is None:
        assert "manipulation" not in record["aggregate"]
        return
    assert record["meta"]["identity"]["arm"] == record["meta"]["arm"]["digest"]
    found = record["aggregate"]["manipulation"]
    assert (found["passed"], found["calls_checked"], found["work"]) == (True, 6, {"drop units": 6})
    rate = sum(kinds["correct"] for kinds in BY_HAND[name, units].values()) / 6
    assert record["aggregate"]["exact_rate"] == pytest.approx(rate)


def test_an_arm_is_another_condition_and_another_arm_under_its_name_is_refused(study: Study) -> None:
    from okn_benchmark.errors import Refusal

    study.run(MINDS["literal"], "twice", arm=UNITS_OFF)
    with pytest.raises(Refusal, match="arm"):
        study.run(MINDS["literal"], "twice", arm=UNITS_OFF + 'keep = []\nexpect = "every-call"\n', resume=True)


def test_an_arm_that_names_no_tool_of_the_server_is_refused(study: Study) -> None:
    from okn_benchmark.errors import InputError

    with pytest.raises(InputError, match="names the tool activites"):
        study.run(MINDS["literal"], "typo", arm=UNITS_OFF.replace('"activities"', '"activites"'))
    assert not (study.folder / "typo").exists()


def test_both_sides_of_a_changed_result_are_kept_where_asked(study: Study) -> None:
    swept = study.run(MINDS["literal"], "payloads", arm=UNITS_OFF, keep_payloads=True)
    root = RunsRoot(study.folder / "payloads")
    attempt = root.attempt(swept.results[0].record, swept.condition, 1).folder
    before, after = (json.loads((attempt / "payloads" / f"1-{side}.json").read_text()) for side in ("before", "after"))
    assert before["content"][0]["text"] == "chemblId,value,units\nCHEMBL4436787,25.0,uM\n"
    assert after["content"][0]["text"] == "chemblId,value\nCHEMBL4436787,25.0\n"
    assert load_root(root).problems == ()


def test_json_and_its_structured_content_lose_the_column_together(study: Study) -> None:
    arm = UNITS_OFF.replace('"activities"', '"activities_json"')
    host = MindHost(lambda text: f"n\n{len(text)}\n", tool="activities_json", also=("about",))
    swept = study.run(MINDS["literal"], "json", arm=arm, keep_payloads=True, host=host)
    attempt = RunsRoot(study.folder / "json").attempt(swept.results[0].record, swept.condition, 1).folder
    after = json.loads((attempt / "payloads" / "2-after.json").read_text())
    assert json.loads(after["content"][0]["text"]) == after["structuredContent"]
    assert after["structuredContent"] == {"rows": [{"chemblId": "CHEMBL4436787", "value": 25.0}]}
    assert not (attempt / "payloads" / "1-after.json").exists()
    record = json.loads((study.folder / "json" / "conditions" / f"{swept.condition}.json").read_text())
    assert record["aggregate"]["manipulation"]["passed"] is True


def test_documentation_instructions_and_tools(study: Study) -> None:
    arm = 'name = "bare"\ndocumentation = "names"\ninstructions = "strip"\nwithout_tools = ["about"]\n'
    swept = study.run(MINDS["literal"], "bare", arm=arm)
    record = json.loads((study.folder / "bare" / "conditions" / f"{swept.condition}.json").read_text())
    assert record["aggregate"]["manipulation"]["passed"] is True
    attempt = RunsRoot(study.folder / "bare").attempt(swept.results[0].record, swept.condition, 1)
    calls = json.loads(attempt.calls.read_text())
    assert calls["offered"]["withheld"] == ["about"]
    assert calls["session"]["instructions_given_chars"] == 0
    assert swept.attempts[0].ledger is not None
    assert swept.attempts[0].ledger["instructions_chars"] == 0
    assert Path(attempt.folder / "answer.csv").exists()


def test_faults_fall_where_the_seed_says(study: Study) -> None:
    arm = 'name = "faulty"\nseed = 2\nfaults = {rate = 0.5}\nlatency = {rate = 0.5, low_s = 0.01, high_s = 0.05}\n'
    first = study.run(MINDS["literal"], "faulty", arm=arm)
    again = study.run(MINDS["literal"], "faulty-again", arm=arm)
    kinds = [attempt.outcome for attempt in first.attempts]
    assert kinds == [attempt.outcome for attempt in again.attempts]
    assert 0 < kinds.count("no_submission") < 6
    record = json.loads((study.folder / "faulty" / "conditions" / f"{first.condition}.json").read_text())
    assert record["aggregate"]["manipulation"]["passed"] is True
