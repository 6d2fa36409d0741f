import subprocess
import sys

import pytest

from okn_benchmark.stats.intervals import mean_interval
from okn_benchmark.stats.reference import bca_paired, fisher, pooled_odds, versions


def test_bca_of_scipy_is_near_the_t_interval_and_repeats_itself() -> None:
    left, right = [0.3, 0.6, 1.0, 0.0, 0.6, 1.0, 0.3], [0.0, 0.6, 0.3, 0.3, 0.3, 0.6, 0.0]
    found = bca_paired(left, right)
    plain = mean_interval([a - b for a, b in zip(left, right, strict=True)])
    assert found is not None
    assert plain is not None
    assert found.low == pytest.approx(plain.low, abs=0.15)
    assert found.high == pytest.approx(plain.high, abs=0.15)
    assert found == bca_paired(left, right)
    assert bca_paired([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]) is None


def test_pooled_odds_of_two_questions_alike_is_their_own() -> None:
    arms = [([True, True, False], [True, False, False])] * 2
    found = pooled_odds(arms)
    assert found is not None
    assert found.value == pytest.approx(4.0)
    assert found.interval.low < 4 < found.interval.high
    assert 0 < found.p < 1
    assert pooled_odds([([True], [True])]) is None


def test_fisher_is_the_textbook_tea() -> None:
    assert fisher([True, True, True, False], [True, False, False, False]) == pytest.approx(0.4857142857)
    assert fisher([True], [True]) == 1.0


def test_versions_are_told() -> None:
    assert set(versions()) == {"numpy", "scipy", "statsmodels"}


def test_a_report_loads_none_of_the_heavy_libraries() -> None:
    code = (
        "import sys\n"
        "import okn_benchmark.jobs.report, okn_benchmark.report.terminal, okn_benchmark.jobs.pages\n"
        "print(sorted({'numpy', 'scipy', 'statsmodels', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
