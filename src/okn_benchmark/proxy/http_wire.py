"""An upstream over streamable HTTP: a POST for each message, each failing alone.

A reply is counted against the bound while it is read. Only a 404 to a session that is known, or the relay's breaker,
means that the upstream is lost; a dropped connection costs the one call it carried.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, TypeAlias

import httpx2

from okn_benchmark import __version__
from okn_benchmark.jsonrpc import (
    MESSAGE_BOUND,
    MODERN,
    Message,
    decode,
    encode,
    envelope_of,
    id_key,
    kind_of,
    one_line,
    params_of,
)
from okn_benchmark.profile import HttpUpstream
from okn_benchmark.proxy.http_headers import SESSION, Headers
from okn_benchmark.proxy.http_replies import answers, described, is_error, read_body, reason_of, same_origin
from okn_benchmark.proxy.sse import EventStream, TooLarge
from okn_benchmark.proxy.wire import Arrived, Closed, Failed, Noted, Receive

Blocking: TypeAlias = httpx2.Client
TransportError: TypeAlias = httpx2.HTTPError
Ending: TypeAlias = tuple[str | None, int, str | None]
"""Of a stream: last event id, wait before resuming in ms, and why it ended without the answer (None: it came)."""

_CONNECT_S: Final = 20.0
_SLACK_S: Final = 30.0
"""The read timeout lies above the call timeout: giving up is the relay's decision, and it tells the server."""
_ORDERED_S: Final = 2.0
"""How long a notification may hold up what comes after it."""
_RESUMPTIONS: Final = 2
_RETRY_MS: Final = 1000
_LONGEST_RETRY_S: Final = 10.0
_LASTED_S: Final = 20.0
_AFTER_ANSWER_S: Final = 0.5
"""How long a stream may stay open once it has brought the answer."""
_REDIRECTS: Final = 5
_ENDING_S: Final = 2.0


def open_blocking(url: str, headers: Mapping[str, str], *, timeout_s: float) -> Blocking:
    """A client for ``url`` that follows no redirect."""
    return httpx2.Client(**_settings(url, headers, timeout_s))


def fetch(client: Blocking, url: str, form: Mapping[str, str]) -> tuple[int, str, bytes]:
    """POST a form and read the whole reply: status, content type, body. Raises ``TransportError`` or ``TooLarge``."""
    parts, size = [], 0
    with client.stream("POST", url, data=dict(form)) as response:
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > MESSAGE_BOUND:
                raise TooLarge
            parts.append(chunk)
        return response.status_code, response.headers.get("content-type", ""), b"".join(parts)


def _settings(url: str, headers: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
    sent = httpx2.Headers({"user-agent": f"okn-benchmark/{__version__}"})
    sent.update(dict(headers))
    return {
        "headers": sent,
        "timeout": httpx2.Timeout(timeout_s + _SLACK_S, connect=min(_CONNECT_S, timeout_s), pool=None),
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=60.0),
        # Loading every root certificate takes longer than all the rest, and plain http has no use for them.
        "verify": not url.startswith("http://"),
        "follow_redirects": False,
    }


