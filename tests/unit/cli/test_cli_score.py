"""``score`` and ``selfcheck`` as they are typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from okn_benchmark.cli.app import build
from okn_benchmark.sparql.results import write_results
from okn_benchmark.table import Table, iri, table, text, typed

KEY = table(
    ["gene", "score"],
    [
        [iri("http://x.example/g/1"), typed("0.453562", "decimal")],
        [iri("http://x.example/g/2"), typed("2.5", "decimal")],
    ],
)
KEYS = {
    "contract", "exact", "strict_exact", "ordered", "strict_ordered", "f1", "strict_f1", "precision", "recall",
    "submitted", "diagnosis", "guards", "settings", "trap", "answer_rows", "reference_rows",
}  # fmt: skip


def run(*words: object) -> Result:
    return CliRunner().invoke(build(), [str(word) for word in words])


def files(folder: Path, answer: str, truth: Any = None) -> tuple[Path, Path]:
    (folder / "truth.json").write_text(json.dumps(write_results(KEY) if truth is None else truth), encoding="utf-8")
    (folder / "answer.csv").write_text(answer, encoding="utf-8")
    return folder / "truth.json", folder / "answer.csv"


def ground_truth(traps: dict[str, Table] | None = None) -> dict[str, Any]:
    return {
        "schema": "ground_truth/1", "endpoint": "e", "engine": None, "query": "SELECT …", "fingerprint": "f",
        "results": write_results(KEY), "traps": {name: write_results(trap) for name, trap in (traps or {}).items()},
    }  # fmt: skip


def test_the_verdict_as_json(tmp_path: Path) -> None:
    done = run("score", *files(tmp_path, "gene,score\n1,0.45356\n2,2.5\n"), "--json")
    verdict = json.loads(done.stdout)
    assert done.exit_code == 0
    assert set(verdict) >= KEYS
    assert (verdict["exact"], verdict["strict_exact"], verdict["contract"]) == (True, False, 1)
    assert verdict["settings"] == {"significant_digits": 6, "numeric_rel_tol": 0.0005}


def test_a_wrong_answer_exits_zero_and_shows_the_rows(tmp_path: Path) -> None:
    done = run("score", *files(tmp_path, "gene,score\n1,0.45356\n2,2.9\n7,1\n"))
    assert done.exit_code == 0
    assert "exact no" in done.stdout
    assert "near    row 2: score is '2.9', the key has '2.5'" in done.stdout
    assert "extra   row 3: '7', '1'" in done.stdout


def test_a_malformed_answer_is_explained(tmp_path: Path) -> None:
    done = run("score", *files(tmp_path, "gene,score\n1\n"))
    assert done.exit_code == 0
    assert "malformed: Row 1 has 1 cell, the header has 2." in done.stdout


def test_the_two_settings(tmp_path: Path) -> None:
    both = files(tmp_path, "gene,score\n1,0.4539\n2,2.5\n")
    assert "exact no" in run("score", *both).stdout
    assert "exact yes" in run("score", *both, "--precision", 3).stdout
    assert "exact yes" in run("score", *both, "--numeric-rel-tol", "0.01").stdout
    refused = run("score", *both, "--precision", 40)
    assert refused.exit_code == 2
    assert "1 to 17" in refused.stderr


def test_a_ground_truth_brings_its_traps(tmp_path: Path) -> None:
    trap = table(["gene", "score"], [[iri("http://x.example/g/9"), typed("1", "decimal")]])
    both = files(tmp_path, "gene,score\n9,1\n", ground_truth({"nine": trap}))
    verdict = json.loads(run("score", *both, "--json").stdout)
    assert verdict["trap"] == {"outcome": "trap", "names": ["nine"]}
    assert verdict["diagnosis"][-1] == "trap:nine"


@pytest.mark.parametrize("truth", [{}, {"results": []}, {"results": {"bindings": []}}, {"head": {"vars": "x"}}, [], 5])
def test_what_is_no_truth_is_refused(tmp_path: Path, truth: Any) -> None:
    truth_path, answer = files(tmp_path, "x\n")
    truth_path.write_text(json.dumps(truth), encoding="utf-8")
    done = run("score", truth_path, answer)
    assert done.exit_code == 2
    assert "truth.json" in done.stderr


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    truth, answer = files(tmp_path, "x\n")
    assert run("score", truth, tmp_path / "none.csv").exit_code == 2
    assert run("score", tmp_path / "none.json", answer).exit_code == 2


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    query = "SELECT ?s ?v WHERE { ?s <http://x.example/v> ?v } ORDER BY ?s"
    (folder / "values_a.rq").write_text(f"#+ summary: Values by subject, in order.\n{query}\n", encoding="utf-8")
    data = "".join(f"<http://x.example/g/{n}> <http://x.example/v> {n}.25 .\n" for n in range(1, 6))
    (tmp_path / "data.ttl").write_text(data, encoding="utf-8")
    return folder


def test_selfcheck_needs_the_truth_that_reference_builds(tmp_path: Path, corpus: Path) -> None:
    words = ("--corpus", corpus, "--endpoint", tmp_path / "data.ttl", "--cache", tmp_path / "cache")
    lacking = run("selfcheck", *words)
    assert lacking.exit_code == 3
    assert "okn-benchmark reference" in lacking.stderr
    assert run("reference", *words).exit_code == 0
    done = run("selfcheck", *words)
    assert done.exit_code == 0, done.stdout
    assert "values_a: 5 × 2" in done.stdout
    report = json.loads(run("selfcheck", *words, "--json").stdout)
    assert report["faults"] == 0
    assert report["records"][0]["copies"] >= 12


def test_selfcheck_names_the_endpoint_that_has_the_truth(tmp_path: Path, corpus: Path) -> None:
    words = ("--corpus", corpus, "--cache", tmp_path / "cache")
    assert run("reference", *words, "--endpoint", tmp_path / "data.ttl").exit_code == 0
    record = corpus / "empty_a.rq"
    record.write_text("#+ summary: Nothing.\n#+ empty: true\nSELECT ?s { ?s <http://nowhere> ?o }\n", encoding="utf-8")
    assert run("reference", *words, "--endpoint", "sample").exit_code == 0
    lacking = run("selfcheck", *words, "--endpoint", "http://127.0.0.1:9/sparql")
    assert lacking.exit_code == 3
    assert "from the RDF data.ttl@" in lacking.stderr
    assert "(1 of 2), --endpoint sample (2 of 2). Name that one, or build it:" in lacking.stderr


def test_selfcheck_exits_one_where_something_is_wrong(tmp_path: Path, corpus: Path) -> None:
    record = corpus / "values_a.rq"
    trap = '#+ traps:\n#+   same: "SELECT ?v ?s WHERE { ?s <http://x.example/v> ?v }"\n#+ summary'
    record.write_text(record.read_text("utf-8").replace("#+ summary", trap), "utf-8")
    words = ("--corpus", corpus, "--endpoint", tmp_path / "data.ttl", "--cache", tmp_path / "cache")
    assert run("reference", *words).exit_code == 0
    done = run("selfcheck", *words)
    assert done.exit_code == 1
    assert "the trap 'same' equals the key" in done.stdout


def test_the_label_is_kept_out_of_the_terminal_controls(tmp_path: Path) -> None:
    key = table(["x"], [[text("a")]])
    done = run("score", *files(tmp_path, "x\n\x1b[31mred\n", write_results(key)))
    assert "\x1b" not in done.stdout
