import math

import pytest
from scipy import stats as reference

from okn_benchmark.stats.quantiles import chi_square_1_tail, normal_two_sided, t_quantile, t_two_sided


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 11, 30, 99, 400])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 2.2, 5.0, 12.0])
def test_student_tail_is_scipys(df: int, t: float) -> None:
    assert t_two_sided(t, df) == pytest.approx(2 * reference.t.sf(t, df), rel=1e-7, abs=1e-12)
    assert t_two_sided(-t, df) == t_two_sided(t, df)


@pytest.mark.parametrize("df", [1, 2, 3, 5, 11, 35, 200])
@pytest.mark.parametrize("probability", [0.025, 0.1, 0.5, 0.8, 0.975, 0.995])
def test_student_quantile_is_scipys(df: int, probability: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(reference.t.ppf(probability, df), rel=1e-9, abs=1e-9)


def test_normal_and_chi_square_tails() -> None:
    for z in (0.0, 0.5, 1.96, 6.0, 20.0):
        assert normal_two_sided(z) == pytest.approx(2 * reference.norm.sf(z), rel=1e-12)
        assert chi_square_1_tail(z) == pytest.approx(reference.chi2.sf(z, 1), rel=1e-12)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="degrees"):
        t_two_sided(1.0, 0)
    with pytest.raises(ValueError, match="inside"):
        t_quantile(1.0, 5)
    assert t_two_sided(math.inf, 5) == 0.0
