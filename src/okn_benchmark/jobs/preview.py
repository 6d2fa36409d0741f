"""Both sides of an arm, for free: what a server says, and what an agent of this arm would read. No model, no tokens."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.host.episode import SUBMIT_TOOL
from okn_benchmark.host.proxy_client import ProxyClient, Reply
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.interventions.arm_file import load_arm
from okn_benchmark.jobs.server import check_arm, check_withheld, read_facts
from okn_benchmark.jsonio import JsonObject, line, parse_object
from okn_benchmark.launch import DEFAULT_CALL_TIMEOUT_S, ProxyLaunch
from okn_benchmark.profile import load_profile
from okn_benchmark.runs.ledger import estimated_tokens
from okn_benchmark.runs.readers import read_calls

_SHOWN = 1_500
"""Characters of each side of a result on a terminal; --json has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The same thing before and after; None: not there."""

    name: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        """Whether the arm touched it."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed:
    """An arm over one server: instructions, each definition as JSON, and one result where a call was asked for."""

    arm: Arm
    server: str
    instructions: Sides
    definitions: tuple[Sides, ...]
    result: Sides | None = None
    steps: tuple[JsonObject, ...] = ()

    @property
    def verdict(self) -> str | None:
        """What the manipulation check would make of the call; None where there was none."""
        if self.result is None:
            return None
        if not self.steps:
            return "the arm is not about this tool, or the call failed"
        return "; ".join(f"{step['rule']}: {_step_words(step)}" for step in self.steps)

    def to_json(self) -> JsonObject:
        """For scripts: everything whole."""
        sides = [self.instructions, *self.definitions, *([self.result] if self.result else [])]
        return {
            "schema": "preview/1",
            "arm": {"digest": self.arm.digest(), **self.arm.to_json()},
            "server": self.server,
            "sides": [{"name": s.name, "before": s.before, "after": s.after, "changed": s.changed} for s in sides],
            "steps": list(self.steps),
        }


def preview(
    profile: Path,
    arm_file: Path,
    *,
    call: tuple[str, JsonObject] | None = None,
    withheld: Sequence[str] = (),
    timeout_s: float = DEFAULT_CALL_TIMEOUT_S,
) -> Previewed:
    """Ask the server once without the arm and once with it; ``call`` is made once, and both sides of its result kept.

    Raises:
        InputError: the profile or the arm cannot be used, or names a tool the server does not have.
        OutsideFailure: the server did not start or did not answer.
    """
    name, arm = load_profile(profile).name, load_arm(arm_file)
    bare = ProxyLaunch(level="all-tools", profile=profile.resolve(), call_timeout_s=timeout_s)
    opening, tools = _asked(bare)
    facts = read_facts(opening, tools)
    check_withheld(withheld, facts)
    check_arm(arm, facts)
    if call is not None and call[0] not in {tool.name for tool in facts.own_tools}:
        raise InputError(f"--call {call[0]}: the server has no tool of that name.")
    with tempfile.TemporaryDirectory(prefix="okn-preview-") as folder:
        log = Path(folder) / "attempt-1"
        armed = replace(bare, arm=arm_file.resolve(), withheld=tuple(withheld), log_dir=log, keep_payloads=True)
        given, left, reply = _asked_with_call(armed, call)
        result, steps = _both_sides(log, call, reply)
    return Previewed(
        arm=arm,
        server=name,
        instructions=Sides(name="instructions", before=_text(opening), after=_text(given)),
        definitions=tuple(_definitions(tools, left)),
        result=result,
        steps=steps,
    )


def _asked(launch: ProxyLaunch) -> tuple[JsonObject, list[JsonObject]]:
    opening, tools, _ = _asked_with_call(launch, None)
    return opening, tools


def _asked_with_call(
    launch: ProxyLaunch, call: tuple[str, JsonObject] | None
) -> tuple[JsonObject, list[JsonObject], Reply | None]:
    with ProxyClient(launch.to_argv(), call_timeout_s=launch.call_timeout_s) as client:
        opening, tools = client.initialize(), list(client.list_tools())
        reply = None if call is None else client.call_tool(call[0], call[1], timeout_s=launch.call_timeout_s)
    return opening, tools, reply


