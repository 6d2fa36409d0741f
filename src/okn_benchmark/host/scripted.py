"""A Messages endpoint on loopback that answers from a script: what audits, tests and rehearsals talk to.

No model, no login, no network. It streams or answers whole, counts tokens, and can fail in the ways the real one does.
"""

import contextlib
import json
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host.script import Script, Turn, choose, fill
from okn_benchmark.jsonio import JsonObject

START_TIMEOUT_S: Final = 10.0
REQUESTS_KEPT: Final = 2_000
_USAGE: Final = {"input_tokens": 100, "output_tokens": 20}


@dataclass(slots=True)
class ScriptedEndpoint:
    """The served script. ``requests`` are the bodies of the newest Messages requests, in order."""

    script: Script
    base_url: str = ""
    requests: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=REQUESTS_KEPT))
    _served: dict[str, dict[int, int]] = field(default_factory=dict)

    def reply(self, body: JsonObject) -> tuple[Turn, JsonObject]:
        """The turn for one request and, for an answer, the whole message."""
        messages = [m for m in body.get("messages", []) if isinstance(m, dict)]
        prompt, results = prompt_of(messages), tool_results(messages)
        answered = sum(m.get("role") == "assistant" for m in messages)
        served = self._served.setdefault(f"{json.dumps(body.get('metadata'))}\n{prompt}", {})
        position, turn = choose(self.script.turns_for(prompt), answered, served)
        message = {
            "id": f"msg_{answered}_{position}",
            "type": "message",
            "role": "assistant",
            "model": self.script.model or body.get("model"),
            "content": _content(turn, answered, prompt, results),
            "stop_reason": turn.stop_reason or _stop_reason(turn),
            "stop_sequence": None,
            "usage": {**_USAGE, **turn.usage},
        }
        return turn, message

    async def messages(self, request: Request) -> Response:
        """``POST /v1/messages``."""
        try:
            body = await request.json()
        except ValueError:
            return _failure(400, {"type": "invalid_request_error", "message": "not JSON"})
        if not isinstance(body, dict):
            return _failure(400, {"type": "invalid_request_error", "message": "not an object"})
        self.requests.append(body)
        turn, message = self.reply(body)
        if turn.hang:
            await _until_disconnected(request)
            return Response()
        if turn.status is not None:
            return _failure(turn.status, turn.error)
        if body.get("stream"):
            return StreamingResponse(_stream(message), media_type="text/event-stream")
        return JSONResponse(message)


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def prompt_of(messages: list[JsonObject]) -> str:
    """Every text of the first user message: the question, and whatever the host put beside it."""
    first = next((m for m in messages if m.get("role") == "user"), {})
    return "\n".join(_texts(first.get("content")))


def tool_results(messages: list[JsonObject]) -> list[str]:
    """The text of each tool result in the conversation, in order."""
    return [
        "\n".join(_texts(block.get("content")))
        for message in messages
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    return [str(b.get("text", b.get("tool_name", ""))) for b in blocks]


def _content(turn: Turn, answered: int, prompt: str, results: list[str]) -> list[JsonObject]:
    filled: list[JsonObject] = fill(list(turn.blocks), prompt, results)
    return [
        {"id": f"toolu_{answered}_{n}", **block} if block["type"] == "tool_use" else block
        for n, block in enumerate(filled)
    ]


def _stop_reason(turn: Turn) -> str:
    return "tool_use" if any(block["type"] == "tool_use" for block in turn.blocks) else "end_turn"


def _failure(status: int, error: JsonObject) -> JSONResponse:
    detail = {"type": "api_error", "message": f"scripted failure {status}", **error}
    return JSONResponse({"type": "error", "error": detail}, status_code=status)


async def _stream(message: JsonObject) -> AsyncIterator[str]:
    for event in stream_events(message):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def stream_events(message: JsonObject) -> Iterator[JsonObject]:
    """A whole message as the events of the streaming API."""
    usage = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}}
    for index, block in enumerate(message["content"]):
        start, delta = _block_events(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    closing = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": closing, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _block_events(block: JsonObject) -> tuple[JsonObject, JsonObject]:
    match block["type"]:
        case "tool_use":
            return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        case "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            return empty, {"type": "thinking_delta", "thinking": block.get("thinking", "")}
        case _:
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": block.get("text", "")}


async def _count_tokens(_: Request) -> Response:
    return JSONResponse({"input_tokens": 10})


async def _alive(_: Request) -> Response:
    return Response()


def application(endpoint: ScriptedEndpoint) -> Starlette:
    """The ASGI application; any other path is a 404."""
    return Starlette(
        routes=[
            Route("/v1/messages", endpoint.messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", _count_tokens, methods=["POST"]),
            Route("/", _alive, methods=["GET", "HEAD"]),
        ]
    )


@contextlib.contextmanager
def serve_script(
    script: Script, made: Callable[[Script], ScriptedEndpoint] = ScriptedEndpoint
) -> Iterator[ScriptedEndpoint]:
    """Serve ``script`` on a free loopback port for as long as the block runs. ``made`` may give one that thinks.

    Raises:
        OutsideFailure: the port could not be opened, or the server did not come up.
    """
    endpoint = made(script)
    config = uvicorn.Config(
        application(endpoint), lifespan="off", log_config=None, log_level="critical", access_log=False, ws="none"
    )
    with socket.socket() as listening:
        try:
            listening.bind(("127.0.0.1", 0))
        except OSError as error:
            raise OutsideFailure(f"No loopback port could be opened: {error}.") from error
        endpoint.base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            if not server.up.wait(START_TIMEOUT_S):
                raise OutsideFailure("The scripted endpoint did not start.")
            yield endpoint
        finally:
            server.should_exit = server.force_exit = True
            thread.join(START_TIMEOUT_S)


class _Server(uvicorn.Server):
    """Says when it listens, so that nobody has to look again and again."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell."""
        await super().startup(sockets)
        self.up.set()
