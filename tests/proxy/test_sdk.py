"""Independent clients and servers: both generations of the SDK, and what an HTTP server sees of us."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.process import PROXY, write_profile
from tests.proxy.promises import promise
from tests.proxy.toy_http import HttpToy, Seen, http_toy

HERE = Path(__file__).parent
CLIENT, SERVER = str(HERE / "sdk_client.py"), str(HERE / "sdk_server.py")


def old_python() -> str:
    """A Python with mcp 1.x: ``$OKN_BENCHMARK_MCP1``."""
    found = os.environ.get("OKN_BENCHMARK_MCP1")
    if not found or not Path(found).exists():
        pytest.skip("OKN_BENCHMARK_MCP1 names no Python with mcp 1.x")
    return found


def run_client(python: str, mode: str, target: Any) -> dict[str, Any]:
    """What an SDK client saw of ``target`` (a URL or a command)."""
    done = subprocess.run(
        [python, CLIENT, mode, json.dumps(target)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@contextmanager
def sdk_server(python: str, kind: str, folder: Path) -> Iterator[Path]:
    """A profile for an SDK server, running for as long as the block does where it is an HTTP one."""
    path = write_profile(folder, command=[python, SERVER])
    if kind == "stdio":
        yield path
        return
    server = subprocess.Popen([python, SERVER, kind], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with server.stdout as said:
        url = said.readline().strip()
        path.write_text(f'name = "sdk"\n[upstream]\ntransport = "http"\nurl = "{url}"\n')
        yield path
        server.terminate()
        server.wait(10)


def _pairs() -> list[Any]:
    kinds = ("stdio", "sse", "json", "stateless")
    clients = [("new", "auto"), ("new", "legacy"), ("old", "-")]
    pairs = [(c, mode, s, kind) for c, mode in clients for s in ("new", "old") for kind in kinds]
    return [pytest.param(*pair, id="-".join(pair)) for pair in pairs]


@promise("old-and-new-sdks", "both-eras")
@pytest.mark.parametrize(("client", "mode", "server", "kind"), _pairs())
def test_every_pairing(client: str, mode: str, server: str, kind: str, tmp_path: Path) -> None:
    pythons = {"new": sys.executable, "old": old_python() if "old" in {client, server} else ""}
    with sdk_server(pythons[server], kind, tmp_path) as profile:
        got = run_client(pythons[client], mode, [*PROXY, "--profile", str(profile)])
    assert got["tools"] == ["blob", "structured", "submit_csv"]
    assert got["length"] == 7
    assert got["structured"] == {"n": 42}
    assert got["submitted"] == "Accepted: 1 row; columns: a."
    assert got["instructions"] == "SDK server instructions."
    both_new = client == server == "new"
    assert (got["version"] == "2026-07-28") is (both_new and mode == "auto")


BY_NATURE = {"host", "user-agent", "content-length", "accept-encoding"}
"""Which program calls, and over which connection; everything else must not differ."""


def heard(server: HttpToy) -> list[tuple[str, dict[str, str], Any]]:
    """What the server was told: bodies, and the headers that say something about the protocol."""
    return sorted((_told(seen) for seen in server.requests), key=lambda told: json.dumps(told, sort_keys=True))


def _told(seen: Seen) -> tuple[str, dict[str, str], Any]:
    told = {
        k: v for k, v in seen.headers.items() if k not in {"host", "user-agent", "content-length", "accept-encoding"}
    }
    return seen.method, told, seen.body


@promise("same-requests-upstream", "capabilities-pass")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
@pytest.mark.parametrize("kind", ["sse", "json"])
def test_an_http_server_cannot_tell(mode: str, kind: str, tmp_path: Path) -> None:
    told = []
    for through in (False, True):
        with http_toy(kind=kind, session="s-1" if mode == "legacy" else None) as server:
            profile = tmp_path / "p.toml"
            profile.write_text(f'name = "toy"\n[upstream]\ntransport = "http"\nurl = "{server.url}"\n')
            target: Any = [*PROXY, "--profile", str(profile)] if through else server.url
            done = run_client(sys.executable, mode + "-plain", target)
            assert done["echoed"] == '{"a": 1.5}'
            told.append(heard(server))
    direct, proxied = told
    assert proxied == direct
