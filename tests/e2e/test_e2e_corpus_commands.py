"""corpus, reference and graphs as processes: what a shell sees."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

OKN = Path(sys.executable).with_name("okn-benchmark")
GRAPH = "https://purl.org/okn/frink/kg/nde"
DATA = f"<{GRAPH}> {{ <http://e/a> <http://e/v> 3 . <http://e/b> <http://e/v> 2 . }}"
KEY = f"SELECT ?place ?value {{ GRAPH <{GRAPH}> {{ ?place <http://e/v> ?value }} }} ORDER BY DESC(?value) ?place"


def okn(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "OKN_BENCHMARK_ENDPOINT"}
    environment |= {"XDG_CACHE_HOME": str(cwd / "cache"), "NO_COLOR": "1", **env}
    argv = [str(OKN), *map(str, arguments)]
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)


def write(
    folder: Path, name: str, key: str = KEY, summary: str = "Places by value, highest first, then place."
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.rq").write_text(f"#+ summary: {summary} {name}\n#+ tags: [nde]\n\n{key}\n", encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "data.trig").write_text(DATA, encoding="utf-8")
    for name in ("one_low", "two_low", "three_high"):
        write(tmp_path / "corpus", name)
    return tmp_path / "corpus"


def test_the_selection_is_shown_before_anything_runs(corpus: Path, tmp_path: Path) -> None:
    got = okn("corpus", "list", "--corpus", "corpus", "--exclude", "two_*", cwd=tmp_path)
    assert got.returncode == 0, got.stderr
    assert "2 of 3 records" in got.stdout
    assert "one_low" in got.stdout
    assert "excluded by --exclude two_*" in got.stdout
    limited = okn("corpus", "list", "--corpus", "corpus", "--exclude", "o*", "--limit", "1", "--json", cwd=tmp_path)
    listed = json.loads(limited.stdout)
    assert [entry["id"] for entry in listed["records"]] == ["three_high"]
    assert listed["total"] == 3


@pytest.mark.parametrize("command", [("corpus", "list"), ("corpus", "check"), ("reference", "--endpoint", "data.trig")])
def test_a_pattern_without_effect_stops_every_command(corpus: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    got = okn(*command, "--corpus", "corpus", "--exclude", "nosuch*", cwd=tmp_path)
    assert got.returncode == 2
    assert "nosuch*" in got.stderr
    assert "three_high" in got.stderr
    assert not (tmp_path / "cache").exists()


def test_only_an_edited_key_runs_again(corpus: Path, tmp_path: Path) -> None:
    def reference(*more: str) -> subprocess.CompletedProcess[str]:
        return okn("reference", "--corpus", "corpus", *more, cwd=tmp_path, OKN_BENCHMARK_ENDPOINT="data.trig")

    first = reference()
    assert first.returncode == 0, first.stderr
    assert "3 of 3 records run" in first.stdout
    write(corpus, "two_low", summary="Other words for the same.")
    assert "0 of 3 records run" in reference().stdout
    write(corpus, "two_low", key=KEY + " LIMIT 1")
    edited = json.loads(reference("--json").stdout)
    assert (edited["ran"], edited["kept"]) == (1, 2)
    assert [entry["id"] for entry in edited["records"] if entry["status"] == "ran"] == ["two_low"]
    assert "0 of 2 records run" in reference("--tier", "low").stdout


def test_drift_is_reported_and_nothing_is_rewritten(corpus: Path, tmp_path: Path) -> None:
    with_port = ("--corpus", "corpus", "--cache", "kept", "--endpoint")
    server = subprocess.Popen(
        [str(OKN), "graphs", "serve", "--port", "0", "--file", "data.trig"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        base = server.stdout.readline().split()[2]
        port = base.rpartition(":")[2]
        url = f"{base}/federation/sparql"
        assert okn("reference", *with_port, url, cwd=tmp_path).returncode == 0
        stable = okn("reference", "--check", *with_port, url, cwd=tmp_path)
        assert stable.returncode == 0
        assert "3 stable" in stable.stdout
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
        if server.stdout is not None:
            server.stdout.close()
    kept = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*.json")}
    (tmp_path / "data.trig").write_text(DATA.replace("3 .", "4 ."), encoding="utf-8")
    server = subprocess.Popen(
        [str(OKN), "graphs", "serve", "--port", port, "--file", "data.trig"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        server.stdout.readline()
        drifted = okn("reference", "--check", *with_port, url, cwd=tmp_path)
        assert drifted.returncode == 1
        assert "3 drifted" in drifted.stdout
        assert "1 row lost, 1 gained" in drifted.stderr
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) in (0, 130)
        if server.stdout is not None:
            server.stdout.close()
    assert {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*.json")} == kept


def test_a_key_at_fault_and_an_endpoint_that_is_none(corpus: Path, tmp_path: Path) -> None:
    write(corpus, "two_low", key="SELECT {")
    got = okn("reference", "--corpus", "corpus", "--endpoint", "data.trig", cwd=tmp_path)
    assert got.returncode == 2
    assert "two_low.rq" in got.stderr
    assert "2 of 3 records run" in got.stdout
    assert "1 failed" in got.stdout
    assert okn("reference", "--corpus", "corpus", "--endpoint", "nosuch.ttl", cwd=tmp_path).returncode == 2
    assert okn("reference", "--corpus", "nosuch", "--endpoint", "data.trig", cwd=tmp_path).returncode == 2


def test_bad_records_are_listed_by_some_commands_and_stop_the_others(corpus: Path, tmp_path: Path) -> None:
    (corpus / "bad_low.rq").write_text("SELECT ?s { ?s ?p ?o }\n", encoding="utf-8")
    (corpus / "worse_low.rq").write_text("#+ summary: a\n#+ empty: x\nSELECT ?s { ?s ?p ?o }\n", encoding="utf-8")
    for command in ("list", "check"):
        got = okn("corpus", command, "--corpus", "corpus", cwd=tmp_path)
        assert got.returncode == 1
        said = got.stdout + got.stderr
        assert "bad_low.rq" in said
        assert "worse_low.rq" in said
    stopped = okn("reference", "--corpus", "corpus", "--endpoint", "data.trig", cwd=tmp_path)
    assert stopped.returncode == 2
    assert "bad_low.rq:1" in stopped.stderr
    assert "worse_low.rq:2" in stopped.stderr


def test_a_check_with_and_without_an_endpoint(corpus: Path, tmp_path: Path) -> None:
    clean = okn("corpus", "check", "--corpus", "corpus", "--tier", "high", "--endpoint", "data.trig", cwd=tmp_path)
    assert clean.returncode == 0, clean.stdout
    assert "nothing to mend" in clean.stdout
    write(corpus, "three_high", key=KEY + " LIMIT 2")
    dirty = okn("corpus", "check", "--corpus", "corpus", "--tier", "high", "--json", cwd=tmp_path)
    assert dirty.returncode == 1
    assert [finding["code"] for finding in json.loads(dirty.stdout)["findings"]] == ["limit-not-stated"]
