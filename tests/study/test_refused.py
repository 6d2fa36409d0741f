"""An arm whose gate failed: every page says so and none shows a number of it; the arm beside it keeps its own."""

import csv
import io
import json
from pathlib import Path

import pytest

from okn_benchmark.jobs.compare import compare
from okn_benchmark.jobs.pages import html_of
from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.jobs.run import summary_line
from okn_benchmark.report.document import view_json
from okn_benchmark.report.terminal import show
from okn_benchmark.runs.layout import RunsRoot
from tests.study.agents import MINDS
from tests.study.sweeps import UNITS_OFF, make_study

IDENTITY = UNITS_OFF.replace("units-off", "identity").replace('["units"]', '["no_such_column"]\nexpect = "every-call"')
CLEAN = "ic50-all-tools__kg-not-named__arm-units-off"
BROKEN = "ic50-all-tools__kg-not-named__arm-identity"
SCORES = ("exact", "ordered", "f1", "strict_exact", "strict_ordered", "strict_f1")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No arm, a clean one, and one that changes nothing where it says it would."""
    study = make_study(tmp_path_factory.mktemp("refused") / "ic50")
    for arm in (None, UNITS_OFF, IDENTITY):
        study.run(MINDS["assumes-nM"], arm=arm)
    return study.folder / "root"


def test_the_identity_transform_fails_the_gate_called_applied(root: Path) -> None:
    aggregate = json.loads((root / "conditions" / f"{BROKEN}.json").read_text())["aggregate"]
    assert list(aggregate["manipulation"]["failed"]) == ["applied"]
    assert aggregate["manipulation"]["failed"]["applied"]["count"] == 6
    assert aggregate["exact_rate"] is None
    assert json.loads((root / "conditions" / f"{CLEAN}.json").read_text())["aggregate"]["exact_rate"] is not None


def test_the_sweep_itself_says_so(root: Path, tmp_path: Path) -> None:
    study = make_study(tmp_path / "said")
    swept = study.run(MINDS["assumes-nM"], arm=IDENTITY)
    assert swept.refused is not None
    assert "gate failed (applied: " in summary_line(swept)
    assert "exact" not in summary_line(swept)


def test_the_page_says_gate_failed_where_the_numbers_would_be(root: Path) -> None:
    text = (root / "README.md").read_text()
    tables = [line for line in text.splitlines() if line.startswith("|") and BROKEN in line and "−" not in line]
    results = [line for line in tables if "gate failed" in line]
    assert len(results) >= 2
    assert not [line for line in tables if "1.00" in line or "100 %" in line]
    assert "changed nothing (and 5 more)" in text
    assert "6 refused (gate failed)" in text
    clean = [line for line in text.splitlines() if line.startswith(f"| `{CLEAN}`")]
    assert not [line for line in clean if "gate failed" in line]


def test_the_rows_for_scripts_say_so_too(root: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((root / "summary.csv").read_text())))
    broken = [row for row in rows if row["condition"] == BROKEN]
    assert len(broken) == 6
    assert {row[name] for row in broken for name in SCORES} == {"gate failed"}
    assert {row["exact"] for row in rows if row["condition"] == CLEAN} <= {"true", "false"}
    assert all(int(row["definition_chars"]) > 100 for row in rows)


def test_a_notebook_has_no_score_of_it(root: Path) -> None:
    from okn_benchmark.report.frame import attempts

    frame = attempts(root)
    broken = frame[frame.condition == BROKEN]
    assert len(broken) == 6
    assert broken[list(SCORES)].isna().all(axis=None)
    assert frame[frame.condition == CLEAN].exact.notna().all()
    assert (frame.context_chars > 100).all()


def test_the_terminal_the_html_and_the_json(root: Path) -> None:
    view = read_report(root).view
    stream = io.StringIO()
    show(view, stream, plain=True)
    assert "gate failed" in stream.getvalue()
    page = html_of(read_report(root))
    assert page.count("gate failed") > 6
    assert "Manipulation" in page
    found = {row["about"]["name"]: row for row in view_json(view)["conditions"]}
    assert found[BROKEN]["exact"] is None
    assert found[BROKEN]["worst"] is None
    assert found[CLEAN]["exact"]["attempts"] == 6


def test_a_comparison_with_it_is_withheld(root: Path) -> None:
    (made,) = compare(f"{root}::{BROKEN}", f"{root}::{CLEAN}")
    assert made.contrast.exact is None
    assert "gate failed" in (made.contrast.withheld or "")
    named = {c.left: c for c in read_report(root).view.contrasts if c.kind == "arm"}
    assert named[BROKEN].withheld is not None
    effect = named[CLEAN].exact
    assert effect is not None
    assert (effect.left, effect.right) == (pytest.approx(2 / 6), 1.0)


def test_a_log_that_lost_its_record_refuses_the_arm_when_it_is_judged_again(root: Path, tmp_path: Path) -> None:
    study = make_study(tmp_path / "again")
    swept = study.run(MINDS["assumes-nM"], arm=UNITS_OFF)
    fresh = RunsRoot(study.folder / "root")
    path = fresh.attempt(swept.results[0].record, CLEAN, 1).calls
    calls = json.loads(path.read_text())
    del calls["calls"][0]["steps"]
    path.write_text(json.dumps(calls))
    rescore(fresh, regenerate)
    aggregate = json.loads((fresh.conditions / f"{CLEAN}.json").read_text())["aggregate"]
    assert list(aggregate["manipulation"]["failed"]) == ["recorded"]
    assert aggregate["exact_rate"] is None
    assert "gate failed" in (fresh.path / "README.md").read_text()


def test_context_stands_on_the_page(root: Path) -> None:
    text = (root / "README.md").read_text()
    section = text[text.index("## Context") : text.index("## Outcomes")]
    (clean,) = [line for line in section.splitlines() if line.startswith(f"| `{CLEAN}`")]
    cells = [cell.strip() for cell in clean.strip("|").split("|")]
    record = json.loads((root / "conditions" / f"{CLEAN}.json").read_text())["aggregate"]["ledger"]
    assert cells[4] == f"{record['context_chars']['sum'] / 6:,.0f}"
    assert cells[6] == f"{record['context_chars']['sum'] / 6 / (2 / 6):,.0f}"