class HttpWire:
    """A ``Wire`` over streamable HTTP, on a loop in a thread of its own. While ``crowded`` no stream is read on."""

    def __init__(
        self,
        upstream: HttpUpstream,
        *,
        timeout_s: float,
        crowded: Callable[[], bool] = lambda: False,
        bound: int = MESSAGE_BOUND,
    ) -> None:
        self._url = upstream.url
        self._bound = bound
        self._crowded = crowded
        self._client = httpx2.AsyncClient(**_settings(upstream.url, upstream.headers, timeout_s))
        self._headers = Headers()
        self._receive: Receive = lambda _: None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="http", daemon=True)
        self._posts: dict[str, tuple[asyncio.Task[None], bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._before: asyncio.Task[None] | None = None
        self._stream: asyncio.Task[None] | None = None

    def start(self, receive: Receive) -> None:
        """Run the loop in a thread; connections are made as messages need them."""
        self._receive = receive
        self._thread.start()

    def send(self, message: Message, raw: bytes) -> None:
        """Have the message posted. A request runs on its own; anything else goes before what follows it."""
        self._loop.call_soon_threadsafe(self._begin, message, raw)

    def close(self) -> None:
        """Stop everything in flight and give the session back."""
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(_ENDING_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ENDING_S / 4)
        if not self._thread.is_alive():
            self._loop.close()

    def _begin(self, message: Message, raw: bytes) -> None:
        if message.get("method") == "notifications/cancelled" and self._closed_post(message):
            return
        if message.get("method") == "initialize":
            self._headers.version = None
        is_request = kind_of(message) == "request"
        task = self._loop.create_task(self._post(message, raw.rstrip(b"\n"), self._before))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if not is_request:
            self._before = task
            return
        key = id_key(message["id"])
        self._posts[key] = (task, envelope_of(message) is not None)
        task.add_done_callback(lambda done: self._forget(key, done))

    async def _end(self) -> None:
        running = list(self._tasks)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=_ENDING_S / 4)
        with contextlib.suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(_ENDING_S / 2):
                if self._headers.session is not None:
                    await self._client.delete(self._url, headers=self._headers.of_session())
                await self._client.aclose()

    def _forget(self, key: str, done: "asyncio.Task[None]") -> None:
        known = self._posts.get(key)
        if known is not None and known[0] is done:
            del self._posts[key]

    def _closed_post(self, message: Message) -> bool:
        """In the 2026 era closing the POST is the cancellation, and there is no notification to send."""
        known = self._posts.get(id_key(params_of(message).get("requestId")))
        if known is None:
            return self._headers.version == MODERN
        task, modern = known
        if modern:
            task.cancel()
        return modern

    async def _post(self, message: Message, body: bytes, before: "asyncio.Task[None] | None") -> None:
        if before is not None and not before.done():
            await asyncio.wait({before}, timeout=_ORDERED_S)
        request_id = message["id"] if kind_of(message) == "request" else None
        try:
            await self._exchange(message, body, request_id)
        except httpx2.HTTPError as error:
            self._fail(request_id, reason_of(error))
        except TooLarge:
            self._fail(request_id, f"its reply is over the limit of {self._bound:,} bytes and was dropped")
        if message.get("method") == "notifications/initialized" and self._headers.session and self._stream is None:
            self._stream = self._loop.create_task(self._listen())
            self._tasks.add(self._stream)

    async def _exchange(self, message: Message, body: bytes, request_id: object) -> None:
        envelope = envelope_of(message)
        headers = self._headers.of(message)
        if envelope is not None:
            self._headers.version = headers.get("mcp-protocol-version")
        async with self._sent("POST", self._url, headers, body) as response:
            if response.status_code != 200:
                await self._other_status(response, request_id)
                return
            if message.get("method") == "initialize" and response.headers.get(SESSION):
                self._headers.session = response.headers[SESSION]
            if request_id is None:
                return
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == "application/json":
                self._whole_reply(await read_body(response, self._bound), message)
            elif kind == "text/event-stream":
                await self._streamed_reply(response, message)
            else:
                self._fail(request_id, f"HTTP 200 with {kind or 'no content type'}, which is no reply", 200)

    async def _other_status(self, response: httpx2.Response, request_id: object) -> None:
        """A JSON-RPC error is passed on under any status; anything else is a failure of this request alone."""
        status = response.status_code
        if request_id is None:
            if status >= 400:
                self._receive(Noted(what=f"http_{status}"))
            return
        if status in {202, 204}:
            self._fail(request_id, f"HTTP {status} without a reply", status)
            return
        body = await read_body(response, self._bound)
        messages = decode(body) if "json" in response.headers.get("content-type", "") else None
        if messages is not None and len(messages) == 1 and is_error(messages[0]) and status < 500 and status != 429:
            self._arrive({**messages[0], "id": request_id})
            return
        if status == 404 and self._headers.session is not None:
            self._receive(Closed(reason="the server no longer knows the session (HTTP 404)"))
            return
        self._fail(request_id, described(response, body), status, response.headers.get("retry-after"))

    def _whole_reply(self, body: bytes, asked: Message) -> None:
        messages = decode(body)
        if messages is None:
            self._fail(asked["id"], f"HTTP 200 with a body of {len(body):,} bytes that is no JSON-RPC message", 200)
            return
        for message in messages:
            self._arrive(message, body if len(messages) == 1 and not body.lstrip().startswith(b"[") else None, asked)
        if not any(answers(message, asked) for message in messages):
            self._fail(asked["id"], "the reply was for another request", 200)

    async def _streamed_reply(self, response: httpx2.Response, asked: Message) -> None:
        """Read until the answer; a stream that ends early is resumed where the server gave it an id."""
        last, wait_ms, broke = await self._read_stream(response, asked)
        for _ in range(_RESUMPTIONS):
            if last is None or broke is None:
                break
            self._receive(Noted(what="resumed_streams"))
            await asyncio.sleep(min(wait_ms / 1000, _LONGEST_RETRY_S))
            with contextlib.suppress(httpx2.HTTPError):
                async with self._sent("GET", self._url, self._headers.of_stream(last)) as again:
                    if again.status_code == 200:
                        newer, wait_ms, broke = await self._read_stream(again, asked)
                        last = newer or last
        if broke is not None:
            self._fail(asked["id"], broke, 200)

    async def _read_stream(self, response: httpx2.Response, asked: Message | None) -> Ending:
        """Read to the end: a connection whose stream is left before it is over cannot be used again."""
        stream, last, wait_ms, answered = EventStream(self._bound), None, _RETRY_MS, False
        try:
            async with asyncio.timeout(None) as patience:
                async for chunk in response.aiter_bytes():
                    while self._crowded():
                        await asyncio.sleep(0.01)
                    for event in stream.feed(chunk):
                        last = event.id or last
                        wait_ms = event.retry_ms if event.retry_ms is not None else wait_ms
                        if event.data and event.event == "message" and self._take(event.data, asked) and not answered:
                            answered = True
                            patience.reschedule(self._loop.time() + _AFTER_ANSWER_S)
        except (httpx2.HTTPError, TimeoutError) as error:
            return last, wait_ms, None if answered else f"the reply broke off ({reason_of(error)})"
        return last, wait_ms, None if answered else "the reply stream ended before the reply"

    def _take(self, data: bytes, asked: Message | None) -> bool:
        """Pass on what one event holds; True when it is the answer to ``asked``."""
        messages = decode(data)
        if messages is None:
            self._receive(Noted(what="junk_lines"))
            return False
        for message in messages:
            self._arrive(message, data if len(messages) == 1 and not data.startswith(b"[") else None, asked)
        return asked is not None and any(answers(message, asked) for message in messages)

    async def _listen(self) -> None:
        """The stream for what the server says on its own; none is fine, one that ends is opened again, twice."""
        last, tries, clock = None, 0, self._loop.time
        while tries <= _RESUMPTIONS:
            opened, wait_ms = clock(), _RETRY_MS
            with contextlib.suppress(httpx2.HTTPError, TooLarge):
                async with self._sent("GET", self._url, self._headers.of_stream(last)) as response:
                    if response.status_code != 200:
                        return
                    newer, wait_ms, _ = await self._read_stream(response, None)
                    last = newer or last
            # A stream that lasted was cut for being idle, and that is no reason to stop listening.
            tries = 0 if clock() - opened > _LASTED_S else tries + 1
            await asyncio.sleep(min(wait_ms / 1000, _LONGEST_RETRY_S))

    @contextlib.asynccontextmanager
    async def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """Send, following redirects that stay on the same origin and keep the method."""
        request = self._client.build_request(method, url, headers=dict(headers), content=body)
        if method == "GET" or "subscriptions/listen" in headers.get("mcp-method", ""):
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}
        for _ in range(_REDIRECTS):
            response = await self._client.send(request, stream=True)
            follow = response.next_request
            if follow is None or not same_origin(request, follow):
                break
            await response.aclose()
            follow.extensions["timeout"] = request.extensions["timeout"]
            request = follow
        try:
            yield response
        finally:
            await response.aclose()

    def _arrive(self, message: Message, data: bytes | None = None, asked: Message | None = None) -> None:
        result = message.get("result")
        if isinstance(result, dict):
            if asked is not None and asked.get("method") == "initialize":
                version = result.get("protocolVersion")
                self._headers.version = version if isinstance(version, str) else None
            if "tools" in result:
                self._headers.learn(result["tools"])
        self._receive(Arrived(message=message, raw=encode(message) if data is None else one_line(data)))

    def _fail(self, request_id: object, reason: str, status: int | None = None, retry_after: str | None = None) -> None:
        if request_id is None:
            self._receive(Noted(what="failed_posts_without_a_request"))
            return
        status = None if status == 200 else status
        self._receive(
            Failed(request_id=request_id, reason=reason, status=status, retry_after=retry_after and retry_after[:40])
        )
