"""What a profile holds to log in with reaches the server and nothing else: no file, no screen, no command line."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import psutil
import pytest
from tests.e2e.conftest import Shell

TOKEN = "hush-4711-token"
SERVER = Path(__file__).parent / "servers" / "echoing.py"

HTTP = """\
name = "{name}"
[upstream]
transport = "http"
url = "{url}"
headers = {{ Authorization = "Bearer ${{OKN_LOGIN}}" }}
[oracle]
tool = "{tool}"
arguments = {{ query = "{{query}}" }}
reply = "sparql-json"
"""
STDIO = """\
name = "local"
[upstream]
transport = "stdio"
command = "{python}"
args = ["-P", "-c", "import os, sys; sys.exit('rejected: ' + os.environ['SERVICE_KEY'])"]
env = {{ SERVICE_KEY = "${{OKN_LOGIN}}" }}
[oracle]
tool = "run_query"
arguments = {{ query = "{{query}}" }}
reply = "sparql-json"
"""


@pytest.fixture(scope="module")
def echoing() -> Iterator[str]:
    """Where the server that repeats everything listens."""
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        server.kill()


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


class Argv:
    """Collects the command line of every process on the machine until the block ends."""

    def __enter__(self) -> Self:
        self.seen: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            for process in psutil.process_iter(["cmdline"]):
                self.seen.add(" ".join(process.info["cmdline"] or ()))


def leaks(*folders: Path) -> list[str]:
    """Files that hold the token."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files
    return [str(path) for path in files if TOKEN.encode() in path.read_bytes()]


def test_a_server_over_http_is_logged_in_to_and_the_token_is_nowhere(
    shell: Shell, corpus_name: str, tmp_path: Path
) -> None:
    serving = [sys.executable, "-P", "-m", "okn_benchmark", "sample-server", "--http", "0"]
    fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--limit", "1", "--host", "oracle")
    with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[3].rstrip(";")
        profile = write(tmp_path, "sample", HTTP.format(name="sample", url=url, tool="run_query"))
        with Argv() as argv:
            out = ("--out", tmp_path / "root", "--tools", "all-tools", "--profile", profile)
            done = shell.okn("run", *fixed, *out, OKN_LOGIN=TOKEN)
        server.terminate()
    assert done.returncode == 0, done.stderr
    assert "1 of 1 measured attempts exact" in done.stdout
    assert any("okn_benchmark.proxy" in line for line in argv.seen)
    assert [line for line in argv.seen if TOKEN in line] == []
    assert TOKEN not in done.stdout + done.stderr
    assert leaks(tmp_path / "root", shell.cache) == []
    record = next((tmp_path / "root" / "conditions").glob("*.json")).read_text(encoding="utf-8")
    assert json.loads(record)["meta"]["profile"]["headers"] == ["Authorization"]


@pytest.mark.parametrize("tool", ["tell", "fail", "refuse", "break"])
def test_a_server_that_repeats_it_is_masked_in_an_episode(
    shell: Shell, corpus_name: str, echoing: str, tmp_path: Path, tool: str
) -> None:
    profile = write(tmp_path, "echoing", HTTP.format(name="echoing", url=f"{echoing}/open", tool=tool))
    fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--limit", "1", "--host", "oracle")
    root = tmp_path / "root"
    done = shell.okn("run", *fixed, "--out", root, "--tools", "all-tools", "--profile", profile, OKN_LOGIN=TOKEN)
    assert done.returncode == 0, done.stderr
    shown = shell.okn("report", root, "--html", root / "report.html", "--json", OKN_LOGIN=TOKEN)
    assert TOKEN not in done.stdout + done.stderr + shown.stdout + shown.stderr
    assert leaks(root) == []
    (transcript,) = root.rglob("transcript.jsonl")
    assert "[redacted]" in transcript.read_text(encoding="utf-8"), "the server was meant to repeat it"


def test_so_is_one_that_repeats_it_to_an_agent(
    shell: Shell, claude_binary: str, corpus_name: str, echoing: str, tmp_path: Path
) -> None:
    def use(tool: str, **given: object) -> dict[str, object]:
        return {"type": "tool_use", "name": tool, "input": given}

    tools = [use(f"mcp__okn__{tool}") for tool in ("tell", "fail", "refuse", "break")]
    answer = use("mcp__okn__submit_csv", csv="a\n{{result 0}}{{result 1}}{{result 2}}{{result 3}}\n")
    turns = [
        [use("ToolSearch", query="okn", max_results=9)],
        tools,
        [answer],
        [{"type": "text", "text": "{{result 1}}"}],
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(turns), encoding="utf-8")
    profile = write(tmp_path, "echoing", HTTP.format(name="echoing", url=f"{echoing}/open", tool="tell"))
    root = tmp_path / "root"
    fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--limit", "1", "--model-script", script)
    arguments = (*fixed, "--out", root, "--tools", "all-tools", "--profile", profile, "--claude", claude_binary)
    with Argv() as argv:
        done = shell.okn("run", *arguments, OKN_LOGIN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert [line for line in argv.seen if TOKEN in line] == []
    assert TOKEN not in done.stdout + done.stderr
    assert leaks(root) == []
    (answered,) = root.rglob("answer.csv")
    assert "[redacted]" in answered.read_text(encoding="utf-8")


def test_a_server_that_refuses_the_token_and_repeats_it(
    shell: Shell, corpus_name: str, echoing: str, tmp_path: Path
) -> None:
    closed = write(tmp_path, "closed", HTTP.format(name="closed", url=f"{echoing}/closed", tool="tell"))
    local = write(tmp_path, "local", STDIO.format(python=sys.executable))
    fixed = ("--corpus", corpus_name, "--endpoint", "sample", "--limit", "1", "--host", "oracle")
    for profile, told in ((closed, "HTTP 401 Unauthorized"), (local, "rejected: [redacted]")):
        root = tmp_path / profile.stem
        done = shell.okn("run", *fixed, "--out", root, "--tools", "all-tools", "--profile", profile, OKN_LOGIN=TOKEN)
        probed = shell.okn("probe", "--profile", profile, OKN_LOGIN=TOKEN)
        assert (done.returncode, probed.returncode) == (4, 4)
        assert TOKEN not in done.stdout + done.stderr + probed.stdout + probed.stderr
        assert told in done.stderr
        assert told in probed.stderr
        assert leaks(root) == []


def test_a_probe_shows_what_a_server_says_of_itself_without_it(shell: Shell, echoing: str, tmp_path: Path) -> None:
    profile = write(tmp_path, "echoing", HTTP.format(name="echoing", url=f"{echoing}/open", tool="tell"))
    for flags in ((), ("--json",)):
        done = shell.okn("probe", "--profile", profile, *flags, OKN_LOGIN=TOKEN)
        assert done.returncode == 0, done.stderr
        assert "you sent [redacted]" in done.stdout
        assert TOKEN not in done.stdout + done.stderr
