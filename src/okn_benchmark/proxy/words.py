"""What this proxy says to an agent in the server's stead. Each text tells what happened and what still works. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from okn_benchmark.proxy.policy import SUBMIT

CANCELLED: Final = "cancelled by the host"
_LONGEST: Final = 400
_LAST_WORDS: Final = 320
"""Leaves room in ``_LONGEST`` for how the process ended."""
_TRACEBACK: Final = "Traceback (most recent call last):"


def withheld(tool: str) -> str:
    """A tool that this condition does not have."""
    return f"The tool {tool} is not available here. Use the tools that are listed."


def timed_out(limit_s: float) -> str:
    """A call that took too long."""
    return (
        f"The server gave no result within {limit_s:g} s and the call was abandoned. "
        "Other calls still work; a narrower request may finish in time."
    )


def failed(reason: str, retry_after: str | None) -> str:
    """A call that failed on the way, while the connection holds."""
    wait = f" The server asks to wait {retry_after} before trying again." if retry_after else ""
    return f"The call did not get through: {reason[:_LONGEST]}.{wait} Other calls can still be made."


def lost(reason: str) -> str:
    """A connection that is gone."""
    return (
        f"The connection to the server is gone ({reason[:_LONGEST]}) and will not come back in this session, so no "
        f"further call to its tools can succeed. {SUBMIT} still works: hand in the best table you have."
    )


def breaker(failures: int, last: str) -> str:
    """Why a session that still exists is given up."""
    return f"{failures} calls in a row failed, the last one so: {last[:_LONGEST]}"


def no_start(limit_s: float) -> str:
    """A server that never answered its first request."""
    return f"the server did not answer its first request within {limit_s:g} s"


def left_early(why: str) -> str:
    """A host that did not wait for the first answer."""
    return f"the server had not answered its first request when the session ended ({why})"


def no_server(reason: str) -> str:
    """A server that could not be started or reached."""
    return f"The server could not be started or reached: {reason[:_LONGEST]}"


def last_words(lines: Sequence[str]) -> str:
    """The end of a stderr in whole lines: what a traceback raises, else the last lines that fit.

    One line that is too long by itself loses its end, since its beginning says what it is.
    """
    said = [line.rstrip() for line in lines if line.strip()]
    frames = next((at for at in reversed(range(len(said))) if said[at].startswith(_TRACEBACK)), None)
    if frames is not None:
        raised = next((at for at in range(frames + 1, len(said)) if not said[at][0].isspace()), frames)
        said = said[raised:]
    kept: list[str] = []
    room = _LAST_WORDS
    for line in reversed(said[:1] if frames is not None else said):
        words = " ".join(line.split())
        if len(words) > room:
            kept = kept or [words[: _LAST_WORDS - 1] + "…"]
            break
        kept.insert(0, words)
        room -= len(words) + 3
    return " | ".join(kept)


def of_error(error: Any) -> str:
    """A JSON-RPC error as one line for the log."""
    if not isinstance(error, Mapping):
        return "a reply without a result"
    return f"{error.get('message')} (code {error.get('code')})"[:_LONGEST]


def of_result(result: Mapping[str, Any]) -> str:
    """The first text of a result."""
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            return str(block["text"])
    return "an error without a text"


def sized(arguments: Any) -> Any:
    """A submission for the call log: its size in place of the table, which is kept in its own file."""
    if not isinstance(arguments, Mapping):
        return arguments
    return {k: f"<{len(v):,} characters>" if isinstance(v, str) else v for k, v in arguments.items()}
