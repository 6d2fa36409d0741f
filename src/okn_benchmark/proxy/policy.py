"""What the agent may see and call. Pure: messages in, messages out, no clock, socket or file.

The filter comes first and ``submit_csv`` second, so that no flag can take the answer channel away; and a call is
judged as well as the list, since an agent may remember a name it was never shown.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from okn_benchmark.jsonrpc import Message
from okn_benchmark.proxy.health import soft_error

SUBMIT: Final = "submit_csv"
RESULT_SIZE_KEY: Final = "anthropic/maxResultSizeChars"

SUBMIT_TOOL: Final[Message] = {
    "name": SUBMIT,
    "title": "Submit the answer",
    "description": (
        "Hand in your answer: the complete result table as CSV. The first line is the header row with the column "
        "names, every following line one result. Where no result exists, the header row alone is the answer. "
        "Quote a cell that holds a comma, a double quote or a line break, and double the quotes inside it. The reply "
        "says whether the table was accepted; a refusal names the row to mend. You may submit again: the last "
        "accepted table is your answer."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"csv": {"type": "string", "description": "The whole table: header row, then the result rows."}},
        "required": ["csv"],
        "additionalProperties": False,
    },
}

Judgement: TypeAlias = Literal["local", "withheld", "forward"]


class Arm(Protocol):
    """Declared changes to what the server says; each method also names the interventions that were applied."""

    def instructions(self, text: str | None) -> tuple[str | None, tuple[str, ...]]:
        """The server's instructions as the agent shall read them."""

    def definition(self, tool: Message) -> tuple[Message, tuple[str, ...]]:
        """One tool definition as the agent shall read it."""

    def result(self, tool: str, result: Message) -> tuple[Message, tuple[str, ...], tuple[Message, ...]]:
        """One result as the agent shall read it, and what each step did to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The answer to an opening request; ``changed`` when it is no longer the upstream's own."""

    result: Message
    changed: bool
    interventions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the tool list: as shown, and what was done to it."""

    result: Message
    names: tuple[str, ...]
    """As the upstream listed them."""
    shown: Mapping[str, int]
    """Upstream tools the agent sees, each with the characters of its definition."""
    withheld: tuple[str, ...]
    last: bool
    schemas: Mapping[str, Any]
    """Output schemas by tool, for the record of mismatches."""
    interventions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a call as passed on."""

    result: Message
    changed: bool
    soft_error: str | None
    interventions: tuple[str, ...] = ()
    steps: tuple[Message, ...] = ()
    """For each rule of the arm on this tool: digests before and after, and what a second reading found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The condition, as far as the proxy enforces it."""

    withheld: frozenset[str] = frozenset()
    strict: bool = False
    result_limit: int | None = None
    arm: Arm | None = field(default=None, repr=False)

    def judge(self, tool: object) -> Judgement:
        """What to do with a call to ``tool``."""
        if tool == SUBMIT:
            return "local"
        return "withheld" if isinstance(tool, str) and tool in self.withheld else "forward"

    def hello(self, result: Message) -> Hello:
        """Place 1: instructions, and room for the one tool that is always there."""
        changed = False
        applied: tuple[str, ...] = ()
        capabilities = result.get("capabilities")
        if not isinstance(capabilities, Mapping) or "tools" not in capabilities:
            known = capabilities if isinstance(capabilities, Mapping) else {}
            result, changed = {**result, "capabilities": {**known, "tools": {}}}, True
        if self.arm is not None:
            text = result.get("instructions")
            new, applied = self.arm.instructions(text if isinstance(text, str) else None)
            if new != text:
                kept = {k: v for k, v in result.items() if k != "instructions"}
                result, changed = (kept if new is None else {**kept, "instructions": new}), True
        return Hello(result=result, changed=changed, interventions=applied)

    def page(self, result: Message) -> Page:
        """Place 2: filter, intervene, mark, and on the last page add ``submit_csv``. Unknown keys stay."""
        listed = _tools(result)
        named = [tool for tool in listed if isinstance(tool, Mapping)]
        names = tuple(str(tool.get("name")) for tool in named)
        tools: list[Any] = []
        applied: list[str] = []
        for tool in listed:
            if not isinstance(tool, Mapping):
                tools.append(tool)
            elif self.judge(tool.get("name")) == "forward":
                definition, used = self._definition(dict(tool))
                tools.append(definition)
                applied += used
        shown = [tool for tool in tools if isinstance(tool, dict)]
        last = not result.get("nextCursor")
        return Page(
            result={**result, "tools": [*tools, self.submit_tool()] if last else tools},
            names=names,
            shown={str(tool.get("name")): _chars(tool) for tool in shown},
            withheld=tuple(name for name in names if name in self.withheld),
            last=last,
            schemas={str(t.get("name")): t["outputSchema"] for t in shown if isinstance(t.get("outputSchema"), dict)},
            interventions=tuple(dict.fromkeys(applied)),
        )

    def submit_tool(self) -> Message:
        """The definition of ``submit_csv`` as listed."""
        return self._marked(dict(SUBMIT_TOOL))

    def reply(self, tool: str, result: Message) -> Reply:
        """Place 4: soft errors, the strict flag, payload interventions."""
        soft = soft_error(result)
        changed = False
        applied: tuple[str, ...] = ()
        steps: tuple[Message, ...] = ()
        if self.arm is not None:
            new, applied, steps = self.arm.result(tool, result)
            result, changed = new, bool(applied)
        if soft is not None and self.strict:
            result, changed = {**result, "isError": True}, True
        return Reply(result=result, changed=changed, soft_error=soft, interventions=applied, steps=steps)

    def _definition(self, tool: Message) -> tuple[Message, tuple[str, ...]]:
        if self.arm is None:
            return self._marked(tool), ()
        changed, applied = self.arm.definition(tool)
        return self._marked(changed), applied

    def _marked(self, tool: Message) -> Message:
        """Hosts clip long results unless the definition asks for more."""
        if self.result_limit is None:
            return tool
        meta = tool.get("_meta")
        kept = meta if isinstance(meta, Mapping) else {}
        return {**tool, "_meta": {**kept, RESULT_SIZE_KEY: self.result_limit}}


def _tools(result: Mapping[str, Any]) -> list[Any]:
    tools = result.get("tools")
    return tools if isinstance(tools, list) else []


def _chars(tool: Mapping[str, Any]) -> int:
    return len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))
