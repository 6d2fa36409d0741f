"""``run`` as a process: conditions side by side, refusals before anything is written, evidence that explains itself."""

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest
from tests.e2e.conftest import Run, Shell

SUMMARY_COLUMNS = [
    *("question", "tier", "condition", "server", "tools", "kg_hint", "attempt", "attempts_total", "blocked"),
    *("exact", "ordered", "f1", "queries", "tools_called", "wall_s", "server_s", "notes"),
]
CONTROL = ("--tools", "sparql-only", "--kg-hint", "tags")


def checksums(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_the_oracle_is_exact_and_its_answer_is_the_key_but_for_the_header(run: Run, tmp_path: Path) -> None:
    done = run(*CONTROL)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 measured attempts exact" in done.stdout
    root = tmp_path / "root"
    folders = sorted(root.glob("*_results"))
    assert len(folders) == 2
    for folder in folders:
        answer = rows(folder / "sparql-only__kg-named" / "attempt-1" / "answer.csv")
        assert answer[1:] == rows(folder / "ground_truth.csv")[1:]


def test_five_conditions_share_one_root_and_the_control_names_no_server(
    run: Run, profile: Path, tmp_path: Path
) -> None:
    server = ("--tools", "all-tools", "--profile", profile)
    for arm in (
        CONTROL,
        (*server, "--kg-hint", "tags"),
        (*server, "--kg-hint", "none"),
        (*server, "--kg-hint", "tags", "--without-tool", "get_schema", "--without-tool", "describe_graph"),
        (*server, "--kg-hint", "tags", "--strict-upstream-errors", "--label", "again"),
    ):
        done = run(*arm, limit=1)
        assert done.returncode == 0, done.stderr
    names = sorted(path.stem for path in (tmp_path / "root" / "conditions").glob("*.json"))
    assert names == [
        "sample-all-tools__kg-named",
        "sample-all-tools__kg-named__strict__again",
        "sample-all-tools__kg-named__without-describe_graph+get_schema",
        "sample-all-tools__kg-not-named",
        "sparql-only__kg-named",
    ]
    table = rows(tmp_path / "root" / "summary.csv")
    assert table[0][:17] == SUMMARY_COLUMNS
    assert len(table) == 1 + 5


def test_arms_differ_in_the_hint_alone_and_every_prompt_ends_the_same(run: Run, profile: Path, tmp_path: Path) -> None:
    for hint in ("tags", "none"):
        assert run("--tools", "all-tools", "--profile", profile, "--kg-hint", hint).returncode == 0
    endings = set()
    for folder in (tmp_path / "root").glob("*_results"):
        named, unnamed = (
            (folder / f"sample-all-tools__kg-{word}" / "attempt-1" / "prompt.txt").read_text(encoding="utf-8")
            for word in ("named", "not-named")
        )
        extra = [line for line in named.splitlines() if line not in unnamed.splitlines()]
        assert len(extra) == 1
        assert [line for line in unnamed.splitlines() if line not in named.splitlines()] == []
        endings |= {text.strip().rpartition("\n\n")[2] for text in (named, unnamed)}
    (ending,) = endings
    for words in ("submit_csv", "header row", "header alone", "IRI in full"):
        assert words in ending


def test_a_condition_record_says_where_its_numbers_come_from(run: Run, profile: Path, tmp_path: Path) -> None:
    assert run("--tools", "all-tools", "--profile", profile, limit=1).returncode == 0
    (path,) = (tmp_path / "root" / "conditions").glob("*.json")
    meta = json.loads(path.read_text(encoding="utf-8"))["meta"]
    assert meta["profile"]["name"] == "sample"
    assert re.fullmatch(r"[0-9a-f]{64}", meta["preamble"]["digest"])
    assert meta["preamble"]["text"]
    assert meta["endpoint"].startswith("sample@")
    assert meta["engine"].startswith("pyoxigraph")
    assert meta["scoring"] == {"significant_digits": 6, "numeric_rel_tol": 0.0005}
    assert "run_query" in meta["server_info"]["tools"]
    assert {"source", "commit", "dirty"} <= meta["corpus"].keys()
    assert {"level", "kg_hint", "model", "effort", "host", "call_timeout_s"} <= meta["identity"].keys()
    assert meta["versions"]["mcp"]


def test_without_ground_truth_it_says_what_to_type_and_writes_nothing(run: Run, shell: Shell, tmp_path: Path) -> None:
    empty = Shell(tmp_path / "empty-cache")
    done = empty.okn(
        "run",
        "--corpus",
        "benchmarks-single",
        "--host",
        "oracle",
        "--endpoint",
        "sample",
        "--out",
        tmp_path / "r",
        *CONTROL,
    )
    assert done.returncode == 3
    assert "okn-benchmark reference --corpus benchmarks-single --endpoint sample" in done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--tools", "all-tools"), 2, "--profile"),
        (("--tools", "sparql-only", "--kg-hint", "none"), 2, "tags"),
        ((*CONTROL, "--without-tool", "x"), 2, "withhold"),
        ((*CONTROL, "--exclude", "nosuch*"), 2, "nosuch*"),
        ((*CONTROL, "--force", "--resume"), 2, "--resume"),
        ((*CONTROL, "--precision", "99"), 2, "--precision"),
        ((*CONTROL, "--label", "../x"), 2, "folder name"),
        (("--tools", "all-tools", "--profile", "nosuch.toml"), 2, "nosuch.toml"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_writes_nothing(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "root").exists()


def test_the_control_takes_its_hint_by_itself(run: Run, tmp_path: Path) -> None:
    assert run("--tools", "sparql-only", limit=1).returncode == 0
    assert [path.stem for path in (tmp_path / "root" / "conditions").iterdir()] == ["sparql-only__kg-named"]


def test_an_oracle_that_does_not_get_the_key_is_told(run: Run, profile: Path) -> None:
    text = profile.read_text(encoding="utf-8").replace('reply = "sparql-json"', 'reply = "csv"')
    profile.write_text(text, encoding="utf-8")
    done = run("--tools", "all-tools", "--profile", profile, limit=1)
    assert done.returncode == 0
    assert "The oracle runs the keys themselves, and 1 of 1 answers differ" in done.stderr


def test_the_control_does_not_read_a_profile(run: Run) -> None:
    assert run(*CONTROL, "--profile", "/nonexistent", limit=1).returncode == 0


def test_a_name_the_server_does_not_have_is_refused_with_the_names_it_has(
    run: Run, profile: Path, tmp_path: Path
) -> None:
    for name in ("nosuch", "submit_csv"):
        done = run("--tools", "all-tools", "--profile", profile, "--without-tool", name)
        assert done.returncode == 2
        assert name in done.stderr
        assert not (tmp_path / "root").exists()
    done = run("--tools", "all-tools", "--profile", profile, "--without-tool", "nosuch")
    assert "get_descendants" in done.stderr


def test_a_clash_names_the_one_field_and_both_ways_out(run: Run, tmp_path: Path) -> None:
    assert run(*CONTROL, "--effort", "high", limit=1).returncode == 0
    before = checksums(tmp_path / "root")
    done = run(*CONTROL, "--effort", "low", "--repeat", "2", limit=1)
    assert done.returncode == 3
    for words in ("sparql-only__kg-named", "effort: 'high' -> 'low'", "--label", "--force"):
        assert words in done.stderr
    assert "repeat" not in done.stderr
    assert checksums(tmp_path / "root") == before


def test_the_same_run_again_is_refused_kept_apart_or_set_aside(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert run(*CONTROL, limit=1).returncode == 0
    again = run(*CONTROL, limit=1)
    assert again.returncode == 3
    assert "--resume" in again.stderr
    assert run(*CONTROL, "--label", "second", limit=1).returncode == 0
    old = next(root.glob("*_results/sparql-only__kg-named/attempt-1/episode.json")).read_bytes()
    assert run(*CONTROL, "--force", limit=1).returncode == 0
    assert len(list(root.glob("*_results/*"))) >= 2
    kept = [path.read_bytes() for path in root.glob(".replaced/**/episode.json")]
    assert old in kept
    resumed = run(*CONTROL, "--resume", limit=2)
    assert resumed.returncode == 0, resumed.stderr
    assert "[resumed]" in resumed.stderr
    assert "1 resumed" in resumed.stdout


def test_a_root_holds_one_tier(run: Run, tmp_path: Path, corpus_name: str) -> None:
    assert run(*CONTROL, limit=1).returncode == 0
    tier = corpus_name.removeprefix("benchmarks-")
    done = run(*CONTROL, "--tier", tier, "--label", "x", limit=1)
    assert done.returncode == 3
    assert "tier" in done.stderr


def test_a_server_that_never_starts_is_blocked_and_measures_nothing(
    run: Run, dead_profile: Path, tmp_path: Path
) -> None:
    done = run("--tools", "all-tools", "--profile", dead_profile, "--repeat", "3", limit=1)
    assert done.returncode == 4
    assert "measured nothing" in done.stderr
    table = rows(tmp_path / "root" / "summary.csv")
    assert len(table) == 4
    blocked = {row[table[0].index("blocked")] for row in table[1:]}
    assert blocked <= {"startup", "True", "true", "yes", "1"}
    page = (tmp_path / "root" / "README.md").read_text(encoding="utf-8")
    assert "measured nothing" in page
    assert "0.00" not in page


def test_a_sweep_that_meets_a_dead_server_stops_and_leaves_a_report(
    run: Run, dead_profile: Path, tmp_path: Path
) -> None:
    done = run("--tools", "all-tools", "--profile", dead_profile, limit=6)
    assert done.returncode == 4
    assert "3 blocked attempts in a row" in done.stderr
    assert "--resume" in done.stderr
    (record,) = (tmp_path / "root" / "conditions").glob("*.json")
    aggregate = json.loads(record.read_text(encoding="utf-8"))["aggregate"]
    assert (aggregate["attempts"], aggregate["measured"]) == (3, 0)
    assert aggregate["exact_rate"] is None


def test_an_output_root_that_is_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "root").write_text("mine", encoding="utf-8")
    done = run(*CONTROL)
    assert done.returncode == 2
    assert "is a file" in done.stderr
    assert (tmp_path / "root").read_text(encoding="utf-8") == "mine"


def test_quiet_says_the_result_alone(run: Run, shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    fixed = (
        "--corpus",
        corpus_name,
        "--host",
        "oracle",
        "--endpoint",
        "sample",
        "--out",
        tmp_path / "q",
        "--limit",
        "1",
    )
    done = shell.okn("--quiet", "run", *fixed, *CONTROL)
    assert done.returncode == 0
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
