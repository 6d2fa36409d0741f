"""``probe --arm``: both sides of an arm, for free."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.preview import preview, preview_lines
from tests.study.sweeps import UNITS_OFF, Study, make_study

ARMS = sorted((Path(__file__).parents[2] / "arms").glob("*.toml"))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("preview") / "ic50")


def arm_file(folder: Path, text: str) -> Path:
    path = folder / "arm.toml"
    path.write_text(text)
    return path


def test_a_result_is_shown_before_and_after_with_the_verdict_of_the_check(study: Study, tmp_path: Path) -> None:
    found = preview(study.profile, arm_file(tmp_path, UNITS_OFF), call=("activities", {"compound": "CHEMBL4436787"}))
    assert found.result is not None
    assert json.loads(found.result.before or "")["content"][0]["text"].startswith("chemblId,value,units\n")
    assert json.loads(found.result.after or "")["content"][0]["text"] == "chemblId,value\nCHEMBL4436787,25.0\n"
    assert found.verdict == "drop units: changed as declared, nothing else touched"
    assert "    CHEMBL4436787,25.0,uM" in list(preview_lines(found))


def test_definitions_and_instructions_are_shown_too(study: Study, tmp_path: Path) -> None:
    arm = 'name = "bare"\ndocumentation = "names"\ninstructions = "strip"\nwithout_tools = ["about"]\n'
    found = preview(study.profile, arm_file(tmp_path, arm))
    assert (found.instructions.after, found.instructions.changed) == (None, True)
    by_name = {sides.name: sides for sides in found.definitions}
    assert by_name["about"].after is None
    assert "description" not in (by_name["activities"].after or "")
    assert any("taken away" in row for row in preview_lines(found))


def test_an_arm_that_would_do_nothing_is_told_before_it_is_run(study: Study, tmp_path: Path) -> None:
    text = UNITS_OFF.replace('["units"]', '["unit"]\nexpect = "every-call"')
    found = preview(study.profile, arm_file(tmp_path, text), call=("activities", {}))
    assert found.verdict == "drop unit: CHANGED NOTHING WHERE IT SHOULD"
    with pytest.raises(InputError, match="no tool of that name"):
        preview(study.profile, arm_file(tmp_path, text), call=("activites", {}))


@pytest.mark.parametrize("path", ARMS, ids=lambda path: path.stem)
def test_every_ready_arm_runs_over_a_server(study: Study, path: Path) -> None:
    found = preview(study.profile, path, call=("activities", {}))
    assert found.arm.name == path.stem
    assert "SHOULD" not in (found.verdict or "")
    assert (found.result is not None and found.result.changed) == (path.stem == "units-dropped")


def test_the_command(study: Study, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "okn_benchmark", "probe", "--profile", str(study.profile)]
    arm = ["--arm", str(arm_file(tmp_path, UNITS_OFF))]
    done = subprocess.run([*command, *arm, "--call", "activities", "--json"], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"][0]["rule"] == "drop units"
    assert subprocess.run([*command, "--call", "x"], capture_output=True, timeout=60).returncode == 2
