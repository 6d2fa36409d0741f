"""What the host's init event attests against what the condition promised: our server, our tools, nothing else. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

from okn_benchmark.host.episode import SERVER_NAME, SUBMIT_TOOL, TOOL_PREFIX
from okn_benchmark.host.isolation import ALLOWED_TOOL, HOST_OWNED
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Episode

Fault: TypeAlias = Literal["not_connected", "tool_set"]
_SHOWN: Final = 8
_NAMES_KEPT: Final = 2_000
"""As many names as the transcript reader keeps; of a longer list nothing is known to be missing."""


def attested_faults(episode: Episode) -> Iterator[tuple[Fault, str]]:
    """Each way in which the agent was not given what the condition says. Without an init event nothing is attested."""
    init = episode.init
    if init is None or not isinstance(init.get("mcp_servers"), dict):
        return
    status = init["mcp_servers"].get(SERVER_NAME)
    if status != "connected":
        yield "not_connected", f"the host reports the server under test as {status or 'absent'}"
        return
    if init.get("server_in_turn_1") is False:
        yield "not_connected", "the server under test was connected only after the first turn"
        return
    strangers = sorted(str(name) for name in init["mcp_servers"] if name != SERVER_NAME)
    if strangers:
        yield "tool_set", f"the agent was given other servers: {_list(strangers)}"
    yield from (("tool_set", words) for words in _tool_faults(episode, init))


def _tool_faults(episode: Episode, init: JsonObject) -> Iterator[str]:
    names: Any = init.get("tools")
    if not isinstance(names, list):
        return
    offered, foreign = _split(episode.host, [str(name) for name in names])
    if foreign:
        yield f"the agent was given tools that are not the server's: {_list(foreign)}"
    if len(names) >= _NAMES_KEPT:
        return
    expected = episode.extra.get("expected_tools")
    wanted = {as_host_writes(str(name)) for name in expected} if isinstance(expected, list) else {SUBMIT_TOOL}
    if missing := sorted(wanted - offered):
        yield f"tools were missing: {_list(missing)}"
    surplus = sorted(offered - wanted) if isinstance(expected, list) else []
    if surplus:
        yield f"tools were offered that the server did not list before the run: {_list(surplus)}"


def _split(host: str, names: list[str]) -> tuple[set[str], list[str]]:
    """The server's tools by their bare names, and what is neither theirs nor the host's own inert ones."""
    if host == "oracle":
        return {as_host_writes(name) for name in names}, []
    offered = {name.removeprefix(TOOL_PREFIX) for name in names if name.startswith(TOOL_PREFIX)}
    allowed = {ALLOWED_TOOL, *HOST_OWNED}
    return offered, sorted({name for name in names if not name.startswith(TOOL_PREFIX) and name not in allowed})


def as_host_writes(name: str) -> str:
    """A tool's name as the host shows it: what is no letter, digit, dash or underscore becomes an underscore."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _list(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
