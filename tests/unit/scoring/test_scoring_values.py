"""Numbers, moments and IRIs: keys that are equal exactly when the values are."""

from datetime import datetime, timedelta, timezone

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.scoring.iri import IriRule, folded, local_name
from okn_benchmark.scoring.moment import date_key, moment_key
from okn_benchmark.scoring.number import NumberRule, canonical, named_number, plain_number, rounded
from okn_benchmark.scoring.settings import Settings

SAME = {
    "5": ["5.0", "05", "+5", "5e0", "5.", "0.5e1", "50E-1", "000005.000"],
    "0": ["0.0", "-0", "0e9999", ".0", "0."],
    "-12e-1": ["-1.2", "-0.12e1", "-12e-01"],
}


@pytest.mark.parametrize("first", SAME)
def test_spellings_of_one_number(first: str) -> None:
    assert {canonical(other) for other in SAME[first]} == {canonical(first)}


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "e5", "1_000", "1,234", "12.5%", " 5", "5 ", "٥", "5e00000", "0x1", "1e", "--1", "NaN", "5\n"],
)
def test_what_is_no_number(text: str) -> None:
    assert canonical(text) is None


@pytest.mark.parametrize("text", ["06001", "+5", "5E02", "5.", ".5", "1e3", "--5", "", "5 "])
def test_strings_that_only_look_like_numbers(text: str) -> None:
    assert plain_number(text) is None


def test_numbers_by_name() -> None:
    assert [named_number(text) for text in ("nan", "INF", "+Inf", "-inf", "Infinity", "NA")] == [
        "NaN", "INF", "INF", "-INF", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "digits", "wanted"),
    [("123456e0", 3, "123e3"), ("1235e0", 3, "124e1"), ("1225e0", 3, "122e1"), ("12250001e0", 3, "123e5"),
     ("-9996e-2", 3, "-1e2"), ("999999e-6", 2, "1e0"), ("5e-1", 1, "5e-1"), ("0", 1, "0"), ("15e0", 1, "2e1"),
     ("25e0", 1, "2e1")],
)  # fmt: skip
def test_rounding_works_on_the_digits(number: str, digits: int, wanted: str) -> None:
    assert rounded(number, digits) == wanted


def test_a_number_of_a_million_digits_is_read_at_once() -> None:
    long = "1" * 1_000_000
    assert canonical(long) == f"{long}e0"
    assert rounded(f"{long}e0", 6) == "111111e999994"
    rule = NumberRule("v", lambda: [("15e-1", True)], Settings())
    rule.prepare([("15e-1", True)])
    assert list(rule.keys(long)) == ["r111111e999994"]


def test_settings_outside_their_range_are_refused() -> None:
    for wrong in (
        {"significant_digits": 0},
        {"significant_digits": 18},
        {"numeric_rel_tol": -0.1},
        {"numeric_rel_tol": 0.5},
    ):
        with pytest.raises(InputError) as caught:
            Settings(**wrong)  # type: ignore[arg-type]
        assert caught.value.hint
    with pytest.raises(InputError):
        Settings(numeric_rel_tol=float("nan"))


@pytest.mark.parametrize("hours", [-14, -5, 0, 1, 14])
@pytest.mark.parametrize("text", ["0001-01-02T00:00:00", "1999-12-31T23:59:59", "2000-02-29T12:00:00"])
def test_moments_agree_with_the_calendar(text: str, hours: int) -> None:
    utc = datetime.fromisoformat(text + "+00:00")
    other = utc.astimezone(timezone(timedelta(hours=hours)))
    assert moment_key(other.isoformat()) == moment_key(utc.isoformat())
    assert moment_key(text) != moment_key(utc.isoformat())
    later = (utc + timedelta(seconds=1)).isoformat()
    assert moment_key(later) != moment_key(utc.isoformat())


@pytest.mark.parametrize(
    "text",
    ["2020-13-01T00:00:00", "2021-02-29T00:00:00", "2020-01-01T24:00:01", "2020-01-01T00:60:00", "20-01-01T00:00:00",
     "2020-01-01T00:00:00+15:00", "2020-01-01t00:00:00", "2020-01-01", "2020-01-01T00:00",
     "0000000002020-01-01T00:00:00"],
)  # fmt: skip
def test_what_is_no_moment(text: str) -> None:
    assert moment_key(text) is None


def test_a_leap_day_before_the_common_era_and_a_year_of_nine_digits() -> None:
    assert date_key("-0004-02-29") is not None
    assert date_key("123456789-01-01") is not None
    assert date_key("2020-01-01") != date_key("2020-01-01Z") != date_key("2020-01-01+01:00")


def test_iris_by_parts() -> None:
    assert folded("<https://x.example/a>") == "http://x.example/a"
    assert [local_name(text) for text in ("http://x/a#b", "http://x/a/", "urn:a:b", "x")] == ["b", "", "urn:a:b", "x"]


def test_a_guard_names_both_iris_and_the_form_they_share() -> None:
    guard = IriRule("c", ["http://a.example/MONDO_1", "http://a.example/mondo/1"]).guard
    assert guard is not None
    assert guard.to_json()["guard"] == "short_forms"
    assert "a.example/MONDO_1" in guard.reason
    assert "MONDO:1" in guard.reason


def test_a_local_name_of_many_underscores_costs_no_more_than_its_length() -> None:
    rule = IriRule("c", ["http://a.example/" + "_" * 200_000, "http://a.example/x" + "_1" * 100_000])
    assert rule.guard is None
    assert list(rule.keys("x:" + "1_" * 99_999 + "1"))[-1].startswith("uhttp")
