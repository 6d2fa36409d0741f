"""What a success costs: the ratio, its ends, and how often its interval holds."""

import random
from statistics import fmean

import pytest

from okn_benchmark.stats.per_success import per_success


def test_the_ratio_of_the_means_not_the_mean_of_the_ratios() -> None:
    found = per_success([(100, 1.0), (300, 0.5), (200, 0.0)])
    assert found is not None
    assert found.value == pytest.approx(200 / 0.5)
    assert found.questions == 3


def test_nothing_right_is_no_number() -> None:
    found = per_success([(100, 0.0), (300, 0.0), (200, 0.0)])
    assert found is not None
    assert (found.value, found.low, found.high) == (None, None, None)


def test_a_success_on_one_question_alone_has_no_upper_end() -> None:
    found = per_success([(100, 1.0), (100, 0.0), (100, 0.0), (100, 0.0)])
    assert found is not None
    assert found.value == pytest.approx(400)
    assert found.low is not None
    assert found.high is None


def test_few_questions_have_no_interval_and_none_have_nothing() -> None:
    assert per_success([]) is None
    found = per_success([(100, 1.0), (200, 1.0)])
    assert found is not None
    assert (found.value, found.low, found.high, found.method) == (150.0, None, None, "too few questions")


def test_the_same_questions_give_the_same_interval() -> None:
    pairs = [(float(n), n % 3 / 2) for n in range(1, 13)]
    assert per_success(pairs) == per_success(pairs)


def test_the_interval_holds_about_as_often_as_it_says() -> None:
    source = random.Random(5)
    truth, hits, studies = 1000 / 0.6, 0, 200
    for _ in range(studies):
        pairs = [(source.gauss(1000, 200), fmean(source.random() < 0.6 for _ in range(3))) for _ in range(24)]
        found = per_success(pairs, resamples=400)
        assert found is not None
        assert found.low is not None
        hits += found.low <= truth <= (found.high or float("inf"))
    assert 0.88 <= hits / studies <= 0.995
