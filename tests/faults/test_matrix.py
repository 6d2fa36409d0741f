"""Whatever an upstream does to a call, the agent gets an answer it can act on and keeps its answer channel."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from okn_benchmark.profile import StdioUpstream
from tests.proxy.promises import promise
from tests.proxy.talk import Json, Proxied, http, stdio_toy
from tests.proxy.toy_http import http_toy

SUBMIT_MS = 100.0
EXIT_S = 5.0


@dataclass(frozen=True)
class Fault:
    """One way to fail: where, what the agent reads of it, what the record says, and whether the session goes on."""

    name: str
    transport: str
    said: str
    tool: str = "echo"
    http_status: int | None = None
    lost: bool = False
    during: bool = False
    call_timeout_s: float = 10.0


FAULTS = (
    Fault("hang", "stdio", "gave no result within", tool="hang", during=True, call_timeout_s=1.0),
    Fault("kill", "stdio", "was ended by SIGKILL", tool="die", lost=True),
    Fault("exit", "stdio", "exit code 3: toy: leaving on purpose", tool="exit", lost=True),
    Fault("oversize", "stdio", "over the limit", tool="shout"),
    Fault("hang-before-headers", "http", "gave no result within", during=True, call_timeout_s=1.0),
    Fault("hang-after-headers", "http", "gave no result within", during=True, call_timeout_s=1.0),
    Fault("dropped", "http", "dropped the connection"),
    Fault("429", "http", "HTTP 429 Too Many Requests: slow down", http_status=429),
    Fault("429-retry", "http", "asks to wait 7", http_status=429),
    Fault("500", "http", "HTTP 500 Internal Server Error: boom", http_status=500),
    Fault("404", "http", "no longer knows the session", lost=True),
    Fault("html", "http", "text/html"),
    Fault("202", "http", "HTTP 202 without a reply", http_status=202),
    Fault("truncated", "http", "no JSON-RPC message"),
    Fault("other-id", "http", "for another request"),
    Fault("sse-ends", "http", "ended before the reply"),
    Fault("sse-ends-after-id", "http", "ended before the reply"),
    Fault("sse-cut", "http", "broke off"),
    Fault("oversize", "http", "over the limit"),
)


@contextmanager
def failing(fault: Fault, log_dir: Path) -> Iterator[Proxied]:
    """A proxy in front of a server that fails so, opened and listed."""
    settings: dict[str, Any] = {"call_timeout_s": fault.call_timeout_s, "message_bound": 2_000_000}
    before = set(psutil.Process().children(recursive=True))
    with http_toy(fault=fault.name) as server:
        upstream = stdio_toy() if fault.transport == "stdio" else http(server.url)
        proxied = Proxied(upstream, log_dir, **settings)
        proxied.hello()
        proxied.pages()
        yield proxied
        started = time.monotonic()
        proxied.close(EXIT_S)
        assert time.monotonic() - started < EXIT_S
    assert set(psutil.Process().children(recursive=True)) <= before


@promise("failed-call-is-an-answer", "submit-always-answers", "ends-in-time", "oversize-dropped")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.transport}-{f.name}")
def test_a_fault(fault: Fault, tmp_path: Path) -> None:
    with failing(fault, tmp_path) as proxied:
        started = time.monotonic()
        call = proxied.ask_call(fault.tool, {"n": 3_000_000})
        if fault.during:
            assert proxied.submit_ms() < SUBMIT_MS
        reply = proxied.reply(call)["result"]
        assert reply["isError"] is True
        assert fault.said in reply["content"][0]["text"]
        assert time.monotonic() - started < fault.call_timeout_s + 4
        assert proxied.submit_ms() < SUBMIT_MS
        after = proxied.call("blob", {"n": 3})["result"]
        assert after.get("isError", False) is fault.lost
        assert ("will not come back" in after["content"][0]["text"]) is fault.lost
        assert proxied.submit_ms() < SUBMIT_MS
    record = proxied.record()
    entry = next(c for c in record["calls"] if c["tool"] == fault.tool)
    assert entry["ok"] is False
    assert entry["error"]
    assert entry["timed_out"] is fault.during
    assert entry["elapsed_s"] is not None
    assert entry.get("http_status") == fault.http_status
    assert entry.get("retry_after") == ("7" if fault.name == "429-retry" else None)
    metrics = record["metrics"]
    assert metrics["startup_error"] is None
    assert (metrics["lost_upstream"] is not None) is fault.lost
    assert metrics["submissions_rejected"] == 0


@promise("errors-pass")
def test_a_json_rpc_error_under_an_http_status_is_the_answer(tmp_path: Path) -> None:
    with http_toy(fault="400-rpc") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        call = proxied.ask_call("echo")
        expected = {"code": -32602, "message": "bad header", "data": 1}
        assert proxied.reply(call) == {"jsonrpc": "2.0", "id": call, "error": expected}
        proxied.close()


@promise("timeout-bounds-a-call")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_an_abandoned_call_is_told_upstream_and_its_late_answer_dropped(transport: str, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    with http_toy() as server:
        upstream = stdio_toy("--seen", str(seen)) if transport == "stdio" else http(server.url)
        proxied = Proxied(upstream, tmp_path, call_timeout_s=0.5)
        proxied.hello()
        call = proxied.ask_call("hang")
        assert "0.5 s" in proxied.reply(call)["result"]["content"][0]["text"]
        proxied.call("release")
        proxied.close()
        told = seen.read_text() if transport == "stdio" else str([s.body for s in server.requests])
    assert "notifications/cancelled" in told
    assert json_ids(proxied) == sorted(set(json_ids(proxied)))
    if transport == "stdio":
        assert proxied.record()["traffic"]["late_or_unknown_replies"] == 1


def json_ids(proxied: Proxied) -> list[str]:
    """Every id that was answered, as often as it was."""
    return sorted(entry for entry in proxied.order if entry.isdigit())


@promise("breaker-opens", "lost-is-told")
def test_three_failures_end_it_and_the_fourth_call_touches_nothing(tmp_path: Path) -> None:
    with http_toy(fault="500") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        proxied.pages()
        for _ in range(3):
            assert proxied.call("echo")["result"]["isError"]
        before = len(server.requests)
        refused = proxied.call("blob")["result"]
        assert refused["isError"]
        assert "3 calls in a row failed" in refused["content"][0]["text"]
        assert proxied.rpc("ping")["result"] == {}
        assert "blob" in proxied.tool_names()
        assert not proxied.submit()["isError"]
        assert len(server.requests) == before
        assert proxied.close() == 0
    metrics = proxied.record()["metrics"]
    assert metrics["breaker_opened"] is True
    assert "HTTP 500" in metrics["lost_upstream"]


@promise("breaker-resets")
def test_any_answer_resets_the_count(tmp_path: Path) -> None:
    with http_toy(fault="500") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        for resetting in ("blob", "iserror", "rpcerror"):
            for tool in ("echo", "echo", resetting):
                proxied.call(tool)
        assert not proxied.call("blob")["result"].get("isError")
        proxied.close()
    assert proxied.record()["metrics"]["breaker_opened"] is False


@promise("breaker-opens")
def test_timeouts_count(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path, call_timeout_s=0.2)
    proxied.hello()
    for _ in range(3):
        proxied.call("hang")
    assert "will not come back" in proxied.call("blob")["result"]["content"][0]["text"]
    proxied.close()


@promise("one-drop-one-call")
def test_a_dropped_connection_costs_one_call(tmp_path: Path) -> None:
    with http_toy(fault="dropped") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        calls = [(tool, proxied.ask_call(tool)) for tool in ("blob", "echo", "rich", "blob")]
        failed = [tool for tool, call in calls if proxied.reply(call)["result"].get("isError")]
        assert failed == ["echo"]
        proxied.close()


@promise("http-resumes")
def test_a_broken_stream_is_resumed_by_its_last_event(tmp_path: Path) -> None:
    with http_toy(fault="resumes") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        assert proxied.call("echo")["result"]["resumed"] is True
        proxied.close()
        assert "e1" in [seen.headers.get("last-event-id") for seen in server.requests]
    assert proxied.record()["traffic"]["resumed_streams"] == 1


@promise("slow-is-not-dead")
def test_a_slow_stream_with_comments_arrives(tmp_path: Path) -> None:
    with http_toy(fault="slow") as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        assert proxied.call("echo")["result"]["content"][0]["text"] == "slow"
        proxied.close()


@promise("slow-is-not-dead")
def test_no_limit_of_the_http_library_lies_below_the_call_timeout() -> None:
    from okn_benchmark.proxy.http_wire import open_blocking

    client = open_blocking("http://127.0.0.1:9/", {}, timeout_s=120.0)
    assert client.timeout.read > 120
    assert client.timeout.pool is None
    client.close()


@promise("redirects-stay-home")
@pytest.mark.parametrize(("path", "works"), [("moved", True), ("elsewhere", False), ("changed", False)])
def test_redirects(path: str, works: bool, tmp_path: Path) -> None:
    with http_toy() as server:
        proxied = Proxied(http(server.url.replace("/mcp", f"/{path}"), {"Authorization": "Bearer s3cret"}), tmp_path)
        opened = proxied.hello()
        assert ("result" in opened) is works
        if not works:
            assert "redirect" in opened["error"]["message"]
            assert proxied.ended() == 4
        else:
            proxied.close()


@promise("junk-counted")
def test_junk_on_stdout_reaches_nobody(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--junk"), tmp_path)
    proxied.hello()
    proxied.send_raw(b"hello?\n\n[]\n{}\n")
    assert proxied.call("blob", {"n": 1})["result"]["content"][0]["text"] == "x"
    proxied.close()
    traffic = proxied.record()["traffic"]
    assert traffic["junk_lines"] == 5
    assert traffic["junk_lines_from_host"] == 3


@promise("oversize-dropped")
def test_a_host_message_over_the_bound_is_answered_by_its_id(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path, message_bound=100_000)
    proxied.hello()
    call = proxied.ask_call("echo", {"big": "y" * 200_000})
    assert "too large" in proxied.reply(call)["error"]["message"]
    assert proxied.call("blob")["result"]
    proxied.close()


@promise("lost-is-told", "startup-told-apart")
def test_everybody_who_waits_is_told_when_the_upstream_is_lost(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    waiting = [proxied.ask_call("hang") for _ in range(3)]
    proxied.ask_call("die")
    for call in waiting:
        assert "submit_csv still works" in proxied.reply(call)["result"]["content"][0]["text"]
    assert proxied.rpc("resources/list")["error"]["code"] == -32000
    assert proxied.close() == 0
    metrics = proxied.record()["metrics"]
    assert metrics["lost_upstream"] == "the server process was ended by SIGKILL"
    assert metrics["startup_error"] is None


def nothing_listens() -> Any:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return http(f"http://127.0.0.1:{held.getsockname()[1]}/mcp")


STARTS: tuple[tuple[str, Callable[[], Any], str], ...] = (
    (
        "no such command",
        lambda: StdioUpstream(command="no-such-command-anywhere"),
        "could not be started: No such file",
    ),
    ("exits at once", lambda: stdio_toy("--exit", "3"), "exit code 3: toy: cannot start"),
    ("never answers", lambda: stdio_toy("--mute"), "did not answer its first request within 0.8 s"),
    ("nothing listens", nothing_listens, "no connection could be made"),
)


@promise("startup-told-apart", "startup-in-time", "submit-always-answers")
@pytest.mark.parametrize(("upstream", "said"), [row[1:] for row in STARTS], ids=[row[0] for row in STARTS])
def test_a_server_that_never_starts(upstream: Callable[[], Any], said: str, tmp_path: Path) -> None:
    started = time.monotonic()
    proxied = Proxied(upstream(), tmp_path, start_timeout_s=0.8)
    opened: Json = proxied.rpc("initialize", {"protocolVersion": "2025-11-25"})
    assert said in opened["error"]["message"]
    assert proxied.ended() == 4
    assert time.monotonic() - started < EXIT_S
    metrics = proxied.record()["metrics"]
    assert said in metrics["startup_error"]
    assert metrics["lost_upstream"] is None


@promise("startup-told-apart")
@pytest.mark.parametrize("fault", ["initialize-500", "initialize-429", "initialize-dropped", "initialize-html"])
def test_an_http_server_that_refuses_to_open(fault: str, tmp_path: Path) -> None:
    with http_toy(fault=fault) as server:
        proxied = Proxied(http(server.url), tmp_path)
        assert "error" in proxied.rpc("initialize", {"protocolVersion": "2025-11-25"})
        assert proxied.ended() == 4
    assert proxied.record()["metrics"]["startup_error"]


@promise("startup-told-apart", "both-eras")
def test_a_discovery_that_fails_lets_the_host_try_the_handshake(tmp_path: Path) -> None:
    with http_toy() as server:
        server.fault = "initialize-404"
        server.session = None
        proxied = Proxied(http(server.url), tmp_path)
        refused = proxied.rpc("server/discover", {}, request_id="d")
        assert refused["error"]["code"] == -32601
        server.fault = ""
        assert "result" in proxied.hello()
        assert proxied.close() == 0
    assert proxied.record()["metrics"]["startup_error"] is None


@promise("startup-told-apart")
def test_a_host_that_leaves_before_the_first_answer(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--mute"), tmp_path)
    proxied.ask("initialize", {"protocolVersion": "2025-11-25"})
    assert proxied.close() == 4
    assert "end of input" in proxied.record()["metrics"]["startup_error"]


@promise("failed-call-is-an-answer")
@pytest.mark.parametrize("transport", ["stdio", "sse", "json"])
def test_large_answers_arrive_whole(transport: str, tmp_path: Path) -> None:
    with http_toy(kind=transport) as server:
        proxied = Proxied(stdio_toy() if transport == "stdio" else http(server.url), tmp_path)
        proxied.hello()
        for size in (2_000_000, 10_000_000):
            assert proxied.call("blob", {"n": size})["result"]["content"][0]["text"] == "x" * size
        proxied.close()
    assert [call["response_chars"] for call in proxied.record()["calls"]] == [2_000_000, 10_000_000]
