"""The same conversations direct and through the proxy, over stdio and HTTP: what arrives must be the same."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.promises import promise
from tests.proxy.talk import HELLO, MODERN_META, Direct, DirectHttp, Json, Proxied, http, stdio_toy
from tests.proxy.toy_http import http_toy

TRANSPORTS = ("stdio", "json", "sse")
CALLS: tuple[tuple[str, Json], ...] = (
    ("echo", {"s": "ü\u2028\ud83d\ude00", "f": 1.0, "deep": [{"a": None}]}),
    ("blob", {"n": 20_000}),
    ("soft", {}),
    ("iserror", {}),
    ("rich", {}),
    ("structured", {}),
    ("mismatched", {}),
    ("nosuch", {}),
)


@contextmanager
def both(transport: str, tmp_path: Path, *flags: str) -> Iterator[tuple[Any, Proxied]]:
    """A direct client and a proxied one, each with a server of its own."""
    if transport == "stdio":
        direct, proxied = Direct(stdio_toy(*flags)), Proxied(stdio_toy(*flags), tmp_path)
        yield direct, proxied
        direct.close()
    else:
        with http_toy(kind=transport) as one, http_toy(kind=transport) as two:
            proxied = Proxied(http(two.url), tmp_path)
            yield DirectHttp(one.url), proxied
    proxied.close()


def without_submit(pages: list[Json]) -> list[Json]:
    """Pages without any ``submit_csv``: the toy has one of its own, which is never shown."""
    return [{**page, "tools": [t for t in page["tools"] if t["name"] != "submit_csv"]} for page in pages]


@promise("initialize-passes", "capabilities-pass")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_opening_is_the_same(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (direct, proxied):
        assert proxied.hello() == direct.hello()
    opened = proxied.events("opened")[0]
    assert opened["client_capabilities"] == HELLO["capabilities"]
    assert opened["protocol_version"] == "2025-11-25"
    assert opened["era"] == "handshake"


@promise("capabilities-pass")
def test_the_upstream_reads_what_the_host_wrote(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    proxied = Proxied(stdio_toy("--seen", str(seen)), tmp_path)
    written = (
        json.dumps({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": HELLO}, indent=None).encode() + b"\n"
    )
    proxied.send_raw(written)
    proxied.reply("a")
    proxied.close()
    assert seen.read_bytes() == written


@promise("lists-pass")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_lists_are_the_same(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (direct, proxied):
        direct.hello()
        proxied.hello()
        assert without_submit(proxied.pages()) == without_submit(direct.pages())
        assert proxied.rpc("resources/list", {}) == direct.rpc("resources/list", {})


@promise("lists-pass")
def test_pages_stay_pages(tmp_path: Path) -> None:
    with both("stdio", tmp_path, "--pages") as (direct, proxied):
        direct.hello()
        proxied.hello()
        theirs, ours = direct.pages(), proxied.pages()
        assert len(ours) == len(theirs) == 3
        assert without_submit(ours) == without_submit(theirs)


@promise("calls-pass", "errors-pass")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_calls_are_the_same(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (direct, proxied):
        direct.hello()
        proxied.hello()
        for tool, arguments in (*CALLS, ("rpcerror", {})):
            assert proxied.call(tool, arguments) == direct.call(tool, arguments), tool
        for method in ("prompts/get", "no/such/method"):
            assert proxied.rpc(method, {}) == direct.rpc(method, {})


@promise("calls-pass")
def test_answers_are_the_same_bytes(tmp_path: Path) -> None:
    with both("stdio", tmp_path) as (direct, proxied):
        direct.hello()
        proxied.hello()
        for tool, arguments in CALLS:
            theirs = direct.raw_reply(direct.ask_call(tool, arguments))
            assert proxied.raw_reply(proxied.ask_call(tool, arguments)) == theirs


@promise("ids-are-opaque")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_ids_of_two_types_are_two_ids(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (_, proxied):
        proxied.hello()
        for request_id in (71, "71", "", "ü", -3):
            params = {"name": "echo", "arguments": {"id": request_id}}
            proxied.ask("tools/call", params, request_id=request_id)
        for request_id in (-3, "ü", "", "71", 71):
            reply = proxied.reply(request_id)
            assert reply["id"] == request_id
            assert type(reply["id"]) is type(request_id)
            assert json.loads(reply["result"]["content"][0]["text"]) == {"id": request_id}


@promise("progress-passes")
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("tool", ["progress", "log"])
def test_notifications_come_in_order_before_the_answer(transport: str, tool: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (direct, proxied):
        direct.hello()
        proxied.hello()
        meta = {"progressToken": "tok-1"}
        assert proxied.call(tool, {}, meta) == direct.call(tool, {}, meta)
        assert proxied.others == direct.others
        assert len(proxied.others) == 3
        assert proxied.order[-4:-1] == [proxied.others[0]["method"]] * 3


@promise("server-requests-pass")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_question_of_the_server_is_answered_by_the_host(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (_, proxied):
        proxied.hello()
        call = proxied.ask_call("ask")
        question = proxied.other("roots/list")
        roots = {"roots": [{"uri": "file:///r", "vendor": 1.0}]}
        proxied.send({"jsonrpc": "2.0", "id": question["id"], "result": roots})
        assert json.loads(proxied.reply(call)["result"]["content"][0]["text"]) == roots


@promise("list-changed-passes")
@pytest.mark.parametrize("transport", ["stdio", "sse"])
def test_list_changed_arrives(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (_, proxied):
        proxied.hello()
        proxied.call("changed")
        assert proxied.other("notifications/tools/list_changed")
    assert proxied.record()["traffic"]["server notification notifications/tools/list_changed"] == 1


@promise("list-changed-passes")
def test_the_stream_for_what_a_server_says_on_its_own_is_open(tmp_path: Path) -> None:
    with http_toy() as server:
        proxied = Proxied(http(server.url), tmp_path)
        proxied.hello()
        server.push({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        assert proxied.other("notifications/tools/list_changed")
        proxied.close()
        get = next(seen for seen in server.requests if seen.method == "GET")
        assert get.headers["mcp-session-id"] == "s-1"
        assert get.headers["mcp-protocol-version"] == "2025-11-25"
        assert server.requests[-1].method == "DELETE"


@promise("cancel-passes")
def test_a_cancelled_call_is_cancelled_upstream_and_answered_to_nobody(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    proxied = Proxied(stdio_toy("--seen", str(seen)), tmp_path)
    proxied.hello()
    call = proxied.ask_call("hang")
    proxied.notify("notifications/cancelled", {"requestId": call, "reason": "user"})
    proxied.call("release")
    proxied.close()
    assert json.dumps(call) not in proxied.order
    assert '"notifications/cancelled"' in seen.read_text()
    record = proxied.record()
    assert record["calls"][0]["error"] == "cancelled by the host"
    assert record["calls"][0]["cancelled"] is True
    assert record["traffic"]["late_or_unknown_replies"] == 1


@promise("cancel-passes")
def test_a_cancelled_submission_is_kept_and_answered_to_nobody(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    # In one write, so that the cancellation is there before the submission can be done.
    call = {"jsonrpc": "2.0", "id": "s", "method": "tools/call"}
    call["params"] = {"name": "submit_csv", "arguments": {"csv": "a\n" + "1\n" * 50_000}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}}
    proxied.send_raw(b"".join(json.dumps(m).encode() + b"\n" for m in (call, cancel)))
    assert not proxied.submit("b\n2\n")["isError"]
    proxied.close()
    assert '"s"' not in proxied.order
    assert (tmp_path / "superseded-1.csv").read_text().startswith("a\n1\n")


@promise("meta-passes")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_meta_reaches_the_upstream(transport: str, tmp_path: Path) -> None:
    meta = {"progressToken": 7, "com.example/x": {"y": [1.0]}}
    with both(transport, tmp_path) as (direct, proxied):
        direct.hello()
        proxied.hello()
        reply = proxied.call("meta", {}, meta)
        assert reply == direct.call("meta", {}, meta)
        assert json.loads(reply["result"]["content"][0]["text"]) == meta


@promise("both-eras", "initialize-passes")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_envelope_era_is_the_same(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (direct, proxied):
        say: Callable[[Any], list[Json]] = lambda client: [  # noqa: E731
            client.rpc("server/discover", {"_meta": MODERN_META}, request_id="d"),
            *without_submit(client.pages(MODERN_META)),
            client.call("echo", {"a": 1}, MODERN_META),
            client.call("rpcerror", {}, MODERN_META),
        ]
        ours = say(proxied)
        assert ours == say(direct)
        assert ours[0]["result"]["resultType"] == "complete"
    opened = proxied.events("opened")[0]
    assert opened["era"] == "envelope"
    assert opened["protocol_version"] == "2026-07-28"
    assert opened["client"] == {"name": "test", "version": "0"}


@promise("both-eras")
def test_a_refused_discovery_is_passed_on_and_the_handshake_follows(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    refused = proxied.rpc("server/discover", {}, request_id="no envelope")
    assert refused["error"]["code"] == -32601
    assert "result" in proxied.hello()
    assert proxied.close() == 0
    assert proxied.record()["metrics"]["startup_error"] is None


@promise("mismatch-passes")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_mismatch_is_recorded(transport: str, tmp_path: Path) -> None:
    with both(transport, tmp_path) as (_, proxied):
        proxied.hello()
        proxied.pages()
        assert proxied.call("mismatched")["result"]["structuredContent"] == {"n": "forty-two"}
        proxied.call("structured")
    wrong, right = proxied.record()["calls"]
    assert wrong["schema_mismatch"] == "$.n: str where the schema says integer"
    assert wrong["ok"] is True
    assert "schema_mismatch" not in right


@promise("batches-pass")
def test_the_members_of_a_batch_are_answered(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    proxied.send([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in ("x", "y")])
    assert proxied.reply("x")["result"] == proxied.reply("y")["result"] == {}
    proxied.close()
