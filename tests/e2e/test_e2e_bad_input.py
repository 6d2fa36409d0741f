"""Input that cannot be used: one sentence that names the thing, the right exit code, nothing half written."""

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import CHECKOUT, OKN, Done, Run, Shell

from okn_benchmark.corpus.source import open_corpus

ORACLE = ("--host", "oracle", "--endpoint", "sample")
CONTROL = ("--tools", "sparql-only", "--kg-hint", "tags")
PROFILE = 'name = "x"\n[upstream]\ntransport = "stdio"\ncommand = "x"\n'
SUMMARY = "#+ summary: Which place, by name?\n#+ tags: [rdkg]\n\n"


def sentence(done: Done, code: int, words: str) -> None:
    """One error of ours: its exit code, its words, at most one line of advice."""
    assert done.returncode == code, done.stderr
    lines = done.stderr.strip().splitlines()
    errors = [n for n, line in enumerate(lines) if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert words in lines[errors[0]]
    assert len(lines) - errors[0] <= 2


@pytest.mark.parametrize(
    ("corpus", "code", "words"),
    [
        ("nosuch", 2, "no corpus at nosuch"),
        ("empty", 2, "holds no .rq record"),
        ("wrong", 2, "odd_low.rq:1: there is no summary"),
        ("git+file:///nonexistent-repository", 4, "does not appear to be a git repository"),
        ("git+ext::sh -c id", 2, "is not a git URL"),
    ],
)
def test_a_corpus_that_is_none(shell: Shell, tmp_path: Path, corpus: str, code: int, words: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "odd_low.rq").write_text("SELECT nothing", encoding="utf-8")
    done = shell.okn("run", "--corpus", corpus, *ORACLE, *CONTROL, "--out", "root", cwd=tmp_path)
    sentence(done, code, words)
    assert not (tmp_path / "root").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PROFILE.replace("command", "comand"), "unknown key comand"),
        (PROFILE + 'env = { K = "${OKN_NOT_SET}" }\n', "variable OKN_NOT_SET, which is not set"),
        ('name = "x', "not valid TOML"),
    ],
)
def test_a_profile_that_is_none(shell: Shell, run: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    sentence(run("--tools", "all-tools", "--profile", path), 2, words)
    sentence(shell.okn("probe", "--profile", path), 2, words)
    assert not (tmp_path / "root").exists()


def test_a_key_that_is_no_query(shell: Shell, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "one_low.rq").write_text(SUMMARY + "SELEC ?x { ?x ?y ?z } ORDER BY ?x\n", encoding="utf-8")
    done = shell.okn("reference", "--corpus", corpus, "--endpoint", "sample")
    assert done.returncode == 2
    assert "one_low.rq: The query is not valid SPARQL" in done.stderr
    assert "Traceback" not in done.stderr
    sentence(shell.okn("run", "--corpus", corpus, *ORACLE, *CONTROL, "--out", tmp_path / "root"), 3, "one_low")
    assert not (tmp_path / "root").exists()


def test_an_endpoint_that_is_not_there(shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    cache = ("--corpus", corpus_name, "--limit", "2", "--cache", tmp_path / "cache")
    gone = shell.okn("reference", "--endpoint", "http://127.0.0.1:9/sparql", *cache)
    assert gone.returncode == 4
    assert gone.stderr.count("http://127.0.0.1:9/sparql cannot be reached") == 1
    assert "not tried after that" in gone.stderr
    assert not list((tmp_path / "cache").rglob("*.json"))
    junk = tmp_path / "junk.ttl"
    junk.write_text("junk", encoding="utf-8")
    sentence(shell.okn("reference", "--endpoint", junk, *cache), 2, "cannot be loaded")
    sentence(shell.okn("reference", "--endpoint", "ftp://x/", *cache), 2, "is not an endpoint")


@pytest.mark.parametrize("flag", ["--out", "--corpus", "--endpoint"])
def test_an_empty_value_is_an_unset_variable(shell: Shell, tmp_path: Path, flag: str) -> None:
    """``--out "$OUT"`` must not fill the current folder."""
    for given in ((flag, ""), (f"{flag}=",)):
        done = shell.okn("run", "--corpus", "benchmarks-single", *CONTROL, "--out", "r", *given, cwd=tmp_path)
        assert done.returncode == 2
        assert f"{flag} is empty" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--effort", "hgih"), "'xhigh'"),
        (("--agent-timeout", "inf"), "86400"),
        (("--timeout", "nan"), "86400"),
        (("--timeout", "1e300"), "86400"),
        (("--numeric-rel-tol", "nan"), "relative tolerance"),
        (("--limit", "0"), "1"),
    ],
)
def test_a_number_that_means_nothing(run: Run, tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    done = run(*CONTROL, *flags)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "root").exists()


