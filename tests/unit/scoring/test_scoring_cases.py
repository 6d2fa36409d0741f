"""Every dispute on file, and the checks that each must hold up under besides its own verdict."""

import json
from pathlib import Path

import pytest
from tests.case_files import FOLDER, Case, case_paths, read_case

from okn_benchmark.scoring.explain import explain
from okn_benchmark.scoring.verdict import judge
from okn_benchmark.sparql.results import csv_text

PATHS = case_paths()


def test_there_are_cases() -> None:
    assert len(PATHS) >= 150, f"only {len(PATHS)} cases in {FOLDER}"


def test_no_two_cases_settle_the_same_dispute() -> None:
    seen: dict[object, str] = {}
    for path in PATHS:
        case = read_case(path)
        content = (case.reference, case.submitted, tuple(case.traps), case.settings)
        assert content not in seen, f"{path.name} repeats {seen[content]}"
        seen[content] = path.name


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_case_is_judged_as_it_says(path: Path) -> None:
    case = read_case(path)
    found = judge(case.reference, case.submitted, case.settings, case.traps).to_json()
    found["guards"] = [f"{guard['guard']}({guard['column']})" for guard in found["guards"]]
    found["trap"] = found["trap"]["outcome"]
    assert case.verdict, f"{path.name} expects nothing"
    for name, wanted in case.verdict.items():
        about = pytest.approx(wanted, abs=5e-5) if isinstance(wanted, float) else wanted
        assert found[name] == about, f"{name}: {case.reason} ({found['diagnosis']}, {found['malformed']})"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_case_keeps_the_laws(path: Path) -> None:
    case = read_case(path)
    _own_copy_is_exact(case)
    verdict = judge(case.reference, case.submitted, case.settings, case.traps)
    assert verdict == judge(case.reference, case.submitted, case.settings, case.traps)
    assert 0 <= verdict.strict_f1 <= verdict.f1 <= 1
    assert verdict.exact == (verdict.f1 == 1)
    assert verdict.exact >= verdict.strict_exact
    assert verdict.ordered >= verdict.strict_ordered
    json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    told = explain(case.reference, case.submitted, case.settings, limit=3)
    assert told.matched_count + told.near_count + told.missing_count == verdict.reference_rows
    if verdict.answer_rows is not None:
        assert told.matched_count + told.near_count + told.extra_count == verdict.answer_rows
        assert told.matched_count == round(verdict.recall * verdict.reference_rows)


def _own_copy_is_exact(case: Case) -> None:
    own = judge(case.reference, csv_text(case.reference).encode(), case.settings)
    assert own.strict_exact
    assert own.strict_ordered
    assert own.exact
    assert own.ordered
    assert own.f1 == 1