def _both_sides(
    log: Path, call: tuple[str, JsonObject] | None, reply: Reply | None
) -> tuple[Sides | None, tuple[JsonObject, ...]]:
    if call is None or reply is None:
        return None, ()
    if reply.result is None:
        raise OutsideFailure(f"The call of {call[0]} failed: {reply.error}")
    kept = [log / "payloads" / f"1-{side}.json" for side in ("before", "after")]
    name = f"result of {call[0]}"
    if not all(path.exists() for path in kept):
        same = line(reply.result)
        return Sides(name=name, before=same, after=same), ()
    before, after = (path.read_text(encoding="utf-8").rstrip("\n") for path in kept)
    calls = read_calls((log / "calls.json").read_bytes(), "calls.json")
    steps = calls.calls[0].extra.get("steps") if calls.calls else None
    return Sides(name=name, before=before, after=after), tuple(steps) if isinstance(steps, list) else ()


def _definitions(before: list[JsonObject], after: list[JsonObject]) -> Iterator[Sides]:
    left = {str(tool.get("name")): line(tool) for tool in after}
    for tool in before:
        name = str(tool.get("name"))
        if name != SUBMIT_TOOL:
            yield Sides(name=name, before=line(tool), after=left.get(name))


def _text(opening: JsonObject) -> str | None:
    found = opening.get("instructions")
    return found if isinstance(found, str) else None


def _step_words(step: JsonObject) -> str:
    if not step["due"]:
        return "no work here, nothing changed" if step["before"] == step["after"] else "CHANGED WHERE IT SHOULD NOT"
    if step["before"] == step["after"]:
        return "CHANGED NOTHING WHERE IT SHOULD"
    if step["left"] or not step["kept"]:
        return "LEFT WORK UNDONE" if step["left"] else "CHANGED MORE THAN IT NAMES"
    return "changed as declared, nothing else touched"


def preview_lines(found: Previewed) -> Iterator[str]:
    """What a person reads."""
    yield f"arm {found.arm.name} over {found.server}, digest {found.arm.digest()[:12]}"
    yield f"  {_chars(found.instructions)}"
    for sides in found.definitions:
        yield f"  {_chars(sides)}"
    before, after = (_total(found.definitions, side) for side in ("before", "after"))
    tokens = f"about {estimated_tokens(before):,} → {estimated_tokens(after):,} tokens at four characters each"
    yield f"  definitions in all: {before:,} → {after:,} characters, {tokens}"
    if found.result is not None:
        yield f"  {_chars(found.result)}"
        for label, text in (("before", found.result.before), ("after", found.result.after)):
            yield f"  {label}:"
            yield from (f"    {row}" for row in _shown(text or ""))
        yield f"  check: {found.verdict}"


def _chars(sides: Sides) -> str:
    if sides.before is None and sides.after is None:
        return f"{sides.name}: none"
    if sides.before is not None and sides.after is None:
        return f"{sides.name}: {len(sides.before):,} characters, taken away"
    if not sides.changed:
        return f"{sides.name}: {len(sides.before or ''):,} characters, unchanged"
    return f"{sides.name}: {len(sides.before or ''):,} → {len(sides.after or ''):,} characters"


def _total(definitions: Sequence[Sides], side: str) -> int:
    return sum(len(getattr(one, side) or "") for one in definitions)


def _shown(text: str) -> list[str]:
    """The text an agent reads, if the result holds any; else the result as JSON."""
    value = parse_object(text, "a result")
    blocks = value.get("content")
    said = [b["text"] for b in blocks if isinstance(b, dict) and isinstance(b.get("text"), str)] if blocks else []
    whole = "\n".join(said) or json.dumps(value, ensure_ascii=False)
    cut = whole[:_SHOWN]
    left = len(whole) - len(cut)
    return [*cut.splitlines(), *([f"… {left:,} more characters"] if left else [])]
