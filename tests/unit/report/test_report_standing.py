"""What a page must say of a number beside the number: drift, a rehearsal, a failed audit, a silent server."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from okn_benchmark.jobs.pages import html_of
from okn_benchmark.jobs.report import read_report
from okn_benchmark.report.apart import apart_rows
from okn_benchmark.report.cautions import banners, cautions
from okn_benchmark.report.csvs import read_rows, summary_csv
from okn_benchmark.report.document import view_json
from okn_benchmark.report.figures import standing
from okn_benchmark.report.frame import frame_of
from okn_benchmark.report.markdown import markdown
from okn_benchmark.report.plots import question_means
from okn_benchmark.report.terminal import rendered
from okn_benchmark.report.trust import cards
from okn_benchmark.report.view import ReportView
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.shapes import ConditionRecord
from tests import troubled
from tests.unit.report import study
from tests.unit.report.study import attempt, condition, control, view

DIGEST = "0123456789ab" + "c" * 52
SCRIPTED = "scripted (no model; script 0123456789ab) as claude-opus-5 (asked for as opus)"
DRIFTED = {"state": "drifted", "rows_then": 9, "rows_now": 11, "lost": 1, "gained": 3}
RECUT = {"state": "tie-unstable", "rows_then": 9, "rows_now": 9, "lost": 1, "gained": 1}
UNSOUND = {"digest": DIGEST, "clean": False, "findings": ["the tool Bash is offered"]}
SOUND = {"digest": DIGEST, "clean": True, "findings": []}


def _with(record: ConditionRecord, **meta: Any) -> ConditionRecord:
    record.meta.update(meta)
    return record


def _terminal(found: ReportView) -> str:
    out = io.StringIO()
    Console(width=200, no_color=True, file=out).print(rendered(found))
    return out.getvalue()


def _two(**drift: Any) -> ReportView:
    """Three questions, the last of them wrong; the full condition carries the drift."""
    right, wrong = [attempt(1), attempt(2)], [attempt(1, exact=False, f1=0.25), attempt(2, exact=False, f1=0.25)]
    cells = {"a": right, "b": right, "c": wrong}
    full = _with(condition(study.FULL, repeat=2), drift=drift or None)
    return view([full, control(study.CONTROL, repeat=2)], {study.FULL: cells, study.CONTROL: cells})


def test_a_drifted_question_is_in_no_rate_and_named_beside_it() -> None:
    found = _two(start={}, end={"c": DRIFTED})
    full, bare = found.conditions
    assert full.exact is not None
    assert (full.exact.value, full.exact.attempts, full.exact.questions, full.questions) == (1.0, 4, 2, 2)
    assert (full.measured, full.recorded, full.planned) == (4, 4, 4)
    assert [(one.record, one.hits, one.measured, one.f1) for one in full.apart] == [("c", 0, 2, 0.25)]
    assert full.f1.value == 1.0
    assert full.diagnoses == {}
    assert bare.exact is not None
    assert bare.exact.questions == 3
    page = markdown(found)
    assert "| 4/4 | 2 (1 apart) |" in page
    assert "1 of 3 questions set apart, since their key drifted: c" in page
    assert "### Set apart" in page
    assert "| `c` | at the end | drifted | 9 | 11 | 1 | 3 | 0/2 | 0.25 | 2 |" in page
    assert "10 measured, 0 blocked, 2 set apart" in page


def test_a_drifted_question_is_in_no_comparison_graph_or_plot() -> None:
    found = _two(start={"c": DRIFTED})
    tools = next(c for c in found.contrasts if c.kind == "tools")
    assert tools.questions == 2
    assert tools.dropped == {"c": "key drifted on the left"}
    assert (tools.worst, tools.best) == (None, None)
    assert len(question_means(found, study.FULL, "wall_s")) == 2
    assert len(question_means(found, study.CONTROL, "wall_s")) == 3


def test_another_cut_through_ties_is_a_note_and_no_more() -> None:
    found = _two(start={"c": RECUT}, end={})
    assert found.conditions[0].apart == ()
    assert found.conditions[0].exact is not None
    assert found.conditions[0].exact.questions == 3
    assert "c: key tie-unstable at the start" in dict(cautions(found))[study.FULL]
    assert "### Set apart" not in markdown(found)


def test_drift_stands_in_every_row_and_in_the_json() -> None:
    found = _two(start={"c": RECUT}, end={"c": DRIFTED})
    rows = {(r["question"], r["condition"]): r for r in read_rows(summary_csv(found))}
    assert rows["c", study.FULL]["key_moved"] == "tie-unstable at the start; drifted at the end"
    assert rows["c", study.FULL]["notes"].startswith("key drifted: set apart, in no rate")
    assert rows["c", study.CONTROL]["key_moved"] == ""
    told = view_json(found)["conditions"][0]
    assert [one["record"] for one in told["apart"]] == ["c"]
    assert told["apart"][0]["moved"][1]["rows_now"] == 11
    assert told["about"]["drift"]["checked"] == ["start", "end"]
    assert view_json(found)["conditions"][1]["about"]["drift"] is None
    assert list(frame_of(found).query("condition == @study.FULL").key_moved.unique()) == [
        "",
        "tie-unstable at the start; drifted at the end",
    ]


def test_unknown_drift_is_not_checked_and_a_half_check_says_so() -> None:
    (card,) = [c for c in cards(_two()) if c.title == "Drift"]
    assert (card.status, card.tone) == ("not checked", "unknown")
    (card,) = [c for c in cards(_two(start={})) if c.title == "Drift"]
    assert any("at the start only" in line for line in card.lines)
    assert any(line == f"{study.CONTROL}: not checked" for line in card.lines)


def test_the_terminal_sets_it_apart_too() -> None:
    said = _terminal(_two(end={"c": DRIFTED}))
    assert "Set apart, in no rate" in said
    assert "4/4 in 2 (1 apart)" in said
    assert "0/2 (0.25), set apart" in said


def _rehearsed() -> ReportView:
    full = _with(condition(study.FULL), model_script=DIGEST)
    cells = {"a": [attempt(n) for n in (1, 2, 3)]}
    return view([full, control()], {study.FULL: cells, study.CONTROL: cells})


def test_a_rehearsal_is_called_what_it_is_wherever_the_model_is_shown() -> None:
    found = _rehearsed()
    row = found.conditions[0]
    assert row.model == row.about.model == SCRIPTED
    assert row.about.effort_shown == "default"
    assert not row.about.has_model
    assert f"| {SCRIPTED} | default |" in markdown(found)
    assert "scripted (no" in _terminal(found)
    told = view_json(found)
    assert (told["conditions"][0]["model"], told["conditions"][0]["has_model"]) == (SCRIPTED, False)
    rows = [r for r in read_rows(summary_csv(found)) if r["condition"] == study.FULL]
    assert {r["model"] for r in rows} == {SCRIPTED}
    assert all("no model: a script answered" in r["notes"] for r in rows)


def test_a_rehearsal_is_never_compared_with_a_model_in_silence() -> None:
    found = _rehearsed()
    tools = next(c for c in found.contrasts if c.kind == "tools")
    assert tools.exact is None
    assert tools.missing == "the control here ran over another corpus or tier, or with another agent"


@pytest.mark.parametrize("page", [markdown, _terminal, lambda v: json.dumps(view_json(v))], ids=["md", "tty", "json"])
def test_rehearsals_and_failed_audits_open_every_page(page: Any) -> None:
    found = view(
        [_with(condition(study.FULL), audit=UNSOUND), _with(control(), model_script=DIGEST, audit=SOUND)],
        {study.FULL: {"a": [attempt(1)]}, study.CONTROL: {"a": [attempt(1)]}},
    )
    said = " ".join(page(found).replace("\\", "").split())
    assert f"No model took part in {study.CONTROL}" in said
    assert f"The agent program failed its audit before {study.FULL}" in said
    assert "the tool Bash is offered" in said


def test_a_sound_sweep_by_a_model_has_no_banner() -> None:
    sound = _with(condition(study.FULL), audit=SOUND)
    assert banners(view([sound], {study.FULL: {"a": [attempt(1)]}})) == []


def test_the_oracles_banner_is_said_once() -> None:
    found = view([condition("full", host="oracle", model="none")], {"full": {"a": [attempt(1)]}})
    for page in (markdown(found), _terminal(found)):
        assert " ".join(page.split()).count("No model took part") == 1


def test_a_failed_audit_follows_its_numbers() -> None:
    cells = {"a": [attempt(1)], "b": [attempt(1)]}
    found = view(
        [_with(condition(study.FULL, repeat=1), audit=UNSOUND), _with(control(repeat=1), audit=SOUND)],
        {study.FULL: cells, study.CONTROL: cells},
    )
    tools = next(c for c in found.contrasts if c.kind == "tools")
    assert "the agent program failed its audit on the left" in tools.notes
    assert any("failed its audit" in sentence for name, sentence in cautions(found) if name == study.FULL)
    assert not any("audit" in sentence for name, sentence in cautions(found) if name == study.CONTROL)
    (card,) = [c for c in cards(found) if c.title == "Agent audit"]
    assert card.lines == (f"{study.FULL}: failed: the tool Bash is offered (digest 0123456789ab)",)
    rows = read_rows(summary_csv(found))
    assert {r["notes"] for r in rows if r["condition"] == study.FULL} == {"the agent program failed its audit"}
    page = markdown(found)
    assert "audit of the agent program `clean (digest 0123456789ab)`" in page
    assert "audit of the agent program `failed: the tool Bash is offered (digest 0123456789ab)`" in page


def test_a_figure_taken_out_of_its_report_keeps_the_caution() -> None:
    plain, failed = condition("full"), _with(condition("unsound"), audit=UNSOUND)
    found = view([plain, failed, _with(condition("rehearsed"), model_script=DIGEST, audit=UNSOUND)], {})
    assert [standing(row) for row in found.conditions] == [
        "full",
        "unsound [failed audit]",
        "rehearsed [no model, failed audit]",
    ]


def test_a_server_that_did_not_answer_is_in_the_panel_and_the_sources() -> None:
    found = view([_with(condition("full"), server_fault="exit status 1")], {"full": {"a": [attempt(1)]}})
    (card,) = [c for c in cards(found) if c.title == "Server"]
    assert card.lines == ("full: did not answer before the first episode: exit status 1",)
    assert "server fault `exit status 1`" in markdown(found)
    assert ("full", "the server did not answer before the first episode: exit status 1") in cautions(found)


def test_an_audit_that_says_nothing_is_no_audit() -> None:
    for audit in ({"findings": ["x"]}, "clean", {"clean": "yes"}):
        assert view([_with(condition("full"), audit=audit)], {}).conditions[0].about.audit is None


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> RunsRoot:
    return troubled.build(tmp_path_factory.mktemp("troubled") / "a troubled study")


def test_all_of_it_on_one_page(root: RunsRoot) -> None:
    reported = read_report(root.path)
    page = html_of(reported)
    assert page.count("No model took part") == 1
    assert page.count("The agent program failed its audit before") == 1
    assert "scripted (no model; script 5c5c5c5c5c5c)" in page
    assert 'id="apart-h"' in page
    assert len(apart_rows(reported.view)) == 2
    assert page.count('<span class="aside">apart</span>') == 3  # the key of signs and two cells
    assert "not checked" in page
    assert "did not answer before the first episode" in page
    kinds = {c.kind for c in reported.view.contrasts}
    assert kinds == {"tools", "hint", "ablation", "crossing"}
    assert all(c.holm_p is not None for c in reported.view.contrasts if c.exact)
    crossing = next(c for c in reported.view.contrasts if c.kind == "crossing")
    assert crossing.dropped[troubled.DRIFTED] == "not measured in all four cells"
    assert crossing.worst is not None
    assert crossing.best is not None
    assert crossing.exact is not None
    assert crossing.worst <= crossing.exact.value <= crossing.best


def test_building_it_twice_gives_the_same_page(root: RunsRoot, tmp_path: Any) -> None:
    again = troubled.build(tmp_path / "a troubled study")
    assert again.readme.read_bytes() == root.readme.read_bytes()
    assert again.html.read_bytes() == root.html.read_bytes()