def _small_files() -> None:
    """In the child: a write past this many bytes fails, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, resource.RLIM_INFINITY))


def test_a_disk_that_takes_no_more_leaves_nothing_half_written(
    shell: Shell, run: Run, corpus_name: str, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    argv = [OKN, "run", "--corpus", corpus_name, *ORACLE, *CONTROL, "--out", root, "--limit", "2"]
    env = os.environ | {"XDG_CACHE_HOME": str(shell.cache), "NO_COLOR": "1"}
    settings = {"capture_output": True, "text": True, "env": env, "cwd": CHECKOUT, "timeout": 60}
    done: Done = subprocess.run(argv, preexec_fn=_small_files, **settings)  # type: ignore[call-overload]
    sentence(done, 4, "could not be written")
    left = [path for path in root.rglob("*") if path.is_file()]
    assert [path for path in left if path.name.endswith(".tmp")] == []
    for path in left:
        assert path.suffix != ".json" or json.loads(path.read_text(encoding="utf-8"))
    assert run(*CONTROL, "--resume").returncode == 0


def test_a_root_that_takes_no_page_can_still_be_read(run: Run, shell: Shell, tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert run(*CONTROL, limit=1).returncode == 0
    (root / "README.md").unlink()
    (root / "README.md").mkdir()
    done = shell.okn("report", root, "--json")
    assert done.returncode == 0
    assert "README.md could not be written" in done.stderr
    assert len(json.loads(done.stdout)["conditions"]) == 1


def test_a_cache_that_takes_no_clone(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    done = shell.okn("corpus", "list", "--corpus", f"git+file://{tmp_path}", "--cache", tmp_path / "cache")
    sentence(done, 4, "could not be kept in")


def test_the_switches_of_the_program_may_stand_at_the_end(shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    quiet = shell.okn("reference", "--corpus", corpus_name, "--endpoint", "sample", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert len(quiet.stdout.splitlines()) == 1
    loud = shell.okn("report", tmp_path / "nosuch", "--debug")
    assert "Traceback" in loud.stderr
    assert "InputError" in loud.stderr


def test_every_record_is_named_in_what_may_be_asked_for(shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    done = shell.okn("corpus", "list", "--corpus", corpus_name, "--exclude", "nosuch*")
    sentence(done, 2, "'nosuch*' takes nothing out")
    assert all(record.id in done.stderr for record in open_corpus(corpus_name).records)


def test_every_json_is_json_and_alone_on_stdout(run: Run, shell: Shell, corpus_name: str, tmp_path: Path) -> None:
    root, one = tmp_path / "root", ("--corpus", corpus_name, "--limit", "1")
    assert run(*CONTROL, limit=1).returncode == 0
    assert run(*CONTROL, "--label", "again", limit=1).returncode == 0
    (folder,) = root.glob("*_results")
    conditions = [f"{root}::{path.stem}" for path in sorted((root / "conditions").glob("*.json"))]
    answer = folder / "sparql-only__kg-named" / "attempt-1" / "answer.csv"
    for command in (
        ("corpus", "list", *one),
        ("corpus", "check", *one),
        ("reference", *one, "--endpoint", "sample"),
        ("reference", *one, "--endpoint", "sample", "--check"),
        ("selfcheck", *one, "--endpoint", "sample"),
        ("report", root),
        ("compare", *conditions),
        ("power", "--questions", "12", "--repeats", "1"),
        ("power", "--discordant", "0.2", "--net", "0.1"),
        ("score", folder / "ground_truth.json", answer),
    ):
        done = shell.okn(*command, "--json", NO_COLOR="")
        assert done.returncode == 0, (command, done.stderr)
        assert json.loads(done.stdout), command
        assert "\x1b" not in done.stdout + done.stderr


def test_a_terminal_that_lacks_characters_is_shown_escapes_and_files_stay_whole(
    run: Run, shell: Shell, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    assert run(*CONTROL, limit=1).returncode == 0
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = shell.okn("report", root, **ascii_only)
    assert shown.returncode == 0, shown.stderr
    assert "\\u2013" in shown.stdout
    page = shell.okn("report", root, "--markdown", "-", **ascii_only)
    assert page.stdout == (root / "README.md").read_text(encoding="utf-8")
