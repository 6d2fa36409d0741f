"""What a sceptical user tries from a shell: sources that vanish, keys that change, servers that fail now and then."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import OKN, PROFILE, Run, Shell

from okn_benchmark.corpus.source import open_corpus
from okn_benchmark.host.proxy_client import ProxyClient

CONTROL = ("--tools", "sparql-only", "--kg-hint", "tags")
ORACLE = ("--host", "oracle", "--endpoint", "sample")

SOMETIMES = """\
import pathlib, runpy, sys
count = pathlib.Path({count!r})
number = int(count.read_text()) + 1
count.write_text(str(number))
if number == {fails_at}:
    sys.exit("the licence of this server has expired")
sys.argv = ["okn-benchmark", "sample-server"]
runpy.run_module("okn_benchmark", run_name="__main__")
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_git_corpus_outlives_its_repository(shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    repository, away, cache = tmp_path / "repo", tmp_path / "away", tmp_path / "cache"
    (repository / "set1").mkdir(parents=True)
    one, two = (r.path_name for r in open_corpus(corpus_name).records[:2])
    folder = open_corpus(corpus_name).folder
    (repository / "set1" / one).write_bytes((folder / one).read_bytes())
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "one")
    git(repository, "tag", "v2")
    (repository / "set1" / two).write_bytes((folder / two).read_bytes())
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    tagged = git(repository, "rev-parse", "v2")
    source = ("--corpus", f"git+file://{repository}@v2#set1", "--cache", cache)
    first = shell.okn("corpus", "list", *source)
    repository.rename(away)
    second = shell.okn("corpus", "list", *source)
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert first.stdout == second.stdout
    assert "1 of 1 record" in second.stdout
    assert shell.okn("reference", *source, "--endpoint", "sample").returncode == 0
    done = shell.okn("run", *source, *ORACLE, *CONTROL, "--out", tmp_path / "root")
    assert done.returncode == 0, done.stderr
    (record,) = (tmp_path / "root" / "conditions").glob("*.json")
    assert json.loads(record.read_text(encoding="utf-8"))["meta"]["corpus"]["commit"] == tagged


