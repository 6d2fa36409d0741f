from okn_benchmark.report.words import (
    as_json,
    number,
    one_line,
    p_value,
    signed,
    span,
    tally,
    visible,
    whole,
)
from okn_benchmark.stats.intervals import Interval


def test_unknown_is_a_dash_and_zero_is_not() -> None:
    assert number(None) == signed(None) == whole(None) == span(None) == p_value(None) == "–"
    assert number(0.0) == "0.00"
    assert number(float("nan")) == "–"


def test_signs_are_true_minus_signs_and_zero_has_none() -> None:
    assert number(-0.25) == "−0.25"
    assert number(-0.001) == "0.00"
    assert signed(0.25) == "+0.25"
    assert signed(0.001) == "0.00"
    assert span(Interval(low=-0.1, high=0.1, method="")) == "[−0.10, 0.10]"


def test_a_p_is_never_a_bare_zero() -> None:
    assert p_value(0.03125) == "0.031"
    assert p_value(1.49777e-17) == "1.5e-17"
    assert p_value(0.0) == "< 1e-300"


def test_hidden_characters_are_spelled_out() -> None:
    assert visible("a\x1b[31mb\u202ec\u200bd\x00\x7f\x9b") == "a⟨U+001B⟩[31mb⟨U+202E⟩c⟨U+200B⟩d⟨U+0000⟩⟨U+007F⟩⟨U+009B⟩"
    assert visible("Doña Ana\tשלום 日本") == "Doña Ana\tשלום 日本"
    assert visible("\ud800") == "⟨U+D800⟩"


def test_long_text_is_cut_and_the_rest_counted() -> None:
    cut = one_line("x" * 1_000_000, 50)
    assert len(cut) < 90
    assert "999,950" in cut
    assert one_line("a\nb\r\n  c") == "a b⟨U+000D⟩ c"


def test_tally_puts_the_most_frequent_first() -> None:
    assert tally({"b": 1, "a": 3, "c": 0}) == "a 3, b 1"
    assert tally({}) == "–"


def test_shapes_become_plain_json() -> None:
    assert as_json({"i": Interval(low=0.0, high=float("inf"), method="m"), "t": (1, None)}) == {
        "i": {"low": 0.0, "high": None, "method": "m"},
        "t": [1, None],
    }
