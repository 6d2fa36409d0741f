from statistics import fmean

import pytest

from okn_benchmark.report.contrasts import contrast_notes
from okn_benchmark.report.document import view_json
from okn_benchmark.report.view import ReportView, build_view
from okn_benchmark.stats.intervals import wilson_count
from tests.unit.report import study
from tests.unit.report.study import attempt, blocked, condition, control, view


def _contrast(found: ReportView, kind: str):
    return next(c for c in found.contrasts if c.kind == kind)


def test_questions_weigh_the_same_and_blocked_attempts_not_at_all() -> None:
    cells = {
        "full": {"a": [blocked(1), attempt(2), attempt(3)], "b": [attempt(n, exact=False, f1=0.2) for n in (1, 2, 3)]}
    }
    (row,) = view([condition("full")], cells).conditions
    assert row.exact is not None
    assert (row.exact.value, row.exact.hits, row.exact.attempts, row.exact.questions) == (0.5, 2, 5, 2)
    assert row.f1.value == pytest.approx(0.6)
    assert (row.measured, row.recorded, row.planned) == (5, 6, 6)
    assert row.blocked == {"startup": 1}
    assert (row.worst, row.best) == (pytest.approx(1 / 3), 0.5)


def test_a_condition_blocked_throughout_has_no_rate() -> None:
    (row,) = view([condition("full")], {"full": {"a": [blocked(1), blocked(2), blocked(3)]}}).conditions
    assert row.exact is None
    assert row.f1.value is None
    assert row.always.of == row.measured_questions == 0
    assert row.measures["wall_s"].value is None


def test_always_ever_and_flaky_count_questions() -> None:
    mixed = [attempt(1), attempt(2, exact=False), attempt(3)]
    cells = {"full": {"a": [attempt(n) for n in (1, 2, 3)], "b": mixed, "c": [attempt(1, exact=False)]}}
    (row,) = view([condition("full")], cells).conditions
    assert [(c.hits, c.of) for c in (row.always, row.ever, row.flaky)] == [(1, 3), (2, 3), (1, 2)]
    assert row.always.interval == wilson_count(1, 3)


def test_an_attempt_that_handed_nothing_in_is_wrong_and_not_unknown() -> None:
    cells = {"full": {"a": [attempt(1, outcome="timeout", verdict=None)]}}
    (row,) = view([condition("full")], cells).conditions
    assert row.exact is not None
    assert row.exact.value == 0.0
    assert row.outcomes == {"timeout": 1}


def test_unknown_counts_stay_unknown() -> None:
    bare = attempt(1, tools_called=None, queries_ok=None, host_clipped=None, tokens=None, cost_usd=None, server_s=None)
    (row,) = view([condition("full")], {"full": {"a": [bare]}}).conditions
    for name in ("calls", "soft_errors", "queries_ok", "host_clipped", "tokens_in", "cost_usd", "server_s", "agent_s"):
        assert row.measures[name].value is None, name


def test_every_contrast_of_a_four_cell_study() -> None:
    found = study.study()
    kinds = [c.kind for c in found.contrasts]
    assert kinds == ["tools", "hint", "hint", "ablation", "ablation", "crossing"]
    tools = _contrast(found, "tools")
    assert (tools.left, tools.right) == (study.FULL, study.CONTROL)
    assert tools.exact is not None
    by_name = {row.about.name: row for row in found.conditions}
    full, bare = by_name[study.FULL].exact, by_name[study.CONTROL].exact
    assert full is not None
    assert bare is not None
    assert tools.exact.value == pytest.approx(full.value - bare.value)
    assert tools.exact.test.better + tools.exact.test.worse + tools.exact.test.same == tools.questions == 12


def test_questions_blocked_on_a_side_are_dropped_and_named() -> None:
    hint = _contrast(study.study(), "hint")
    assert hint.questions == 11
    assert hint.dropped == {"graph-01_t1": "blocked throughout on the right"}
    assert hint.worst is not None
    assert hint.best is not None
    assert hint.exact is not None
    assert hint.worst < hint.exact.value


def test_the_crossing_is_a_difference_of_paired_differences() -> None:
    found = study.study()
    crossing = _contrast(found, "crossing")
    assert crossing.exact is not None
    rows = {(r.condition, r.record): fmean(r.exact) for q in found.questions for r in q.rows if r.exact}
    record = "graph-05_t1"
    want = (rows[study.FULL, record] - rows[study.ABLATED, record]) - (
        rows[study.UNNAMED, record] - rows[study.ABLATED_UNNAMED, record]
    )
    assert crossing.exact.differences[record] == pytest.approx(want)


def test_a_side_that_was_never_run_is_a_dash_and_not_zero() -> None:
    hint = _contrast(view([condition("full")], {"full": {"a": [attempt(1)]}}), "hint")
    assert hint.exact is None
    assert hint.missing == "there is no condition for its right side"


def test_nothing_is_subtracted_across_tiers_or_corpora() -> None:
    for other in ({"tier": "t2"}, {"corpus": {"source": "elsewhere", "commit": "0123abcd"}}, {"model": "haiku"}):
        bare = control(**other)
        if "model" in other:
            bare = control(**other)
            bare.meta["model_resolved"] = "claude-haiku-4-5"
        cells = {"full": {"a": [attempt(1)]}, bare.name: {"a": [attempt(1)]}}
        tools = _contrast(view([condition("full"), bare], cells), "tools")
        assert tools.exact is None
        assert tools.right is None
        assert tools.missing == "the control here ran over another corpus or tier, or with another agent"


