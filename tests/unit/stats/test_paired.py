import random
from itertools import product
from statistics import fmean

import numpy as np
import pytest
from scipy import stats as reference
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from okn_benchmark.stats.family import benjamini_hochberg, holm, max_t
from okn_benchmark.stats.paired import (
    equivalence,
    mcnemar,
    paired_t,
    sign_flip,
    sign_flip_limit,
    sign_flip_whole,
    smallest_significant,
    stratified,
)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (135, 29, 1.49777e-17),
        (16, 5, 0.0266037),
        (18, 10, 0.184933),
        (29, 5, 3.85582e-05),
        (350, 0, 8.7203e-106),
        (0, 5, 0.0625),
        (5, 5, 1),
        (0, 0, 1),
    ],
)
def test_exact_mcnemar_vectors(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c).p == pytest.approx(p, rel=2e-6)
    assert mcnemar(c, b).p == mcnemar(b, c).p
    if b + c:
        assert mcnemar(b, c).p == pytest.approx(their_mcnemar([[0, b], [c, 0]], exact=True).pvalue, rel=1e-9)


@pytest.mark.parametrize(("b", "c"), [(5, 0), (16, 5), (3, 3), (1, 0), (40, 22)])
def test_mid_p_takes_half_the_observed_point_from_either_tail(b: int, c: int) -> None:
    point = reference.binom.pmf(min(b, c), b + c, 0.5)
    assert mcnemar(b, c, mid_p=True).p == pytest.approx(mcnemar(b, c).p - point)


def test_six_discordant_questions_or_five_by_mid_p() -> None:
    assert smallest_significant() == 6
    assert mcnemar(6, 0).p == pytest.approx(0.03125)
    assert smallest_significant(mid_p=True) == 5
    assert mcnemar(5, 0, mid_p=True).p == pytest.approx(0.03125)


def test_holm_leaves_two_of_six_unconvinced() -> None:
    pairs = [(135, 29), (16, 5), (18, 10), (158, 31), (29, 5), (133, 29)]
    adjusted = holm([mcnemar(b, c).p for b, c in pairs])
    assert [p < 0.05 for p in adjusted] == [True, False, False, True, True, True]


def test_families_are_statsmodels() -> None:
    values = [0.001, 0.04, 0.03, 0.2, 0.005, 0.04]
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1])
    assert benjamini_hochberg(values) == pytest.approx(multipletests(values, method="fdr_bh")[1])
    assert holm([]) == benjamini_hochberg([]) == []


def test_sign_flips_are_enumerated_up_to_twelve() -> None:
    values = [1 / 3, -1 / 3, 2 / 3, 1, 0, 1 / 3]
    want = np.mean([abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= sum(values) - 1e-9
                    for signs in product((1, -1), repeat=len(values))])  # fmt: skip
    found = sign_flip(values)
    assert found.p == pytest.approx(want)
    assert (found.better, found.worse, found.same, found.draws) == (4, 1, 1, None)
    assert sign_flip_whole([round(3 * v) for v in values]) == pytest.approx(want)


def test_beyond_twelve_they_are_drawn_with_a_seed_that_is_told() -> None:
    rng = random.Random(3)
    values = [rng.choice([-1, 0, 1, 1, 2]) / 3 for _ in range(40)]
    found = sign_flip(values)
    assert found.draws == 9_999
    assert found.seed is not None
    assert found == sign_flip(values)
    assert found.p == pytest.approx(sign_flip_whole([round(3 * v) for v in values]), abs=0.015)
    want = reference.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(5)
    ).pvalue
    assert found.p == pytest.approx(want, abs=0.02)


def test_whole_numbered_flips_agree_with_enumeration_whatever_the_signs() -> None:
    rng = random.Random(8)
    for _ in range(60):
        values = [rng.randint(-4, 4) for _ in range(rng.randint(0, 10))]
        assert sign_flip_whole(values) == pytest.approx(sign_flip(values).p)


