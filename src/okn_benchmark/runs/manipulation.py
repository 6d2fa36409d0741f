"""The manipulation check: did an arm change what it should, and nothing else? From the call logs of its attempts. Pure.

A broken manipulation does not crash; it gives numbers that look like a finding. So an arm's numbers stand only where
every gate is passed, and a check that could not be made counts as failed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.interventions.arm_file import read_arm
from okn_benchmark.interventions.chance import fate
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Call, Calls

GATES: Final[Mapping[str, str]] = {
    "recorded": "every result the arm is about is in the call log with what was done to it",
    "applied": "a result with work for the arm came out changed, and none of the work is left",
    "untouched": "a result without work for the arm came out as it came",
    "kept": "what the arm does not name is the same before and after",
    "offered": "definitions and instructions were offered as the arm says",
    "chance": "as many calls failed or waited as the seed says",
    "met": "every rule of the arm met a result it applies to",
}
"""Each gate and what it holds. The first six are per attempt, the last is of the condition."""

_SUBMIT: Final = "submit_csv"
_EXAMPLES: Final = 3


@dataclass(slots=True)
class _Findings:
    """What is wrong, gate by gate, and how often each rule had work."""

    failed: dict[str, list[str]] = field(default_factory=dict)
    checked: int = 0
    due: Counter[str] = field(default_factory=Counter)

    def fault(self, gate: str, words: str) -> None:
        self.failed.setdefault(gate, []).append(words)

    def to_json(self) -> JsonObject:
        return {"checked": self.checked, "due": dict(sorted(self.due.items())), "failed": self.failed}


def arm_of_meta(meta: Mapping[str, Any], source: str) -> Arm | None:
    """The arm a condition record declares; None where it has none.

    Raises:
        InputError: the record names an arm and does not hold its content, so nothing can be checked.
    """
    value, identity = meta.get("arm"), meta.get("identity")
    declared = identity.get("arm") if isinstance(identity, Mapping) else None
    if not isinstance(value, Mapping):
        if declared is None:
            return None
        raise InputError(f"{source}: meta.arm is missing, and the identity names an arm.")
    content = {k: v for k, v in value.items() if k not in ("version", "digest", "instructions_text")}
    if value.get("instructions") == "file":
        content["instructions_file"] = value.get("instructions_text") or " "
    arm = read_arm(content, f"{source}: meta.arm", str)
    if declared != arm.digest():
        raise InputError(f"{source}: meta.arm is not the arm the identity names.")
    return arm


def check_attempt(arm: Arm, calls: Calls | None, attempt: int) -> JsonObject:
    """The per-attempt gates over one call log: calls checked, work met by rule, and what failed in words."""
    found = _Findings()
    if calls is None:
        found.fault("recorded", "there is no call log")
        return found.to_json()
    settings = calls.extra.get("settings")
    ran = settings.get("arm") if isinstance(settings, Mapping) else None
    if not isinstance(ran, Mapping) or ran.get("digest") != arm.digest():
        found.fault("recorded", "the proxy of this attempt was not given this arm")
    traffic = calls.extra.get("traffic")
    if isinstance(traffic, Mapping) and traffic.get("internal_errors"):
        # What the proxy could not treat it passes on as it came, and says so here.
        found.fault("recorded", f"the proxy failed on {traffic['internal_errors']} messages")
    for call in calls.calls:
        _check_call(arm, call, found)
    _check_offer(arm, calls, found)
    _check_chance(arm, calls, attempt, found)
    return found.to_json()


def _check_call(arm: Arm, call: Call, found: _Findings) -> None:
    # Only a result has a digest: what was refused, timed out or failed on the way was answered by the proxy.
    expected = _rules(arm, call.tool) if call.sha256 is not None and call.tool != _SUBMIT else []
    raw = call.extra.get("steps")
    steps = [step for step in raw if isinstance(step, Mapping)] if isinstance(raw, list) else []
    where = f"call {call.seq} of {call.tool}"
    if not expected:
        if steps or (call.interventions and call.tool != _SUBMIT):
            found.fault("untouched", f"{where}: changed, and the arm is not about it")
        return
    found.checked += 1
    if [step.get("rule") for step in steps] != expected:
        found.fault("recorded", f"{where}: what was done to it is not recorded")
        return
    for earlier, later in pairwise(steps):
        if earlier.get("after") != later.get("before"):
            found.fault("recorded", f"{where}: something happened to it between two rules")
    for step in steps:
        _check_step(step, where, found)


def _rules(arm: Arm, tool: str) -> list[str]:
    return [rule.name for rule in arm.rules_for(tool)] + ([f"output {arm.output.characters}"] if arm.output else [])


def _check_step(step: Mapping[str, Any], where: str, found: _Findings) -> None:
    rule, before, after = str(step.get("rule")), step.get("before"), step.get("after")
    if not isinstance(before, str) or not isinstance(after, str):
        found.fault("recorded", f"{where}: {rule} left no digests")
        return
    if step.get("due") is True:
        found.due[rule] += 1
        if before == after:
            found.fault("applied", f"{where}: {rule} changed nothing")
        elif step.get("left") is not False:
            found.fault("applied", f"{where}: {rule} left work undone")
    elif before != after:
        found.fault("untouched", f"{where}: {rule} changed a result it has no work in")
    if step.get("kept") is not True:
        found.fault("kept", f"{where}: {rule} changed more than it names")


def _check_offer(arm: Arm, calls: Calls, found: _Findings) -> None:
    offered, session = calls.extra.get("offered"), calls.extra.get("session")
    if not isinstance(offered, Mapping) or not isinstance(session, Mapping):
        if arm.documentation != "full" or arm.without_tools or arm.instructions != "forward":
            found.fault("offered", "what the agent was offered is not recorded")
        return
    if arm.documentation != "full" and f"documentation {arm.documentation}" not in offered.get("interventions", ()):
        found.fault("offered", "there was no documentation to take away")
    for tool in arm.without_tools:
        if tool not in offered.get("withheld", ()) or tool in offered.get("tools", ()):
            found.fault("offered", f"{tool} was not taken off the list")
    had, given = session.get("instructions_chars"), session.get("instructions_given_chars")
    if arm.instructions == "strip" and (given != 0 or not had):
        found.fault("offered", "there were no instructions to strip" if not had else "instructions were still given")
    if arm.instructions == "file" and given != len(arm.instructions_text or ""):
        found.fault("offered", "the instructions given are not the arm's")


def _check_chance(arm: Arm, calls: Calls, attempt: int, found: _Findings) -> None:
    """What the wire counted against what the seed says; a lost connection leaves calls that never met their fate."""
    if (arm.faults is None and arm.latency is None) or calls.metrics.lost_upstream:
        return
    forwarded = [call for call in calls.calls if call.tool != _SUBMIT and not call.withheld]
    fates = [
        fate(arm, f"attempt-{attempt}", number, call.tool, call.arguments) for number, call in enumerate(forwarded, 1)
    ]
    traffic = calls.extra.get("traffic")
    counted = traffic if isinstance(traffic, Mapping) else {}
    for name, expected in (
        ("injected faults", sum(one.fault is not None for one in fates)),
        ("injected delays", sum(one.delay_s > 0 for one in fates)),
    ):
        if counted.get(name, 0) != expected:
            found.fault("chance", f"{name}: {counted.get(name, 0)} where the seed says {expected}")


def combined(arm: Arm, checks: Iterable[tuple[str, JsonObject | None]]) -> JsonObject:
    """The verdict on a whole condition. ``checks`` are measured attempts by name; None is one that was not checked."""
    attempts, checked = 0, 0
    due: Counter[str] = Counter()
    failed: dict[str, list[str]] = {}
    for name, check in checks:
        attempts += 1
        if check is None:
            failed.setdefault("recorded", []).append(f"{name}: not checked")
            continue
        checked += int(check.get("checked") or 0)
        due.update(check.get("due") or {})
        for gate, words in (check.get("failed") or {}).items():
            failed.setdefault(gate, []).extend(f"{name}: {one}" for one in words)
    owed = _owed(arm) if attempts else []
    if never := [rule for rule in owed if not due[rule]]:
        failed["met"] = [f"{rule} never met a result it applies to" for rule in never]
    return {
        "passed": not failed,
        "attempts": attempts,
        "calls_checked": checked,
        "work": {rule: due[rule] for rule in dict.fromkeys([*owed, *due])},
        "failed": {gate: _few(failed[gate]) for gate in GATES if gate in failed},
    }


def _owed(arm: Arm) -> list[str]:
    """Rules that have to meet a result somewhere. A limit on output is one where it is all the arm does to results."""
    limit = [f"output {arm.output.characters}"] if arm.output and not arm.results else []
    return list(dict.fromkeys([*(rule.name for rule in arm.results if rule.expect != "optional"), *limit]))


def _few(words: Sequence[str]) -> JsonObject:
    return {"count": len(words), "examples": list(words[:_EXAMPLES])}


def unreadable(reason: str) -> JsonObject:
    """The verdict where nothing could be checked."""
    failed = {"recorded": {"count": 1, "examples": [reason]}}
    return {"passed": False, "attempts": 0, "calls_checked": 0, "work": {}, "failed": failed}


def refusal_of(aggregate: Mapping[str, Any], *, armed: bool) -> str | None:
    """Why a condition's numbers may not be shown; None where they may. ``armed``: its identity names an arm."""
    found = aggregate.get("manipulation")
    if not isinstance(found, Mapping):
        return "the manipulation check was not made" if armed else None
    if found.get("passed") is True:
        return None
    failed = found.get("failed")
    gates = failed if isinstance(failed, Mapping) else {}
    words = [f"{gate}: {_first(gates[gate])}" for gate in GATES if gate in gates]
    return "; ".join(words) or "the manipulation check was not made"


def _first(gate: Any) -> str:
    examples = gate.get("examples") if isinstance(gate, Mapping) else None
    count = gate.get("count") if isinstance(gate, Mapping) else None
    said = str(examples[0]) if isinstance(examples, list) and examples else "failed"
    return said if count in (None, 1) else f"{said} (and {int(count) - 1} more)"
