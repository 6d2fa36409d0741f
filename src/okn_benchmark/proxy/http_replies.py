"""What one HTTP reply amounts to: its body within the bound, whom it answers, what went wrong in a few words."""

from typing import TYPE_CHECKING, Final

from okn_benchmark.jsonrpc import Message, id_key, kind_of
from okn_benchmark.proxy.sse import TooLarge

if TYPE_CHECKING:
    import httpx2

_EXCERPT: Final = 200


async def read_body(response: "httpx2.Response", bound: int) -> bytes:
    """The whole body, decoded. Raises ``TooLarge`` as soon as it is over ``bound`` bytes."""
    parts, size = [], 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > bound:
            raise TooLarge
        parts.append(chunk)
    return b"".join(parts)


def answers(message: Message, asked: Message) -> bool:
    """Whether ``message`` is the reply to ``asked``."""
    return kind_of(message) == "response" and id_key(message.get("id")) == id_key(asked["id"])


def is_error(message: Message) -> bool:
    """Whether this is an error of JSON-RPC, and not some other JSON that a gateway or a login page sends."""
    return message.get("jsonrpc") == "2.0" and isinstance(message.get("error"), dict)


def same_origin(request: "httpx2.Request", follow: "httpx2.Request") -> bool:
    """Whether a redirect stays with the server it came from, and keeps the message it was given."""
    one, two = request.url, follow.url
    same = (one.scheme, one.host, one.port) == (two.scheme, two.host, two.port)
    return same and request.method == follow.method and one.userinfo == two.userinfo


def reason_of(error: Exception) -> str:
    """What failed, without the URL: it may carry a credential."""
    names = {
        "ConnectError": "no connection could be made",
        "ConnectTimeout": "no connection was made in time",
        "ReadTimeout": "the server fell silent",
        "RemoteProtocolError": "the server dropped the connection",
        "ReadError": "the server dropped the connection",
    }
    return names.get(type(error).__name__, type(error).__name__)


def described(response: "httpx2.Response", body: bytes) -> str:
    """A reply that is none, in one line."""
    if response.has_redirect_location:
        return f"HTTP {response.status_code}, a redirect to another place, which is not followed"
    said = " ".join(body[: _EXCERPT * 4].decode("utf-8", "replace").split())[:_EXCERPT]
    return f"HTTP {response.status_code} {response.reason_phrase}".strip() + (f": {said}" if said else "")
