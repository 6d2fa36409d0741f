"""What only a process can show: how it ends, what it loads, what it lets out."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from okn_benchmark.runs.call_events import compile_calls, read_events
from tests.proxy.process import PROXY, Process, calls_json, gone, write_profile
from tests.proxy.promises import promise
from tests.proxy.talk import HELLO, TOY
from tests.proxy.toy_http import http_toy

EXIT_S = 5.0
STUBBORN = {"well-behaved": (), "ignores EOF": ("--ignore-eof",), "ignores both": ("--ignore-eof", "--ignore-term")}


@promise("ends-in-time")
@pytest.mark.parametrize("flags", STUBBORN.values(), ids=STUBBORN)
@pytest.mark.parametrize("how", ["EOF", "SIGTERM", "SIGINT"])
def test_it_ends_with_everything_it_started(how: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    proxy = Process(["--profile", str(write_profile(tmp_path, *flags)), "--log", str(tmp_path / "log")])
    proxy.hello()
    proxy.submit()
    proxy.ask_call("hang")
    proxy.call("blob")
    family = proxy.family()
    assert family
    if how == "EOF":
        proxy.close_input()
    else:
        proxy.signal(signal.Signals[how])
    code, took, _ = proxy.ended(EXIT_S + 1)
    assert took < EXIT_S
    assert code == 0
    assert gone(family)
    record = calls_json(tmp_path / "log")
    assert [call["tool"] for call in record["calls"]] == ["submit_csv", "hang", "blob"]
    assert record["calls"][1]["error"] == "no reply was recorded"
    assert record["ended"] == ("end of input" if how == "EOF" else how)


@promise("ends-in-time")
def test_it_ends_when_http_hangs(tmp_path: Path) -> None:
    with http_toy(fault="hang-before-headers") as server:
        path = tmp_path / "p.toml"
        path.write_text(f'name = "toy"\n[upstream]\ntransport = "http"\nurl = "{server.url}"\n')
        proxy = Process(["--profile", str(path), "--log", str(tmp_path / "log")])
        proxy.hello()
        proxy.ask_call("echo")
        proxy.call("blob")
        code, took, _ = proxy.close()
        assert (code, took < EXIT_S) == (0, True)


@promise("ends-in-time")
def test_grandchildren_end_too(tmp_path: Path) -> None:
    script = "import subprocess,sys; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"
    profile = write_profile(tmp_path, "--ignore-eof", command=[sys.executable, "-c", script, TOY[1]])
    proxy = Process(["--profile", str(profile)])
    proxy.hello()
    family = proxy.family()
    assert len(family) == 2
    code, took, _ = proxy.close()
    assert (code, took < EXIT_S) == (0, True)
    assert gone(family)


@promise("ends-in-time")
def test_it_ends_when_nobody_reads_its_output(tmp_path: Path) -> None:
    proxy = subprocess.Popen(
        [*PROXY, "--profile", str(write_profile(tmp_path))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert proxy.stdin is not None
    assert proxy.stdout is not None
    proxy.stdout.close()
    proxy.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode() + b"\n")
    proxy.stdin.flush()
    assert proxy.wait(EXIT_S) == 0
    proxy.stdin.close()


@promise("killed-leaves-nothing", "record-survives-a-kill")
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's alone")
def test_a_killed_proxy_leaves_no_server_and_a_log_that_compiles(tmp_path: Path) -> None:
    proxy = Process(["--profile", str(write_profile(tmp_path, "--ignore-eof")), "--log", str(tmp_path)])
    proxy.hello()
    proxy.call("soft")
    proxy.ask_call("hang")
    proxy.call("blob")
    proxy.rpc("ping")  # an answer goes out before it is entered, and is entered before anything else is done
    family = proxy.family()
    proxy.signal(signal.SIGKILL)
    proxy.ended(EXIT_S)
    assert gone(family)
    assert not (tmp_path / "calls.json").exists()
    calls = compile_calls(read_events((tmp_path / "calls.jsonl").read_text()))
    assert calls.metrics.tools_called == ("soft", "hang", "blob")
    assert [call.ok for call in calls.calls] == [True, False, True]


@promise("small-imports")
@pytest.mark.parametrize("level", ["stdio", "http", "sparql-only"])
def test_what_is_loaded(level: str, tmp_path: Path) -> None:
    with http_toy() as server:
        path = write_profile(tmp_path)
        if level == "http":
            path.write_text(f'name = "toy"\n[upstream]\ntransport = "http"\nurl = "{server.url}"\n')
        arguments = ["--profile", str(path)] if level != "sparql-only" else ["--level", level, "--endpoint", server.url]
        loaded = tmp_path / "loaded"
        # The module is run as ``-m`` runs it, and what it has loaded by its end is written down.
        script = (
            "import os, runpy, sys, pathlib\n"
            "leave = os._exit\n"
            f"os._exit = lambda code: (pathlib.Path({str(loaded)!r}).write_text(' '.join(sys.modules)), leave(code))\n"
            "runpy.run_module('okn_benchmark.proxy', run_name='__main__', alter_sys=True)\n"
        )
        opening = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n"
        subprocess.run([sys.executable, "-P", "-c", script, *arguments], input=opening.encode(), timeout=20, check=True)
    roots = {name.partition(".")[0] for name in loaded.read_text().split()}
    heavy = {"mcp", "mcp_types", "pandas", "numpy", "scipy", "typer", "click", "pydantic", "yaml", "pyoxigraph"}
    assert (
        roots & (heavy | {"matplotlib", "jinja2", "starlette", "anyio"} - ({"anyio"} if level == "http" else set()))
        == set()
    )
    assert ("httpx2" in roots) is (level == "http")
    assert ("asyncio" in roots) is (level == "http")


@promise("secrets-stay-out")
def test_values_of_env_stay_out_even_when_echoed(tmp_path: Path) -> None:
    secret, log = "s3cr3t-value-of-env", tmp_path / "log"
    script = (
        "import json, os, sys\n"
        "print('starting with', os.environ['TOKEN'], file=sys.stderr, flush=True)\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m['method'] == 'initialize':\n"
        "        r = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'instructions': os.environ['TOKEN']}\n"
        "    else:\n"
        "        r = {'content': [{'type': 'text', 'text': 'no ' + os.environ['TOKEN']}], 'isError': True}\n"
        "    if m['method'] == 'die': sys.exit('died of ' + os.environ['TOKEN'])\n"
        "    if 'id' in m: print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n"
    )
    profile = write_profile(
        tmp_path, lines=['env = { TOKEN = "${TEST_SECRET}" }'], command=[sys.executable, "-c", script]
    )
    proxy = Process(["--profile", str(profile), "--log", str(log)], env={"TEST_SECRET": secret})
    proxy.hello()
    proxy.call("echo", {"given": secret})
    proxy.notify("die")
    proxy.rpc("anything")
    arguments = [" ".join(p.cmdline()) for p in proxy.family()] + [" ".join(proxy.argv)]
    _, _, said = proxy.close()
    written = [path.read_text() for path in log.iterdir()]
    assert [text for text in [*written, *arguments, said] if secret in text] == []
    assert "starting with [redacted]" in said
    record = calls_json(log)
    assert record["calls"][0]["error"] == "no [redacted]"
    assert record["metrics"]["lost_upstream"].endswith("died of [redacted]")


@promise("secrets-stay-out")
def test_values_of_headers_stay_out_and_reach_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with http_toy(fault="dropped") as server:
        path = tmp_path / "p.toml"
        lines = ['name = "toy"', "[upstream]", 'transport = "http"', f'url = "{server.url}?key=u-s3cret-1"']
        path.write_text("\n".join([*lines, 'headers = { Authorization = "Bearer ${TEST_SECRET}" }', ""]))
        proxy = Process(["--profile", str(path), "--log", str(log)], env={"TEST_SECRET": "h-s3cret-2"})
        proxy.hello()
        proxy.call("echo", {"a": "h-s3cret-2"})
        _, _, said = proxy.close()
        assert {seen.headers.get("authorization") for seen in server.requests} == {"Bearer h-s3cret-2"}
    texts = [*(file.read_text() for file in log.iterdir()), said, " ".join(proxy.argv)]
    assert [text for text in texts if "s3cret" in text] == []


@promise("small-environment")
def test_what_a_child_gets(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, lines=['env = { OWN = "${HOME}/x" }'])
    inherited = {"ANTHROPIC_API_KEY": "key", "CLAUDE_CODE_X": "1", "LC_TIME": "C", "PYTHONPATH": "/nowhere"}
    proxy = Process(["--profile", str(profile)], env=inherited)
    proxy.hello()
    got = json.loads(proxy.call("environment")["result"]["content"][0]["text"])
    proxy.close()
    allowed = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "OWN", "LC_TIME", "LC_CTYPE"}
    assert set(got) <= allowed | {name for name in got if name.startswith("LC_")}
    assert got["OWN"] == f"{os.environ['HOME']}/x"
    assert got["PATH"] == os.environ["PATH"]


@promise("stdout-is-clean")
def test_a_chatty_server_does_not_reach_stdout(tmp_path: Path) -> None:
    script = (
        "import runpy, sys\n"
        "sys.stderr.write('noise ' * 2000 + chr(10)); sys.stderr.flush()\n"
        f"sys.argv = ['toy']; runpy.run_path({TOY[1]!r}, run_name='__main__')\n"
    )
    proxy = Process(["--profile", str(write_profile(tmp_path, command=[sys.executable, "-c", script]))])
    assert "result" in proxy.hello()
    _, _, said = proxy.close()
    assert "noise noise" in said


@promise("any-stdin")
@pytest.mark.parametrize("kind", ["file", "null", "pipe"])
def test_kinds_of_stdin(kind: str, tmp_path: Path) -> None:
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}]
    lines += [
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "submit_csv", "arguments": {"csv": "a"}}}
    ]
    source = tmp_path / "in"
    # Without a newline at its end, as an editor may leave it.
    source.write_text("\n".join(map(json.dumps, lines)))
    argv = [*PROXY, "--profile", str(write_profile(tmp_path))]
    if kind == "pipe":
        done = subprocess.run(argv, input=source.read_bytes(), capture_output=True, timeout=20)
    else:
        with (source if kind == "file" else Path(os.devnull)).open("rb") as stdin:
            done = subprocess.run(argv, stdin=stdin, capture_output=True, timeout=20)
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == ([] if kind == "null" else [1, 2])


@promise("startup-told-apart")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--profile", "nowhere.toml"], 2, "cannot be read"),
        ([], 2, "needs --profile"),
        (["--profile", "toy.toml", "--without-tool", "submit_csv"], 2, "cannot be withheld"),
        (["--profile", "toy.toml", "--arm", "x.toml"], 2, "arm file x.toml cannot be read"),
        (["--profile", "toy.toml", "--timeout", "0"], 2, "above 0"),
        (["--level", "sparql-only", "--without-tool", "x"], 2, "no meaning"),
        (["--nonsense"], 2, "unrecognized"),
    ],
)
def test_settings_that_cannot_be_meant(arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    write_profile(tmp_path)
    done = subprocess.run(
        [*PROXY, *arguments, "--log", "log"], cwd=tmp_path, capture_output=True, timeout=20, stdin=subprocess.DEVNULL
    )
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert done.stdout == b""
    if b"usage:" not in done.stderr:
        assert said in calls_json(tmp_path / "log")["metrics"]["startup_error"]


@promise("small-imports")
def test_a_module_in_the_current_folder_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the scratch folder was imported')")
    proxy = Process(["--profile", str(write_profile(tmp_path))], cwd=tmp_path)
    assert "result" in proxy.hello()
    proxy.close()
