"""Credentials a server repeats: masked in whatever form JSON gives them, and nothing else of a message touched."""

import json
from collections.abc import Callable

import pytest

from okn_benchmark.jsonrpc import Message
from okn_benchmark.profile import HttpUpstream, Profile, StdioUpstream, credentials, redactor
from okn_benchmark.proxy.masked_wire import MASKED_NOTED, MaskedWire
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Failed, Noted, Receive

TOKEN = "t0ken/ü-4711"


class Still:
    """A wire that says what it is told to."""

    def __init__(self) -> None:
        self.receive: Receive | None = None
        self.sent: list[bytes] = []

    def start(self, receive: Receive) -> None:
        self.receive = receive

    def send(self, message: Message, raw: bytes) -> None:
        self.sent.append(raw)

    def close(self) -> None:
        self.sent.append(b"closed")


def came(event: Event, mask: Callable[[str], str] = str) -> list[Event]:
    """What arrives of one event."""
    inner, seen = Still(), list[Event]()
    wire = MaskedWire(inner, [TOKEN], mask)
    wire.start(seen.append)
    assert inner.receive is not None
    inner.receive(event)
    wire.send({}, b"up")
    wire.close()
    assert inner.sent == [b"up", b"closed"]
    return seen


@pytest.mark.parametrize(
    "written",
    [json.dumps(TOKEN), json.dumps(TOKEN, ensure_ascii=False), json.dumps(TOKEN).replace("/", "\\/")],
)
def test_a_credential_is_masked_however_it_is_escaped(written: str) -> None:
    raw = f'{{"jsonrpc": "2.0","id":1, "result":{{"said":{written},"n":1.0}}}}\n'.encode()
    noted, arrived = came(Arrived(message=json.loads(raw), raw=raw))
    assert noted == Noted(what=MASKED_NOTED)
    assert isinstance(arrived, Arrived)
    assert arrived.raw == b'{"jsonrpc": "2.0","id":1, "result":{"said":"[redacted]","n":1.0}}\n'
    assert arrived.message["result"] == {"said": "[redacted]", "n": 1.0}


def test_a_message_without_one_is_the_very_same() -> None:
    event = Arrived(message={"id": 1, "result": {}}, raw=b'{"id":1,"result":{}}\n')
    (arrived,) = came(event)
    assert arrived is event


@pytest.mark.parametrize("event", [Failed(request_id=1, reason=f"HTTP 500: {TOKEN}"), Closed(reason=TOKEN)])
def test_reasons_are_masked_too(event: Failed | Closed) -> None:
    (seen,) = came(event, lambda text: text.replace(TOKEN, "[redacted]"))
    assert isinstance(seen, Failed | Closed)
    assert "t0ken" not in seen.reason
    assert "[redacted]" in seen.reason


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("Authorization", "Bearer abcdefgh1", ("Bearer abcdefgh1", "abcdefgh1")),
        ("X-Login", "Basic dXNlcjpwYXNz", ("Basic dXNlcjpwYXNz", "dXNlcjpwYXNz")),
        ("X-Api-Key", "k-4711-long", ("k-4711-long",)),
        ("api_key", "demo", ()),
        ("X-Graph", "spoke-okn-production", ()),
        ("AUTHOR", "Somebody Somewhere", ()),
    ],
)
def test_what_counts_as_a_credential(name: str, value: str, found: tuple[str, ...]) -> None:
    http = Profile(name="s", upstream=HttpUpstream(url="https://e.org/mcp", headers={name: value}))
    stdio = Profile(name="s", upstream=StdioUpstream(command="x", env={name: value}))
    assert credentials(http) == credentials(stdio) == found


def test_a_url_may_hold_some() -> None:
    url = "https://me:pass-word-1@e.org/mcp?token=abcdefgh1&graph=spoke-okn-production"
    assert credentials(Profile(name="s", upstream=HttpUpstream(url=url))) == ("pass-word-1", "abcdefgh1")


def test_the_log_masks_what_is_long_enough_or_named_so() -> None:
    env = {"LOG_LEVEL": "error", "MODE": "query", "PIN_TOKEN": "4711", "PLACE": "some-internal-host"}
    mask = redactor(Profile(name="s", upstream=StdioUpstream(command="x", env=env)))
    assert mask("error in run_query: 4711 at some-internal-host") == "error in run_query: [redacted] at [redacted]"
