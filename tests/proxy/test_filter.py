"""What is changed on purpose: the tool list, withheld calls, marks, and the strict flag."""

import json
from pathlib import Path

import pytest

from okn_benchmark.errors import InputError
from tests.proxy.promises import promise
from tests.proxy.talk import MODERN_META, Proxied, http, stdio_toy
from tests.proxy.toy_http import http_toy


@promise("submit-is-listed", "submit-shadows")
@pytest.mark.parametrize("flags", [(), ("--pages",)])
def test_submit_csv_is_listed_once_on_the_last_page(flags: tuple[str, ...], tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(*flags), tmp_path)
    proxied.hello()
    pages = proxied.pages()
    names = [[tool["name"] for tool in page["tools"]] for page in pages]
    assert [page.count("submit_csv") for page in names] == [0] * (len(pages) - 1) + [1]
    assert names[-1][-1] == "submit_csv"
    ours = pages[-1]["tools"][-1]
    assert ours["inputSchema"]["required"] == ["csv"]
    assert len(json.dumps(ours)) < 2000
    proxied.close()


@promise("submit-shadows")
def test_a_submission_never_reaches_a_server_with_a_tool_of_that_name(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    proxied = Proxied(stdio_toy("--seen", str(seen)), tmp_path)
    proxied.hello()
    assert not proxied.submit()["isError"]
    proxied.close()
    assert "submit_csv" not in seen.read_text()


@promise("submit-without-tools")
@pytest.mark.parametrize("meta", [None, MODERN_META])
def test_a_server_without_tools_still_leaves_an_answer_channel(meta: dict[str, object] | None, tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--no-tools"), tmp_path)
    opened = proxied.hello() if meta is None else proxied.rpc("server/discover", {"_meta": meta})
    assert opened["result"]["capabilities"]["tools"] == {}
    assert opened["result"]["capabilities"]["experimental"] == {"toy": {"x": 1.0}}
    (page,) = proxied.pages(meta)
    assert [tool["name"] for tool in page["tools"]] == ["submit_csv"]
    assert ("ttlMs" in page) == (meta is not None)
    assert not proxied.submit()["isError"]
    proxied.close()


@promise("withheld-hidden", "withheld-refused")
@pytest.mark.parametrize("tool", ["echo", "changed"])  # on the first page and on the last
def test_a_withheld_tool_is_hidden_and_refused(tool: str, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    proxied = Proxied(stdio_toy("--pages", "--seen", str(seen)), tmp_path, withheld=(tool,))
    proxied.hello()
    names = proxied.tool_names()
    assert tool not in names
    assert "blob" in names
    reply = proxied.call(tool, {"s": "remembered"})["result"]
    assert reply["isError"]
    assert tool in reply["content"][0]["text"]
    assert proxied.call("blob")["result"]
    proxied.close()
    assert "remembered" not in seen.read_text()
    record = proxied.record()
    assert record["metrics"]["withheld_calls"] == 1
    assert record["metrics"]["tools_called"] == ["blob"]
    assert record["calls"][0]["withheld"] is True
    assert record["calls"][0]["arguments"] == {"s": "remembered"}


@promise("withheld-refused")
def test_an_http_server_sees_no_withheld_call(tmp_path: Path) -> None:
    with http_toy() as server:
        proxied = Proxied(http(server.url), tmp_path, withheld=("echo",))
        proxied.hello()
        assert proxied.call("echo")["result"]["isError"]
        proxied.close()
        assert server.calls() == []


@promise("unknown-withheld-noted")
def test_a_name_nobody_listed_is_noted(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--pages"), tmp_path, withheld=("echo", "no_such_tool"))
    proxied.hello()
    proxied.pages()
    proxied.close()
    assert proxied.events("listed")[-1]["unknown_withheld"] == ["no_such_tool"]


@promise("withheld-refused")
def test_the_answer_channel_cannot_be_withheld(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="submit_csv cannot be withheld"):
        Proxied(stdio_toy(), tmp_path, withheld=("submit_csv",))
    with pytest.raises(InputError, match="no meaning with sparql-only"):
        Proxied(None, tmp_path, withheld=("echo",))


@promise("result-limit")
def test_a_result_limit_marks_every_tool(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy("--pages"), tmp_path, result_limit=500_000)
    proxied.hello()
    tools = [tool for page in proxied.pages() for tool in page["tools"]]
    assert {tool["_meta"]["anthropic/maxResultSizeChars"] for tool in tools} == {500_000}
    assert next(tool for tool in tools if tool["name"] == "meta")["_meta"]["x/vendor"] == 1
    proxied.close()


@promise("soft-error-recorded")
@pytest.mark.parametrize("kind", ["stdio", "sse"])
def test_a_hidden_failure_is_recorded_and_passed_on(kind: str, tmp_path: Path) -> None:
    with http_toy() as server:
        proxied = Proxied(stdio_toy() if kind == "stdio" else http(server.url), tmp_path)
        proxied.hello()
        assert proxied.call("soft")["result"]["isError"] is False
        proxied.call("status")
        proxied.call("soft")
        proxied.call("echo", {"note": "an error is data"})
        proxied.close()
    record = proxied.record()
    assert [call["ok"] for call in record["calls"]] == [True] * 4
    assert record["calls"][0]["soft_error"] == "error: HTTP Error 429: Too Many Requests"
    assert record["calls"][1]["soft_error"] == "status_code: 503"
    assert record["calls"][3]["soft_error"] is None
    assert record["metrics"]["upstream_soft_errors"] == {"soft": 2, "status": 1}


@promise("strict-flips-the-flag")
def test_strict_flips_the_flag_and_nothing_else(tmp_path: Path) -> None:
    plain, strict = Proxied(stdio_toy(), None), Proxied(stdio_toy(), tmp_path, strict_upstream_errors=True)
    for client in (plain, strict):
        client.hello()
    for tool in ("soft", "status"):
        as_it_came, flipped = plain.call(tool)["result"], strict.call(tool)["result"]
        assert flipped.pop("isError") is True
        as_it_came.pop("isError", None)
        assert flipped == as_it_came
    for tool in ("echo", "rich", "iserror"):
        assert strict.call(tool) == plain.call(tool)
    plain.close()
    strict.close()
    calls = strict.record()["calls"]
    assert calls[0]["ok"] is True
    assert calls[0]["soft_error"]
