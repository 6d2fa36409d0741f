import random

import numpy as np
import pytest
from scipy import stats as reference

from okn_benchmark.stats.bootstrap import bca_mean
from okn_benchmark.stats.passk import pass_at_k, pass_hat_k
from okn_benchmark.stats.power import design_power, detectable, mcnemar_size


def test_planning_sizes() -> None:
    assert mcnemar_size(0.18, 0.12) == 96
    assert mcnemar_size(0.18, 0.08) == 219
    with pytest.raises(ValueError, match="discordant"):
        mcnemar_size(0.1, 0.2)


def test_planning_sizes_give_the_power_they_promise() -> None:
    rng = np.random.default_rng(2)
    draws = rng.multinomial(96, [0.15, 0.03, 0.82], size=4_000)
    p = [reference.binomtest(int(min(b, c)), int(b + c)).pvalue if b + c else 1 for b, c, _ in draws]
    assert 0.72 < np.mean(np.array(p) < 0.05) < 0.88


def test_unbiased_pass_at_k_and_hat_k() -> None:
    assert [pass_at_k(3, 1, 1), pass_hat_k(3, 1, 1)] == pytest.approx([1 / 3, 1 / 3])
    assert pass_at_k(3, 1, 2) == pytest.approx(2 / 3)
    assert pass_hat_k(3, 2, 2) == pytest.approx(1 / 3)
    assert pass_hat_k(3, 2, 3) == 0.0
    assert pass_at_k(2, 1, 3) is pass_hat_k(2, 1, 3) is None
    with pytest.raises(ValueError, match="right of"):
        pass_at_k(2, 3, 1)


def test_pass_hat_k_is_unbiased_where_the_rate_to_the_k_is_not() -> None:
    rng = random.Random(5)
    rate, right, power = 0.6, 0.0, 0.0
    for _ in range(20_000):
        c = sum(rng.random() < rate for _ in range(3))
        value = pass_hat_k(3, c, 2)
        assert value is not None
        right, power = right + value, power + (c / 3) ** 2
    assert right / 20_000 == pytest.approx(rate**2, abs=0.01)
    assert power / 20_000 > rate**2 + 0.05


def test_bca_is_scipys() -> None:
    values = [0.0, 1 / 3, 2 / 3, 1, 1, 1, 2 / 3, 0, 1 / 3, 1, 1, 2 / 3]
    want = reference.bootstrap(
        (values,), np.mean, n_resamples=9_999, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    found = bca_mean(values)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((want.low, want.high), abs=0.03)
    assert found == bca_mean(values)
    assert bca_mean([1.0] * 12) is None
    assert bca_mean([0.0, 1.0, 0.5, 0.5]) is None
    assert bca_mean(values[::-1]) == found


def test_the_smallest_difference_shrinks_with_more_questions() -> None:
    few, many = detectable((0.67,) * 12, 3), detectable((0.67,) * 48, 3)
    assert few.difference is not None
    assert many.difference is not None
    assert many.difference < few.difference
    assert few == detectable((0.67,) * 12, 3)


def test_five_questions_asked_once_can_find_nothing() -> None:
    assert detectable((1.0,) * 5, 1).difference is None
    assert detectable((1.0,), 9).power_at_most == 0.0


def test_simulated_power_at_the_designs_of_the_design_page() -> None:
    """A drop of 17 points, half the questions losing twice as much: about a fifth at 12 × 3, four fifths at 36 × 3."""
    small, large = (design_power(n, 3, 0.17, difficulty=(0.6, 0.3), studies=500) for n in (12, 36))
    assert small.power == pytest.approx(0.19, abs=0.06)
    assert large.power == pytest.approx(0.81, abs=0.06)
    assert large.episodes == 216


def test_planning_from_observed_rates() -> None:
    plans = [design_power(24, r, 0.15, difficulty=[0.3, 0.6, 0.9], observed=True, studies=300) for r in (1, 3, 9)]
    assert plans[0].power < plans[1].power < plans[2].power
    with pytest.raises(ValueError, match="room"):
        design_power(12, 3, 0.6, difficulty=[0.9, 1.0], observed=True, studies=50)
