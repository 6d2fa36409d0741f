"""The scripted endpoint by itself: turns, templates, failures, streaming."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.host.script import Script, choose, fill, parse_script, read_script
from okn_benchmark.host.scripted import serve_script

RESULTS = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "literal", "value": "1"}}]}})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def post(url: str, body: Any, path: str = "/v1/messages") -> tuple[int, str]:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def conversation(answers: int, result: str = "r", **fields: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Which genes?"}]
    for number in range(answers):
        messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}"}]})
        messages.append({"role": "user", "content": [{"type": "tool_result", "content": [text(result)]}]})
    return {"model": "claude-opus-5", "messages": messages, **fields}


def said(reply: tuple[int, str]) -> str:
    return str(json.loads(reply[1])["content"][0]["text"])


def test_a_turn_per_answer_then_a_closing_word() -> None:
    script = parse_script([[text("one")], {"blocks": [text("two")], "times": 2}, [text("three")]])
    with serve_script(script) as endpoint:
        heard = [said(post(endpoint.base_url, conversation(n))) for n in range(5)]
    assert heard == ["one", "two", "two", "three", "That is all."]
    assert len(endpoint.requests) == 5


def test_templates_use_earlier_results() -> None:
    script = parse_script([[text("-")], [text("{{result}}|{{csv 0}}|{{json -1 head.vars.0}}|{{prompt}}|{{other}}")]])
    with serve_script(script) as endpoint:
        heard = said(post(endpoint.base_url, conversation(1, RESULTS)))
    assert heard == f"{RESULTS}|x\n1\n|x|Which genes?|{{{{other}}}}"


def test_a_template_that_cannot_be_filled_says_so() -> None:
    assert "[no result:" in fill("{{result}}", "", [])
    assert "[no csv:" in fill({"a": ["{{csv}}"]}, "", ["not json"])["a"][0]
    assert "[no json:" in fill("{{json 0 a.b}}", "", ['{"a": 1}'])


def test_failures_last_or_pass() -> None:
    script = parse_script([{"status": 529, "times": 2}, [text("at last")], {"status": 429, "error": {"type": "x"}}])
    with serve_script(script) as endpoint:
        first = [post(endpoint.base_url, conversation(0)) for _ in range(3)]
        other = post(endpoint.base_url, conversation(0, metadata={"user_id": "another"}))
        last = [post(endpoint.base_url, conversation(1)) for _ in range(3)]
    assert [status for status, _ in first] == [529, 529, 200]
    assert other[0] == 529, "each conversation has its own count"
    assert [status for status, _ in last] == [429, 429, 429]
    assert json.loads(last[0][1])["error"]["type"] == "x"


def test_a_refusal_holds() -> None:
    turns = parse_script([{"blocks": [], "stop_reason": "refusal"}, [text("never")]]).turns
    assert [choose(turns, n, {})[0] for n in range(3)] == [0, 0, 0]


def test_cases_by_prompt(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(
        'model = "m"\n[[cases]]\nwhen = "genes"\nturns = [[{type = "text", text = "A"}]]\n'
        '[[turns]]\nblocks = [{type = "text", text = "B"}]\n'
    )
    with serve_script(read_script(path)) as endpoint:
        status, body = post(endpoint.base_url, conversation(0))
        other = post(endpoint.base_url, {"model": "x", "messages": [{"role": "user", "content": "Which?"}]})
    assert status == 200
    assert json.loads(body)["model"] == "m"
    assert (said((200, body)), said(other)) == ("A", "B")


def test_streaming_says_the_same() -> None:
    block = {"type": "tool_use", "name": "t", "input": {"a": 1}}
    script = parse_script([{"blocks": [text("hello"), block], "usage": {"output_tokens": 7}}])
    with serve_script(script) as endpoint:
        _, body = post(endpoint.base_url, conversation(0, stream=True))
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    assert [e["type"] for e in events][:2] == ["message_start", "content_block_start"]
    assert events[-1]["type"] == "message_stop"
    assert events[-2] == {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 7},
    }
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    assert deltas[0]["text"] == "hello"
    assert json.loads(deltas[1]["partial_json"]) == {"a": 1}


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    with serve_script(parse_script([{"hang": True}])) as endpoint:
        yield endpoint.base_url


def test_the_other_paths(silent: str) -> None:
    assert json.loads(post(silent, {}, "/v1/messages/count_tokens")[1]) == {"input_tokens": 10}
    assert post(silent, {}, "/v1/elsewhere")[0] == 404
    assert post(silent, ["no object"])[0] == 400
    with urllib.request.urlopen(urllib.request.Request(silent, method="HEAD"), timeout=10) as reply:
        assert reply.status == 200


def test_a_hanging_turn_never_answers_and_does_not_hold_up_the_end(silent: str) -> None:
    data = json.dumps(conversation(0)).encode()
    request = urllib.request.Request(silent + "/v1/messages", data=data, headers={"content-type": "application/json"})
    with pytest.raises(TimeoutError):
        urllib.request.urlopen(request, timeout=0.2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"turn": []}, "unknown key turn"),
        ("x", "not an object"),
        ([{"status": 200}], "HTTP failure"),
        ([{"blocks": [], "times": 0}], "times"),
        ([[{"type": "image"}]], "content block"),
        ([[{"type": "tool_use", "name": "x"}]], "name and input"),
        ({"turns": {}}, "not a list"),
        ({"cases": [{"turns": []}]}, "when"),
        ({"model": 3}, "model"),
    ],
)
def test_a_script_that_is_none_says_where(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_script(data)


def test_files_that_are_no_script(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_script(tmp_path / "none.json")
    (tmp_path / "odd.toml").write_text("= 1")
    with pytest.raises(InputError, match="neither JSON nor TOML"):
        read_script(tmp_path / "odd.toml")


def test_a_script_has_a_digest_of_its_content() -> None:
    one, same, other = parse_script([[text("a")]]), parse_script({"turns": [[text("a")]]}), parse_script([[text("b")]])
    assert one.digest == same.digest != other.digest
    assert isinstance(one, Script)
