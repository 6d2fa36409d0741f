"""Framing, ids and eras."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okn_benchmark.jsonrpc import (
    Lines,
    Oversize,
    answer,
    decode,
    encode,
    envelope_of,
    failure,
    guess_id,
    id_key,
    kind_of,
    one_line,
)

MODERN = {"params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=20), st.data())
def test_however_the_bytes_are_cut_the_lines_are_the_same(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    gathered, reader, at = [], Lines(), 0
    while at < len(stream):
        step = data.draw(st.integers(1, 17))
        gathered += list(reader.feed(stream[at : at + step]))
        at += step
    assert gathered == [line + b"\n" for line in lines]
    assert reader.rest() == b"rest"
    assert reader.rest() is None


@given(st.integers(1, 50), st.integers(1, 120), st.integers(1, 13))
def test_a_line_over_the_bound_is_dropped_and_the_next_one_kept(bound: int, size: int, step: int) -> None:
    stream = b"a\n" * 0 + b"x" * size + b"\nok\n"
    reader = Lines(bound)
    got = [line for at in range(0, len(stream), step) for line in reader.feed(stream[at : at + step])]
    assert len(got) == 2
    assert isinstance(got[0], Oversize) is (size + 1 > bound)
    if isinstance(got[0], Oversize):
        assert got[0].size == size + 1
    assert (got[1] == b"ok\n") is (bound >= 3)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":17,"result":{"content":[{"text":"%s"}]}}', 17),
        (b'{"id": "a\\"b", "result": "%s"}', 'a"b'),
        (b'{"method":"tools/call","params":{"id":5,"x":"%s"},"jsonrpc":"2.0","id":"s-1"}', "s-1"),
        (b'{"result":{"text":"\\"id\\": 3, %s \\"id\\": 4,"},"id":-2}', -2),
        (b'{"method":"m","params":{"x":"%s"}}', None),
    ],
)
def test_the_id_of_a_message_that_was_never_held(line: bytes, expected: object) -> None:
    reader = Lines(100)
    (got,) = reader.feed(line % (b"y" * 9000) + b"\n")
    assert isinstance(got, Oversize)
    assert guess_id(got) == expected


def test_ids_of_two_types_have_two_keys() -> None:
    ids: list[Any] = [1, "1", 1.0, True, None, "true", "", [1], {"a": 1}]
    assert len({id_key(one) for one in ids}) == len(ids)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"id": 1, "method": "m"}, "request"),
        ({"id": 0, "method": "m"}, "request"),
        ({"method": "m"}, "notification"),
        ({"id": 1, "result": {}}, "response"),
        ({"id": None, "error": {}}, "response"),
        ({"id": 1}, "junk"),
        ({"method": 3}, "junk"),
    ],
)
def test_kinds(message: dict[str, Any], kind: str) -> None:
    assert kind_of(message) == kind


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"3", b"null", b'[{"a":1}]', b"\xff{}", b"[" * 100_000, b'{"id":1}'])
def test_what_is_no_message(raw: bytes) -> None:
    assert decode(raw) is None


@given(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False) | st.integers()))
def test_a_message_is_one_line_and_comes_back(params: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "method": "m", "params": params}
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == [message]


def test_a_lone_surrogate_stays_valid_utf8() -> None:
    line = encode({"method": "m", "params": {"x": "\ud800"}})
    line.decode("utf-8")
    assert decode(line) == [{"method": "m", "params": {"x": "\ud800"}}]


def test_a_pretty_printed_body_becomes_one_line_with_its_numbers_as_written() -> None:
    body = json.dumps({"method": "m", "params": {"x": 1.0, "y": "a\nb"}}, indent=2).replace("1.0", "1.00").encode()
    line = one_line(body.replace(b"\n", b"\r\n") + b"\n")
    assert line.count(b"\n") == 1
    assert b"1.00" in line
    assert json.loads(line) == json.loads(body)


def test_our_answers_follow_the_era() -> None:
    assert answer({"id": 1}, {"x": 1}) == {"jsonrpc": "2.0", "id": 1, "result": {"x": 1}}
    assert answer({"id": 1, **MODERN}, {"x": 1})["result"] == {"resultType": "complete", "x": 1}
    assert envelope_of({"params": {"_meta": {"other": 1}}}) is None
    assert envelope_of({"params": [1]}) is None
    assert failure(1, -3, "m", {"d": 1})["error"] == {"code": -3, "message": "m", "data": {"d": 1}}