def test_a_key_that_changed_since_is_the_only_one_named(shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    records = open_corpus(corpus_name).records[:3]
    for record in records:
        (corpus / record.path_name).write_bytes((open_corpus(corpus_name).folder / record.path_name).read_bytes())
    changed = corpus / records[1].path_name
    changed.write_text(changed.read_text(encoding="utf-8") + "# another reading\n", encoding="utf-8")
    done = shell.okn("run", "--corpus", corpus, *ORACLE, *CONTROL, "--out", tmp_path / "root")
    assert done.returncode == 3
    assert [record.id in done.stderr for record in records] == [False, True, False]
    assert not (tmp_path / "root").exists()


def test_one_blocked_attempt_of_three_leaves_two_and_a_note(run: Run, tmp_path: Path) -> None:
    count, script = tmp_path / "count", tmp_path / "sometimes.py"
    count.write_text("0", encoding="utf-8")
    # The first start is the look at the server beforehand.
    script.write_text(SOMETIMES.format(count=str(count), fails_at=3), encoding="utf-8")
    profile = tmp_path / "sometimes.toml"
    started = f'command = "{sys.executable}"\nargs = ["-P", "{script}"]'
    text = PROFILE.format(python=sys.executable, log="").split("command =")[0] + started
    profile.write_text(text + "\n[oracle]" + PROFILE.split("[oracle]")[1].format(), encoding="utf-8")
    arm = ("--tools", "all-tools", "--profile", profile, "--repeat", "3")
    done = run(*arm, limit=1)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 measured attempts exact, 1 blocked" in done.stdout
    root = tmp_path / "root"
    page = (root / "README.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if "of 3 blocked" in line and line.startswith("| `sample-all-tools"))
    assert "| 2/2 |" in row
    assert "1 of 3 blocked" in row
    assert "the licence of this server has expired" in page
    with (root / "summary.csv").open(encoding="utf-8", newline="") as stream:
        told = [(r["blocked"], r["exact"], r["cause"]) for r in csv.DictReader(stream)]
    assert told == [("false", "true", ""), ("true", "", "startup"), ("false", "true", "")]
    (record,) = (root / "conditions").glob("*.json")
    aggregate = json.loads(record.read_text(encoding="utf-8"))["aggregate"]
    assert (aggregate["measured"], aggregate["blocked"], aggregate["exact_rate"]) == (2, 1, 1.0)
    again = run(*arm, "--resume", limit=1)
    assert "3 of 3 measured attempts exact, 2 resumed" in again.stdout


def test_a_withheld_name_that_is_called_all_the_same_goes_no_further(profile: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [str(OKN), "proxy", "--profile", str(profile), "--without-tool", "get_schema", "--log", str(log)]
    with ProxyClient(command) as client:
        client.initialize()
        listed = [tool["name"] for tool in client.list_tools()]
        refused = client.call_tool("get_schema", {"shortname": "rdkg"})
        allowed = client.call_tool("list_graphs", {})
    assert "get_schema" not in listed
    assert (refused.ok, allowed.ok) == (False, True)
    assert "get_schema is not available" in refused.text
    metrics = json.loads((log / "calls.json").read_text(encoding="utf-8"))["metrics"]
    assert metrics["withheld_calls"] == 1
    seen = [json.loads(line)["tool"] for line in (tmp_path / "server.log").read_text(encoding="utf-8").splitlines()]
    assert seen == ["list_graphs"]


def test_no_difference_is_taken_across_tiers_or_where_one_side_is_missing(
    shell: Shell, run: Run, corpus_name: str, tmp_path: Path
) -> None:
    for tier in ("north", "south"):
        corpus = tmp_path / tier
        corpus.mkdir()
        record = open_corpus(corpus_name).records[0]
        text = (open_corpus(corpus_name).folder / record.path_name).read_bytes()
        (corpus / f"one_{tier}.rq").write_bytes(text)
        cache = ("--cache", tmp_path / "cache")
        assert shell.okn("reference", "--corpus", corpus, "--endpoint", "sample", *cache).returncode == 0
        done = shell.okn("run", "--corpus", corpus, *ORACLE, *CONTROL, *cache, "--out", tmp_path / f"runs-{tier}")
        assert done.returncode == 0, done.stderr
    across = shell.okn("compare", tmp_path / "runs-north", tmp_path / "runs-south")
    assert across.returncode == 2
    assert "north" in across.stderr
    assert "south" in across.stderr
    assert across.stdout == ""


def test_where_only_named_arms_ran_the_hint_has_a_dash_for_its_worth(run: Run, profile: Path, tmp_path: Path) -> None:
    assert run("--tools", "all-tools", "--profile", profile, "--kg-hint", "tags", limit=1).returncode == 0
    page = (tmp_path / "root" / "README.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if "graph named − not named" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert set(cells[1:-1]) == {"–"}
    assert "no condition for its right side" in cells[-1]


def literal(value: str, datatype: str) -> dict[str, str]:
    return {"type": "literal", "value": value, "datatype": f"http://www.w3.org/2001/XMLSchema#{datatype}"}


def truth(path: Path, *rows: tuple[str, str, str]) -> Path:
    bindings = [
        {"source": {"type": "uri", "value": one}, "target": {"type": "uri", "value": two}, "v": literal(v, "double")}
        for one, two, v in rows
    ]
    value = {"head": {"vars": ["source", "target", "v"]}, "results": {"bindings": bindings}}
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


A, B, C, D = (f"http://example.org/{name}" for name in "abcd")
ROWS = ((A, B, "0.453562"), (C, D, "12.5"))
CLOSE = ((A, B, "0.453562"), (C, D, "0.4536"))
NAMESAKES = ((A, B, "1.5"), ("http://example.com/a", D, "2.5"))


@pytest.mark.parametrize(
    ("rows", "answer", "told", "guards"),
    [
        (ROWS, f"x,y,z\n0.453562,{A},{B}\n12.5,{C},{D}\n", {"exact": True, "ordered": True, "f1": 1}, []),
        (ROWS, f"x,y,z\n0.453562,{B},{A}\n12.5,{C},{D}\n", {"exact": False, "f1": 0.5}, []),
        (ROWS, f"source,target,v\n{A},{B},0.45356\n{C},{D},12.5\n", {"exact": True, "strict_exact": False}, []),
        (ROWS, f"source,target,v\n{C},{D},12.5\n{A},{B},0.453562\n", {"exact": True, "ordered": False}, []),
        (ROWS, f"source,target,v\n{A},{B},0.453562\n{C},{D},12.5\n{C},{D},12.5\n", {"exact": False, "f1": 0.8}, []),
        (CLOSE, f"source,target,v\n{A},{B},0.45356\n{C},{D},0.4536\n", {"exact": False}, ["snapping"]),
        (NAMESAKES, "source,target,v\na,b,1.5\na,d,2.5\n", {"exact": False}, ["short_forms"]),
    ],
    ids=["renamed", "swapped", "rounded", "other-order", "duplicate", "too-close", "namesakes"],
)
def test_a_score_from_two_files(
    shell: Shell, tmp_path: Path, rows: tuple[tuple[str, str, str], ...], answer: str, told: dict[str, object],
    guards: list[str],
) -> None:  # fmt: skip
    given = tmp_path / "answer.csv"
    given.write_text(answer, encoding="utf-8")
    done = shell.okn("score", truth(tmp_path / "truth.json", *rows), given, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {key: found[key] for key in told} == told
    assert [guard["guard"] for guard in found["guards"]] == guards
