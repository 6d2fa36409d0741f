"""Recordings of a server: found by what was asked, told apart by who said it, free of secrets, safe from strangers."""

import json
import queue
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.jsonrpc import MODERN, VERSION_KEY, id_key, request
from okn_benchmark.launch import ProxyLaunch, parse_arguments
from okn_benchmark.proxy.cassette import Cassette, read_recording, request_of, server_of
from okn_benchmark.proxy.tape_wire import RecordingWire, ReplayWire, taped
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Noted

ENVELOPE = {"_meta": {VERSION_KEY: MODERN, "progressToken": 7}}


def call(request_id: Any = 1, tool: str = "get", **arguments: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", {"name": tool, "arguments": arguments, **ENVELOPE})


def opening(version: str = "2025-11-25") -> dict[str, Any]:
    return request(0, "initialize", {"protocolVersion": version})


SAID = {"result": {"content": [{"type": "text", "text": "é \ud800"}], "vendor": [1.5]}}
HELLO = {"result": {"serverInfo": {"name": "s", "version": "1"}, "instructions": "i", "protocolVersion": "2025-11-25"}}


def test_a_call_is_known_by_its_tool_and_its_arguments_in_any_order() -> None:
    asked = request_of(call(a=1, b={"x": 1, "y": 2}))
    assert asked == request_of(call("other id", b={"y": 2, "x": 1}, a=1))
    assert asked != request_of(call(a=1, b={"x": 1, "y": 3}))
    assert asked != request_of(call(tool="put", a=1, b={"x": 1, "y": 2}))
    assert request_of(request(1, "tools/call", {"name": "get"})) == request_of(call())
    assert request_of(request(1, "tools/list", {"cursor": "2"})) != request_of(request(1, "tools/list"))


def test_a_reply_comes_back_as_it_was_and_the_first_one_stays(tmp_path: Path) -> None:
    cassette = Cassette(folder=tmp_path)
    asked = request_of(call(a=1))
    assert cassette.keep(asked, SAID, "s1") == "new"
    assert cassette.keep(asked, SAID, "s1") == "same"
    assert cassette.keep(asked, {"result": {}}, "s1") == "unsteady"
    found = Cassette(folder=tmp_path).find(call(a=1))
    assert found is not None
    assert (found.reply, found.server) == (SAID, "s1")
    assert cassette.keep(asked, {"result": {}}, "s2") == "replaced"
    assert cassette.find(call(a=2)) is None


def test_secrets_are_masked_and_a_masked_reply_is_still_the_same(tmp_path: Path) -> None:
    cassette = Cassette(folder=tmp_path, redact=lambda text: text.replace("hunter2hunter2", "[redacted]"))
    said = {"result": {"content": [{"type": "text", "text": "key hunter2hunter2"}]}}
    assert cassette.keep(request_of(call()), said, None) == "new"
    assert cassette.keep(request_of(call()), said, None) == "same"
    assert b"hunter2" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_names_of_tools_cannot_leave_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tape"
    cassette = Cassette(folder=folder)
    for name in ("../../x", "/etc/passwd", "a" * 500, "..", "", "a\0b"):
        assert cassette.keep(request_of(call(tool=name)), SAID, None) == "new"
        assert cassette.find(call(tool=name)) is not None
    assert list(tmp_path.iterdir()) == [folder]
    assert len(list(folder.iterdir())) == 6


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "recording/1"}', '{"schema": "recording/9"}', '{"reply": 1, "request": {}}']
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"x\.json"):
        read_recording(path)


def test_who_answered_is_the_same_in_both_eras() -> None:
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
    assert server_of(HELLO) == server_of({"result": {"_meta": meta, "instructions": "i"}})
    assert server_of({"error": {}}) is None


class Ear:
    """Hears what a wire says, each wait bounded."""

    def __init__(self) -> None:
        self._heard: queue.Queue[Event] = queue.Queue()

    def __call__(self, event: Event) -> None:
        self._heard.put(event)

    def until_answer(self) -> tuple[list[str], Any]:
        noted: list[str] = []
        while True:
            event = self._heard.get(timeout=10)
            match event:
                case Noted(what=what):
                    noted.append(what)
                case Arrived(message=message):
                    return noted, message
                case Closed(reason=reason):
                    return noted, reason
                case _:
                    raise AssertionError(event)