def test_with_many_differences_the_exact_p_is_near_its_limit() -> None:
    rng = random.Random(6)
    for drift in (0.0, 0.2, 0.5, 0.7):
        values = [rng.choice([-2, -1, 0, 1, 2]) + (rng.random() < drift) for _ in range(80)]
        exact = sign_flip_whole(values)
        assert sign_flip_limit(values) == pytest.approx(exact, abs=0.06 if exact > 0.1 else 0.015)
    assert sign_flip_limit([0, 0]) == 1.0


def test_no_difference_anywhere_is_p_one() -> None:
    assert sign_flip([0.0, 0.0]).p == sign_flip([]).p == 1.0
    assert paired_t([0.1]) is None
    assert paired_t([0.1, 0.1]) is None


def test_paired_t_is_scipys() -> None:
    a, b = [0.3, 0.6, 1.0, 0.0, 0.6], [0.0, 0.6, 0.3, 0.3, 0.3]
    assert paired_t([x - y for x, y in zip(a, b, strict=True)]) == pytest.approx(reference.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize("margin", [0.05, 0.2, 0.6])
def test_equivalence_is_statsmodels(margin: float) -> None:
    a, b = np.array([0.3, 0.6, 1.0, 0.0, 0.6, 0.4]), np.array([0.3, 0.6, 0.8, 0.1, 0.5, 0.5])
    want = ttost_paired(a, b, -margin, margin)[0]
    assert equivalence(list(a - b), margin) == pytest.approx(want, rel=1e-6)


def test_stratified_is_statsmodels() -> None:
    rng = random.Random(4)
    arms = [([rng.random() < 0.7 for _ in range(3)], [rng.random() < 0.4 for _ in range(2)]) for _ in range(15)]
    tables = [np.array([[sum(a), len(a) - sum(a)], [sum(b), len(b) - sum(b)]]) for a, b in arms]
    found = stratified(arms)
    assert found is not None
    assert found.p == pytest.approx(StratifiedTable(tables).test_null_odds(correction=False).pvalue, rel=1e-9)
    assert found.better + found.worse + found.same == 15
    assert stratified([([True], [True])]) is None


def test_shared_signs_never_cost_more_than_they_have_to() -> None:
    rng = random.Random(9)
    first = [rng.choice([0, 1, 1, 2]) / 3 for _ in range(20)]
    alike = [d + rng.choice([-1, 0, 1]) / 9 for d in first]
    noise = [rng.choice([-1, 1]) / 3 for _ in range(20)]
    adjusted = max_t([first, alike, noise], draws=1_999)
    plain = holm([sign_flip(c).p for c in (first, alike, noise)])
    assert adjusted[0] <= plain[0] + 0.01
    assert adjusted[2] > 0.05
    with pytest.raises(ValueError, match="different questions"):
        max_t([[1.0], [1.0, 2.0]])


def test_type_one_error_where_single_questions_differ() -> None:
    """Mean zero, single questions apart: 12 × 3, 800 studies. Pooling attempts rejects far more often."""
    rng = random.Random(21)
    rejected = {"sign-flip": 0, "t": 0, "pooled": 0}
    for _ in range(800):
        rates = [rng.betavariate(2, 2) for _ in range(12)]
        moves = [rng.choice([-1, 1]) * 0.45 for _ in rates]
        left = [[rng.random() < min(1, max(0, r + m / 2)) for _ in range(3)] for r, m in zip(rates, moves, strict=True)]
        right = [
            [rng.random() < min(1, max(0, r - m / 2)) for _ in range(3)] for r, m in zip(rates, moves, strict=True)
        ]
        gaps = [fmean(a) - fmean(b) for a, b in zip(left, right, strict=True)]
        rejected["sign-flip"] += sign_flip(gaps).p < 0.05
        t = paired_t(gaps)
        rejected["t"] += t is not None and t < 0.05
        pairs = [(x, y) for a, b in zip(left, right, strict=True) for x, y in zip(a, b, strict=True)]
        up, down = sum(x and not y for x, y in pairs), sum(y and not x for x, y in pairs)
        rejected["pooled"] += mcnemar(up, down, mid_p=True).p < 0.05
    assert rejected["sign-flip"] / 800 <= 0.05
    assert rejected["t"] / 800 <= 0.07
    assert rejected["pooled"] / 800 >= 0.08
