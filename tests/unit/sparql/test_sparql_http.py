import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.sparql.endpoint import HttpEndpoint, open_endpoint
from okn_benchmark.sparql.result import EndpointFailure, QueryRejected, QueryTimeout
from okn_benchmark.table import text

URL = "https://example.org/sparql"
GOOD = {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "literal", "value": "x"}}]}}
JSON = {"content-type": "application/sparql-results+json"}


def good(**headers: str) -> httpx2.Response:
    return httpx2.Response(200, headers=JSON | headers, content=json.dumps(GOOD).encode())


class Server:
    """Answers with the given replies in order and keeps what it was asked and how long the client waited."""

    def __init__(self, *replies: httpx2.Response | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[httpx2.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def endpoint(self, timeout_s: float = 5) -> HttpEndpoint:
        return HttpEndpoint(URL, timeout_s=timeout_s, transport=httpx2.MockTransport(self), pause=self.waits.append)


def test_a_query_is_posted_as_a_form_and_json_is_asked_for() -> None:
    server = Server(good(server="QLever"))
    with server.endpoint() as endpoint:
        got = endpoint.select("SELECT ?a { ?a ?b 'ü&=' }")
        assert endpoint.engine == "QLever"
    request = server.requests[0]
    assert got.table.rows == ((text("x"),),)
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.headers["accept"] == "application/sparql-results+json"
    assert b"%C3%BC%26%3D" in request.content
    assert got.document == GOOD
    assert got.warnings == ()


def test_busy_servers_are_asked_again_and_their_wishes_kept() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server = Server(
        httpx2.Response(429, headers={"retry-after": "7"}),
        httpx2.ConnectError("refused"),
        httpx2.Response(503, headers={"retry-after": later}),
        good(),
    )
    assert len(server.endpoint().select("q").table) == 1
    assert server.waits[:2] == [7.0, 2.0]
    assert 20 < server.waits[2] <= 30


def test_it_gives_up_and_names_the_endpoint() -> None:
    server = Server(*[httpx2.Response(502, content=b"bad gateway")] * 4)
    with pytest.raises(EndpointFailure, match=r"example\.org.*502: bad gateway.*4 of 4"):
        server.endpoint().select("q")
    assert server.waits == [1.0, 2.0, 4.0]


def test_an_hour_is_not_waited() -> None:
    server = Server(httpx2.Response(429, headers={"retry-after": "3600"}))
    with pytest.raises(EndpointFailure, match="wait 3600 s"):
        server.endpoint().select("q")
    assert server.waits == []


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (httpx2.Response(400, content=b'{"exception": "no such\\nprefix"}'), QueryRejected, "no such prefix"),
        (httpx2.Response(404, content=b"<html>\x1b[31mnope"), EndpointFailure, r"404: <html> \[31mnope"),
        (httpx2.Response(408, content=b"too long"), QueryTimeout, "too long"),
        (httpx2.ReadTimeout("slow"), QueryTimeout, "within 5 s"),
        (httpx2.Response(200, headers=JSON, content=b'{"head":{"vars":["a"]},"results":{"bindings":[ cancelled'),
         EndpointFailure, "not JSON; it ends: .*cancelled"),
        (httpx2.Response(200, headers=JSON, content=b'{"head":{},"boolean":true}'), EndpointFailure, "ASK"),
        (httpx2.Response(200, content=b""), EndpointFailure, "not JSON"),
    ],
)  # fmt: skip
def test_failures_that_are_not_retried(reply, error: type[Exception], words: str) -> None:
    server = Server(reply)
    with pytest.raises(error, match=words):
        server.endpoint().select("q")
    assert len(server.requests) == 1


def test_a_trickle_is_stopped_at_the_time_limit() -> None:
    class Trickle(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b" "

    server = Server(httpx2.Response(200, headers=JSON, stream=Trickle()))
    with pytest.raises(QueryTimeout):
        server.endpoint(timeout_s=0.05).select("q")


@pytest.mark.parametrize(
    ("headers", "words"),
    [({"x-sparql-maxrows": "1"}, "at most 1 rows"), ({"content-type": "text/plain"}, "text/plain")],
)
def test_odd_answers_carry_a_warning(headers: dict[str, str], words: str) -> None:
    got = Server(good(**headers)).endpoint().select("q")
    assert words in got.warnings[0]


@pytest.mark.parametrize("url", ["http://", "https://me:hunter2@example.org/sparql"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(InputError) as caught:
        open_endpoint(url, timeout_s=1)
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"


def test_nobody_listening() -> None:
    waits: list[float] = []
    with (
        HttpEndpoint("http://127.0.0.1:9/sparql", timeout_s=5, pause=waits.append) as endpoint,
        pytest.raises(EndpointFailure, match="cannot be reached"),
    ):
        endpoint.select("q")
    assert len(waits) == 3
