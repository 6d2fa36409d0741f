import io

import pytest

from okn_benchmark.report.terminal import show
from okn_benchmark.report.view import build_view
from tests.unit.report import study
from tests.unit.report.study import attempt, blocked, condition, view


def _shown(found, width: int = 200) -> str:
    out = io.StringIO()
    show(found, out, plain=True, width=width)
    return out.getvalue()


def test_exclusions_are_named_on_the_terminal() -> None:
    out = [{"id": "oard_t1", "reason": "excluded by --exclude oard_*"}]
    shown = _shown(view([condition("full", excluded_meta=out)], {"full": {"a": [attempt(1)]}}))
    assert "Left out of this root: oard_t1 (excluded by --exclude oard_*)" in shown


def test_the_row_shows_two_of_two_and_the_blocked_one() -> None:
    shown = _shown(view([condition("full")], {"full": {"a": [blocked(1), attempt(2), attempt(3)]}}))
    assert "2/2, 1 of 3 blocked" in shown


def test_measured_nothing_is_said_and_no_zero_shown() -> None:
    shown = _shown(view([condition("full")], {"full": {"a": [blocked(1)]}}))
    assert "measured nothing" in shown
    assert "0.00" not in shown


@pytest.mark.parametrize("width", [60, 100, 160])
def test_it_fits_the_width_it_is_given(width: int) -> None:
    shown = _shown(study.study(), width)
    assert max(len(line) for line in shown.splitlines()) <= width
    if width >= 100:
        for column in ("ordered", "USD", "measured", "retry"):
            assert column in shown
        assert shown.count("0.125") == 5


def test_hostile_words_move_no_cursor_and_style_nothing() -> None:
    cells = {"full": {"a": [blocked(1, "\x1b[2J[bold red]x[/] \u202ey"), attempt(2)]}}
    shown = _shown(view([condition("full")], cells))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold red]x[/]" in shown


def test_an_empty_root_prints_a_sentence() -> None:
    assert "0 attempts at 0 questions under 0 conditions" in _shown(build_view("nothing", [], {}))
