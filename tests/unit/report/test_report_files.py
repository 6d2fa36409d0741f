from pathlib import Path

import pytest

from okn_benchmark.files import replace_whole
from okn_benchmark.report import figures
from okn_benchmark.report.frame import attempts, frame_of
from okn_benchmark.report.plots import forest_bar, forest_reach, forest_ticks, strips
from tests.unit.report import study
from tests.unit.report.study import attempt, blocked, condition, view


def test_figures_are_drawn_in_both_formats_and_twice_alike(tmp_path: Path) -> None:
    written = figures.write(study.study(4), tmp_path, replace_whole)
    names = {path.name for path in written}
    assert {"exact.svg", "exact.png", "differences.svg", "wall_s.png", "tokens_out.svg"} <= names
    assert (tmp_path / "exact.png").read_bytes().startswith(b"\x89PNG")
    again = dict(figures.draw(study.study(4)))
    assert {path.name: path.read_bytes() for path in written} == again
    assert b"toy-server" in again["exact.svg"] or b"<use" in again["exact.svg"]


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    found = view([condition("full")], {"full": {"a": [blocked(1)]}})
    assert figures.write(found, tmp_path, replace_whole) == []


def test_a_dollar_in_a_name_is_no_formula() -> None:
    name = "full__cost$x_y$"
    assert dict(figures.draw(view([condition(name)], {name: {"a": [attempt(1)]}})))


def test_attempts_as_a_typed_table() -> None:
    frame = frame_of(view([condition("full")], {"full": {"a": [blocked(1), attempt(2), attempt(3, exact=False)]}}))
    assert list(frame.blocked) == [True, False, False]
    assert frame.exact.isna().tolist() == [True, False, False]
    assert frame.exact.mean() == 0.5
    assert str(frame.wall_s.dtype) == "Float64"
    assert frame.f1[2] == 0.5


def test_a_root_as_a_table_needs_a_root(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not a runs root"):
        attempts(tmp_path)


def test_marks_stand_where_the_numbers_are() -> None:
    found = study.study()
    reach = forest_reach(found.contrasts)
    for contrast in found.contrasts:
        bar = forest_bar(contrast, reach)
        assert bar is not None
        assert contrast.exact is not None
        assert bar.x == pytest.approx(50 + 50 * contrast.exact.value / reach, abs=0.01)
        assert bar.low is not None
        assert 0 <= bar.low <= bar.x <= (bar.high or 0) <= 100
    assert [t.x for t in forest_ticks(reach)][len(forest_ticks(reach)) // 2] == 50
    for plot in strips(found):
        xs = [x for strip in plot.strips for x in strip.points]
        assert all(0 <= x <= 100 for x in xs)
        assert 2 <= len(plot.ticks) <= 8
