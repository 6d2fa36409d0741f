"""The product as a shell sees it: one command, a cache with truth in it, a profile of the sample server."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

OKN = Path(sys.executable).with_name("okn-benchmark")
CHECKOUT = Path(__file__).resolve().parent.parent.parent

PROFILE = """\
name = "sample"

[upstream]
transport = "stdio"
command = "{python}"
args = ["-P", "-m", "okn_benchmark", "sample-server", "--log", "{log}"]

[oracle]
tool = "run_query"
arguments = {{ query = "{{query}}" }}
reply = "sparql-json"
"""

DEAD = """\
name = "dead"

[upstream]
transport = "stdio"
command = "no-such-command-anywhere"

[oracle]
tool = "run_query"
arguments = { query = "{query}" }
reply = "sparql-json"
"""

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Shell:
    """Runs our command in the checkout, with its own cache and home."""

    cache: Path

    def okn(self, *arguments: str | Path, cwd: Path = CHECKOUT, timeout_s: float = 100, **env: str) -> Done:
        """One command to its end; nothing is raised for its exit code."""
        kept = {k: v for k, v in os.environ.items() if k not in ("OKN_BENCHMARK_ENDPOINT", "OKN_BENCHMARK_CLAUDE")}
        kept |= {"XDG_CACHE_HOME": str(self.cache), "NO_COLOR": "1", "PYTHONUTF8": "1", **env}
        argv = [str(OKN), *map(str, arguments)]
        return subprocess.run(argv, cwd=cwd, env=kept, capture_output=True, text=True, timeout=timeout_s)


@pytest.fixture(scope="session")
def corpus_name() -> str:
    """One of the bundled corpora."""
    from okn_benchmark.corpus.source import bundled_names

    return bundled_names()[0]


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory, corpus_name: str) -> Shell:
    """A shell whose cache holds the truth of the first bundled corpus on the sample graphs."""
    made = Shell(tmp_path_factory.mktemp("cache"))
    done = made.okn("reference", "--corpus", corpus_name, "--endpoint", "sample")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The sample server over stdio, with a log of what reaches it at ``server.log`` beside the profile."""
    path = tmp_path / "sample.toml"
    path.write_text(PROFILE.format(python=sys.executable, log=tmp_path / "server.log"), encoding="utf-8")
    return path


@pytest.fixture
def dead_profile(tmp_path: Path) -> Path:
    """A server that does not exist."""
    path = tmp_path / "dead.toml"
    path.write_text(DEAD, encoding="utf-8")
    return path


Run = Callable[..., Done]


@pytest.fixture
def run(shell: Shell, corpus_name: str, tmp_path: Path) -> Run:
    """``run`` with the oracle on the sample graphs into ``tmp_path/root``; two questions unless told otherwise."""

    def go(*arguments: str | Path, limit: int = 2, out: Path = tmp_path / "root") -> Done:
        fixed = ("--corpus", corpus_name, "--host", "oracle", "--endpoint", "sample", "--out", out)
        return shell.okn("run", *fixed, "--limit", str(limit), *arguments)

    return go