class Inner:
    """A server that says the same to everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def start(self, receive: Any) -> None:
        self.receive = receive

    def send(self, message: dict[str, Any], raw: bytes) -> None:
        self.asked.append(message["method"])
        reply = HELLO if message["method"] == "initialize" else SAID
        made = {"jsonrpc": "2.0", "id": message["id"], **reply}
        self.receive(Arrived(message=made, raw=b""))

    def close(self) -> None:
        self.asked.append("closed")


def ask(wire: Any, ear: Ear, message: dict[str, Any]) -> tuple[list[str], Any]:
    wire.send(message, json.dumps(message).encode())
    return ear.until_answer()


def test_a_recording_answers_in_the_era_of_the_question(tmp_path: Path) -> None:
    recorder, ear = RecordingWire(Inner(), Cassette(folder=tmp_path)), Ear()
    recorder.start(ear)
    assert ask(recorder, ear, opening())[0] == ["tape new"]
    assert ask(recorder, ear, call("x", a=1))[0] == ["tape new"]
    player, ear = ReplayWire(Cassette(folder=tmp_path)), Ear()
    player.start(ear)
    noted, hello = ask(player, ear, opening("2025-06-18"))  # another version than was recorded: servers pick their own
    assert (noted, hello["result"]) == (["tape hits"], HELLO["result"])
    noted, modern = ask(player, ear, call("y", a=1))
    assert noted == ["tape hits"]
    assert id_key(modern["id"]) == id_key("y")
    assert modern["result"] == {"resultType": "complete", **SAID["result"]}
    earlier = {**call(3, a=1), "params": {"name": "get", "arguments": {"a": 1}}}
    assert ask(player, ear, earlier)[1]["result"] == SAID["result"]


def test_what_is_not_there_is_never_silence(tmp_path: Path) -> None:
    player, ear = ReplayWire(Cassette(folder=tmp_path)), Ear()
    player.start(ear)
    noted, missed = ask(player, ear, call(a=1))
    assert noted == ["tape misses"]
    assert missed["result"]["isError"] is True
    assert "get" in missed["result"]["content"][0]["text"]
    assert ask(player, ear, request(2, "resources/list"))[1]["error"]["code"] == -32601
    assert ask(player, ear, request(3, "ping"))[1]["result"] == {}
    assert "no opening" in ask(player, ear, opening())[1]
    (tmp_path / next(iter(_path(call(a=2), tmp_path)))).write_text("not a recording")
    assert "is not valid JSON" in ask(player, ear, call(a=2))[1]


def _path(message: dict[str, Any], folder: Path) -> list[str]:
    scratch = folder / "scratch"
    Cassette(folder=scratch).keep(request_of(message), SAID, None)
    return [path.name for path in scratch.iterdir()]


def test_with_a_server_behind_it_only_calls_are_replayed(tmp_path: Path) -> None:
    first = RecordingWire(Inner(), Cassette(folder=tmp_path))
    first.start(Ear())
    for message in (opening(), call(a=1)):
        first.send(message, b"")
    inner, ear = Inner(), Ear()
    wire = RecordingWire(inner, Cassette(folder=tmp_path), replay=True)
    wire.start(ear)
    assert ask(wire, ear, opening())[0] == ["tape same"]
    assert ask(wire, ear, call(2, a=1))[0] == ["tape hits"]
    assert inner.asked == ["initialize"]
    noted = ask(wire, ear, call(3, a=2))[0]
    assert "tape new" in noted
    assert inner.asked == ["initialize", "tools/call"]
    wire.close()
    assert inner.asked[-1] == "closed"


def test_nothing_to_replay_is_said_before_anything_starts(tmp_path: Path) -> None:
    launch = ProxyLaunch(level="all-tools", replay=tmp_path / "none")
    with pytest.raises(InputError, match="no recording"):
        taped(launch, str, Inner)


def test_the_command_line_carries_every_new_setting(tmp_path: Path) -> None:
    for launch in (
        ProxyLaunch(level="all-tools", arm=tmp_path / "a.toml", keep_payloads=True, record=tmp_path / "r"),
        ProxyLaunch(level="all-tools", replay=tmp_path / "r", then_live=True),
    ):
        assert parse_arguments(launch.arguments()) == launch
    assert [
        launch.tape for launch in (ProxyLaunch(level="all-tools"), ProxyLaunch(level="all-tools", replay=tmp_path))
    ] == [
        None,
        "replay",
    ]
