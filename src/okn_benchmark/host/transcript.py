"""Read a host's event stream: what was offered, how often the model answered, what the host did to results.

Pure, and tolerant of everything: the stream carries text of an agent and of a server, so no shape is trusted.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from okn_benchmark.host.episode import SERVER_NAME, TOOL_PREFIX, Event
from okn_benchmark.host.usage import usage_facts
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Tokens

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The model name of messages the host writes itself, API failures above all."""
CLIPPED: Final = re.compile(r"^\s*(<persisted-output>|Error: result \([\d,]+ characters\b.*exceeds maximum allowed)")
RESULT_CHARS: Final = 2_000
NAMES_KEPT: Final = 2_000

_INIT_KEYS: Final = {
    "claude_code_version": "version",
    "model": "model",
    "tools": "tools",
    "skills": "skills",
    "slash_commands": "slash_commands",
    "agents": "agents",
    "apiKeySource": "api_key_source",
    "permissionMode": "permission_mode",
    "output_style": "output_style",
    "served_by_anthropic": "served_by_anthropic",
}
_FINAL_KEYS: Final = (
    "subtype", "is_error", "api_error_status", "api_error_type", "api_error", "terminal_reason", "num_turns",
    "stop_reason", "duration_ms", "duration_api_ms", "total_cost_usd", "result",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the stream shows. None where it cannot show it."""

    init: JsonObject | None
    final: JsonObject | None
    turns: int | None
    """Answers of the model, counted by us; None when the stream never began."""
    model_resolved: str | None
    tokens: Tokens | None
    usage_by_model: JsonObject
    host_cost_usd: float | None
    api_retries: int | None
    api_retry_s: float | None
    host_clipped: int | None
    withheld_reached: tuple[str, ...]
    withheld_calls: int | None
    """Calls of a withheld tool: the host answers those itself, so the proxy does not see them."""
    tools_used: tuple[str, ...]
    refusals: int
    junk_lines: int


@dataclass(slots=True)
class Reader:
    """Folds the stream, line by line, while it arrives or afterwards."""

    withheld: Sequence[str] = ()
    init: JsonObject | None = None
    final_message: JsonObject | None = None
    answered: dict[str, str | None] = field(default_factory=dict)
    """Message id → the model that signed it, for every answer of a model in the main conversation."""
    retries: int = 0
    retry_ms: float = 0.0
    clipped: int = 0
    reached: dict[str, None] = field(default_factory=dict)
    withheld_calls: int = 0
    tools_used: list[str] = field(default_factory=list)
    api_error: str | None = None
    refusals: int = 0
    junk: int = 0

    def feed(self, line: str | bytes) -> list[Event]:
        """Take one line; what a watcher may want to know of it comes back."""
        if not line.strip():
            return []
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            self.junk += 1
            return []
        match event.get("type"), event.get("subtype"):
            case "system", "init":
                return self._init(event)
            case "system", "api_retry":
                return self._retry(event)
            case "system", str(subtype) if subtype.startswith("model_refusal"):
                self.refusals += 1
            case "assistant", _:
                return self._assistant(event)
            case "user", _:
                self._results(event)
            case "result", _:
                self.final_message = event
                return [Event(kind="final", detail=str(event.get("terminal_reason") or event.get("subtype") or ""))]
        return []

    def take(self, line: bytes) -> None:
        """``feed`` for those who do not watch."""
        self.feed(line)

    def _init(self, event: JsonObject) -> list[Event]:
        # A session has one start; a second init would be a host that restarted, and the first one is what turn 1 saw.
        if self.init is not None:
            return []
        facts = {ours: _bounded(event.get(theirs)) for theirs, ours in _INIT_KEYS.items()}
        servers = {str(s.get("name")): s.get("status") for s in _objects(event.get("mcp_servers"))}
        plugins = [str(p.get("source") or p.get("name")) for p in _objects(event.get("plugins"))]
        status = servers.get(SERVER_NAME)
        before_turn_1 = not self.answered
        self.init = {
            **facts,
            "mcp_servers": servers,
            "plugins": plugins,
            "server_in_turn_1": status == "connected" and before_turn_1,
        }
        return [Event(kind="connected", detail=str(status or "absent"))]

    def _retry(self, event: JsonObject) -> list[Event]:
        delay = event.get("retry_delay_ms")
        self.retries += 1
        self.retry_ms += delay if isinstance(delay, int | float) and not isinstance(delay, bool) else 0
        return [Event(kind="retry", detail=str(event.get("error_status") or event.get("error") or ""))]

    def _assistant(self, event: JsonObject) -> list[Event]:
        message = _object(event.get("message"))
        model = message.get("model")
        if model == SYNTHETIC_MODEL or event.get("is_api_error_message"):
            if event.get("error") or event.get("is_api_error_message"):
                self.api_error = str(event.get("error") or "unknown")
            return []
        self.api_error = None  # the model spoke again, so the failure before was overcome
        made: list[Event] = []
        if event.get("parent_tool_use_id") is None:
            key = str(message.get("id") or event.get("uuid"))
            if key not in self.answered:
                made.append(Event(kind="turn", detail=str(len(self.answered) + 1)))
            self.answered[key] = model if isinstance(model, str) else None
        if message.get("stop_reason") == "refusal":
            self.refusals += 1
        return made + [self._use(b) for b in _objects(message.get("content")) if b.get("type") == "tool_use"]

    def _use(self, block: JsonObject) -> Event:
        name = str(block.get("name"))
        if len(self.tools_used) < NAMES_KEPT:
            self.tools_used.append(name)
        arguments = _object(block.get("input"))
        for tool in self.withheld:
            called = name in (tool, TOOL_PREFIX + tool)
            self.withheld_calls += called
            if called or (name == "ToolSearch" and _asks_for(arguments, tool)):
                self.reached[tool] = None
        return Event(kind="tool", detail=name.removeprefix(TOOL_PREFIX))

    def _results(self, event: JsonObject) -> None:
        content = _object(event.get("message")).get("content")
        # A server's own text always arrives inside a list of blocks; only the host hands over a bare string, so a
        # server that imitates the marker is not mistaken for the host's clipping.
        self.clipped += sum(
            isinstance(block.get("content"), str) and CLIPPED.match(block["content"]) is not None
            for block in _objects(content)
            if block.get("type") == "tool_result"
        )

    def facts(self) -> Facts:
        """Everything seen so far."""
        began = self.init is not None or bool(self.answered) or self.final_message is not None
        usage = usage_facts(self.final_message, tuple(filter(None, self.answered.values())))
        return Facts(
            init=self.init,
            final=self._final(),
            turns=len(self.answered) if began else None,
            model_resolved=usage.model,
            tokens=usage.tokens,
            usage_by_model=usage.by_model,
            host_cost_usd=usage.host_cost_usd,
            api_retries=self.retries if began else None,
            api_retry_s=round(self.retry_ms / 1000, 3) if began else None,
            host_clipped=self.clipped if began else None,
            withheld_reached=tuple(self.reached),
            withheld_calls=self.withheld_calls if began else None,
            tools_used=tuple(self.tools_used),
            refusals=self.refusals,
            junk_lines=self.junk,
        )

    def _final(self) -> JsonObject | None:
        if self.final_message is None:
            return None
        kept = {key: self.final_message.get(key) for key in _FINAL_KEYS}
        if isinstance(kept["result"], str):
            kept["result"] = kept["result"][:RESULT_CHARS]
        # The kind of an API failure stands on the host's own last message, not on the final one.
        return kept | {"error": self.api_error}


def read_transcript(lines: Iterable[str | bytes], withheld: Sequence[str] = ()) -> Facts:
    """The facts of a whole stored stream."""
    reader = Reader(withheld)
    for line in lines:
        reader.feed(line)
    return reader.facts()


def _asks_for(arguments: JsonObject, tool: str) -> bool:
    """Whether a tool search names ``tool`` as a word of its own (``select:a,b`` or plain words)."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(tool)}(?![A-Za-z0-9_-])", str(arguments.get("query"))) is not None


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _bounded(value: Any) -> Any:
    """Lists of names keep their first ones; anything else that is not a plain value becomes text."""
    if isinstance(value, list):
        return [item if isinstance(item, str) else str(item) for item in value[:NAMES_KEPT]]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)[:RESULT_CHARS]