def test_one_corpus_in_two_folders_is_one_corpus() -> None:
    bare = control(corpus={"source": "./toy-corpus", "commit": "0123abcd"})
    cells = {"full": {"a": [attempt(1)]}, bare.name: {"a": [attempt(1)]}}
    assert _contrast(view([condition("full"), bare], cells), "tools").exact is not None


def test_another_commit_of_the_corpus_is_said_and_not_refused() -> None:
    bare = control(corpus={"source": "toy-corpus", "commit": "ffff"})
    cells = {"full": {"a": [attempt(1)]}, bare.name: {"a": [attempt(1)]}}
    tools = _contrast(view([condition("full"), bare], cells), "tools")
    assert tools.exact is not None
    assert "the corpus stood at another commit for either side; the keys are the same" in tools.notes


def test_no_spread_has_no_interval() -> None:
    cells = {name: {f"q{n}": [attempt(1)] for n in range(5)} for name in ("full", study.CONTROL)}
    found = view([condition("full"), control()], cells)
    tools = _contrast(found, "tools")
    assert tools.exact is not None
    assert (tools.exact.value, tools.exact.interval, tools.exact.test.p) == (0.0, None, 1.0)
    assert found.conditions[0].f1_interval == wilson_count(5, 5)


def test_a_comparison_of_very_unequal_blocked_shares_is_withheld() -> None:
    many = {f"q{n}": [blocked(1), blocked(2), attempt(3)] for n in range(4)}
    cells = {"full": many, study.CONTROL: {f"q{n}": [attempt(k) for k in (1, 2, 3)] for n in range(4)}}
    tools = _contrast(view([condition("full"), control()], cells), "tools")
    assert tools.exact is None
    assert tools.withheld is not None
    assert "8 of 12 against 0 of 12" in tools.withheld


def test_one_attempt_per_question_gets_mcnemar_and_the_sentence_about_five() -> None:
    cells = {
        "full": {f"q{n}": [attempt(1)] for n in range(9)},
        study.CONTROL: {f"q{n}": [attempt(1, exact=n > 2)] for n in range(9)},
    }
    tools = _contrast(view([condition("full", repeat=1), control(repeat=1)], cells), "tools")
    assert tools.once is not None
    assert (tools.once[0].better, tools.once[0].worse) == (3, 0)
    assert tools.could_not is not None
    assert "could not have been significant: 3 of its questions differ" in tools.could_not
    assert "at least 5" in tools.could_not
    assert tools.corpus_only is None


def test_two_ablations_form_a_family() -> None:
    cells = study.cells()
    cells["other"] = cells[study.ABLATED]
    found = view([*study.conditions(), condition("other", withheld=["schema"])], cells)
    ablations = [c for c in found.contrasts if c.kind == "ablation"]
    assert {c.family for c in ablations} == {3}
    for c in ablations:
        assert c.exact is not None
        assert c.holm_p is not None
        assert c.holm_p >= c.exact.test.p


def test_a_control_without_a_server_serves_two_servers() -> None:
    cells = study.cells()
    cells["b-all-tools__kg-named"] = cells[study.FULL]
    found = view([*study.conditions(), condition("b-all-tools__kg-named", server="b")], cells)
    tools = [c for c in found.contrasts if c.kind == "tools"]
    assert {c.right for c in tools} == {study.CONTROL}
    assert len(tools) == 2
    assert {c.family for c in tools} == {2}


def test_excluded_records_are_named_once() -> None:
    out = [{"id": "oard_t1", "reason": "excluded by --exclude oard_*"}]
    found = view([condition("a", excluded_meta=out), condition("b", kg_hint="none", excluded_meta=out)], {})
    assert [(e.id, e.reason) for e in found.excluded] == [("oard_t1", "excluded by --exclude oard_*")]


def test_the_oracle_is_called_what_it_is() -> None:
    (row,) = view([condition("full", host="oracle")], {"full": {"a": [attempt(1)]}}).conditions
    assert row.about.model == "oracle (no model; runs the answer key)"
    assert row.about.effort_shown == "–"


def test_the_alias_stands_beside_the_exact_id() -> None:
    exact = condition("b", model="claude-opus-5", effort="high")
    first, second = view([condition("a"), exact], {}).conditions
    assert first.about.model == "claude-opus-5 (asked for as opus)"
    assert first.about.effort_shown == "default"
    assert second.about.model == "claude-opus-5"
    assert second.about.effort_shown == "high"


def test_json_holds_every_number_and_its_seed() -> None:
    found = view_json(study.study())
    assert found["schema"] == "report/1"
    assert found["statistics"]["seed"]
    assert found["contrasts"][0]["exact"]["test"]["better"] == 8
    assert len(found["questions"]) == 12


def test_an_empty_root_is_a_report_too() -> None:
    found = build_view("nothing", [], {})
    assert found.attempts == 0
    assert found.contrasts == ()


def test_what_else_differs_between_two_sides_is_named_with_both_values() -> None:
    left, right = condition("full", call_timeout_s=120.0), condition("bare", call_timeout_s=60.0)
    cells = {record.name: {"a": [attempt(1)]} for record in (left, right)}
    one, two = view([left, right], cells).conditions
    said = {one.about.name: "120.0", two.about.name: "60.0"}
    expected = f"call_timeout_s ({said[one.about.name]} against {said[two.about.name]})"
    assert [note for note in contrast_notes(one, two) if expected in note]
