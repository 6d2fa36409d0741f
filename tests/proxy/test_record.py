"""``calls.json``: what an episode leaves for those who judge it."""

import hashlib
import os
from pathlib import Path

import pytest

from okn_benchmark.proxy.calllog import CallLog
from okn_benchmark.runs.readers import read_calls
from tests.proxy.promises import promise
from tests.proxy.talk import HELLO, Proxied, http, stdio_toy
from tests.proxy.toy_http import http_toy

QUERY = "# people\nPREFIX ex: <http://e/>\nSELECT ?s WHERE { ?s ?p ?o }"


@promise("record-is-complete")
@pytest.mark.parametrize("transport", ["stdio", "sse"])
def test_every_call_is_there(transport: str, tmp_path: Path) -> None:
    with http_toy() as server:
        proxied = Proxied(stdio_toy() if transport == "stdio" else http(server.url), tmp_path)
        proxied.hello()
        proxied.pages()
        for tool in ("echo", "iserror", "rpcerror", "rich", "echo"):
            proxied.call(tool, {"of": tool})
        proxied.submit()
        proxied.close()
    calls = read_calls((tmp_path / "calls.json").read_text(), "calls.json")
    assert [call.seq for call in calls.calls] == [1, 2, 3, 4, 5, 6]
    assert [call.tool for call in calls.calls] == ["echo", "iserror", "rpcerror", "rich", "echo", "submit_csv"]
    assert [call.ok for call in calls.calls] == [True, False, False, True, True, True]
    assert calls.calls[0].arguments == {"of": "echo"}
    assert calls.calls[1].error == "bad query"
    assert calls.calls[2].error == "backend on fire (code -32099)"
    assert calls.calls[0].response_chars == len('{"of": "echo"}')
    assert calls.calls[0].sha256 == hashlib.sha256(b'{"of": "echo"}\0').hexdigest()
    assert calls.calls[0].sha256 == calls.calls[4].sha256
    assert all(call.elapsed_s is not None and call.elapsed_s < 10 for call in calls.calls)
    assert all(call.started_at.endswith("Z") for call in calls.calls)
    metrics = calls.metrics
    assert metrics.tool_counts == {"echo": 2, "iserror": 1, "rpcerror": 1, "rich": 1, "submit_csv": 1}
    assert metrics.tools_called == tuple(call.tool for call in calls.calls)
    assert metrics.server_s == pytest.approx(sum(c.elapsed_s or 0 for c in calls.calls[:5]), abs=1e-6)
    assert metrics.instructions_chars == len("Toy instructions.")
    assert metrics.definition_chars is not None
    assert metrics.definition_chars > 1000
    assert metrics.response_chars == sum(call.response_chars for call in calls.calls[:5])
    assert calls.calls[5].response_chars > 20  # the receipt, which is no answer of the server
    assert calls.extra["session"]["client"] == HELLO["clientInfo"]
    assert calls.extra["session"]["server"]["name"] == "toy"
    assert calls.extra["settings"]["level"] == "all-tools"


@promise("record-is-complete")
def test_separators_inside_strings_cut_no_entry(tmp_path: Path) -> None:
    said = "a\u2028b\u0085c\u2029d\x0be\x1cf"
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    proxied.call("echo", {"s": said})
    proxied.close()
    assert [call["arguments"] for call in proxied.record()["calls"]] == [{"s": said}]


@promise("record-is-complete")
def test_a_second_listing_does_not_count_twice(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--pages"), tmp_path, withheld=("blob",))
    proxied.hello()
    proxied.pages()
    proxied.pages()
    proxied.close()
    events = proxied.events("listed")
    once = sum(size for event in events[:3] for size in event["shown"].values())
    assert proxied.record()["metrics"]["definition_chars"] == once
    assert "blob" not in {name for event in events for name in event["shown"]}
    assert "submit_csv" not in {name for event in events for name in event["shown"]}


@promise("queries-counted")
def test_queries_are_recognised_by_their_arguments(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    for arguments in (
        {"q": QUERY},
        {"deep": [{"x": ["ASK { ?s ?p ?o }"]}]},
        {"q": "select the best { of them"},
        {"q": "hello"},
    ):
        proxied.call("echo", arguments)
    proxied.call("iserror", {"q": QUERY})
    proxied.submit(f'a\n"{QUERY}"\n')
    proxied.close()
    record = proxied.record()
    assert [call["is_query"] for call in record["calls"]] == [True, True, False, False, True, False]
    assert record["metrics"]["queries_ok"] == 2
    assert record["metrics"]["queries_errored"] == 1


@promise("record-is-complete")
def test_a_log_that_cannot_be_written_does_not_stop_the_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    log = CallLog(tmp_path)
    log.event("begin")
    assert log._fd is not None
    readable = os.open(tmp_path / "calls.jsonl", os.O_RDONLY)
    os.dup2(readable, log._fd)  # writing to it fails now, as on a full disk
    os.close(readable)
    log.event("call", seq=1)
    log.event("call", seq=2)
    log.finish()
    assert capsys.readouterr().err.count("cannot be written") == 1
