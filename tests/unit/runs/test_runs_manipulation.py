"""The gates: a clean arm passes all of them, and each is broken in exactly one way."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.interventions.arm import Arm, Faults, OutputLimit, ResultRule
from okn_benchmark.interventions.chance import fate
from okn_benchmark.interventions.treating import result
from okn_benchmark.runs.manipulation import GATES, arm_of_meta, check_attempt, combined, refusal_of, unreadable
from okn_benchmark.runs.shapes import Call, Calls, Metrics

ARM = Arm(
    name="clean",
    without_tools=("gone",),
    documentation="names",
    instructions="strip",
    results=(ResultRule(tool="get", drop=("units",)),),
    output=OutputLimit(characters=200),
    faults=Faults(rate=0.5),
    seed=1,
)
TABLE = "id,value,units\n" + "".join(f"row-{n},{n},nM\n" for n in range(30))
PROSE = "Rows of one target."


def _call(seq: int, tool: str, text: str, arm: Arm = ARM) -> Call:
    done = result(arm, tool, {"content": [{"type": "text", "text": text}]})
    return Call(
        seq=seq,
        tool=tool,
        arguments={"n": seq},
        started_at="",
        elapsed_s=0.1,
        ok=True,
        sha256="f" * 64,
        interventions=done.applied,
        extra={"steps": [step.to_json() for step in done.steps]} if done.steps else {},
    )


def clean(arm: Arm = ARM) -> Calls:
    """What the proxy of an attempt with this arm leaves, all of it in order."""
    calls = (_call(1, "get", TABLE, arm), _call(2, "about", PROSE, arm), _call(3, "get", "no table here", arm))
    faults = sum(fate(arm, "attempt-1", c.seq, c.tool, c.arguments).fault is not None for c in calls)
    return Calls(
        calls=calls,
        metrics=Metrics(),
        extra={
            "settings": {"arm": {"name": arm.name, "digest": arm.digest()}},
            "session": {"instructions_chars": 40, "instructions_given_chars": 0},
            "offered": {"tools": {"get": 50}, "withheld": ["gone"], "interventions": ["documentation names"]},
            "traffic": {"injected faults": faults},
        },
    )


def failed(calls: Calls | None, arm: Arm = ARM) -> set[str]:
    return set(combined(arm, [("q attempt 1", check_attempt(arm, calls, 1))])["failed"])


def with_step(calls: Calls, call: int, step: int, **changes: Any) -> Calls:
    """One step of one call recorded otherwise."""
    steps = [dict(one) for one in calls.calls[call].extra["steps"]]
    steps[step] |= changes
    changed = [replace(c, extra={"steps": steps}) if n == call else c for n, c in enumerate(calls.calls)]
    return replace(calls, calls=tuple(changed))


def without_steps(calls: Calls, call: int) -> Calls:
    changed = [replace(c, extra={}) if n == call else c for n, c in enumerate(calls.calls)]
    return replace(calls, calls=tuple(changed))


def with_extra(key: str, **changes: Any) -> Calls:
    return replace(clean(), extra={**clean().extra, key: {**clean().extra[key], **changes}})


def test_a_clean_arm_passes_and_its_work_is_counted() -> None:
    found = combined(ARM, [("q attempt 1", check_attempt(ARM, clean(), 1))])
    assert found == {
        "passed": True,
        "attempts": 1,
        "calls_checked": 3,
        "work": {"drop units": 1, "output 200": 1},
        "failed": {},
    }
    assert refusal_of({"manipulation": found}, armed=True) is None


BREAKS: dict[str, tuple[str, Callable[[], Calls | None]]] = {
    "no log": ("recorded", lambda: None),
    "another arm": ("recorded", lambda: with_extra("settings", arm={"name": "clean", "digest": "0"})),
    "no arm": ("recorded", lambda: replace(clean(), extra={**clean().extra, "settings": {}})),
    "a result without a record": ("recorded", lambda: without_steps(clean(), 1)),
    "a record without digests": ("recorded", lambda: with_step(clean(), 1, 0, after=None)),
    "a change between two rules": (
        "recorded",
        lambda: with_step(clean(), 0, 1, before="0" * 64),
    ),
    "a failure of the proxy": ("recorded", lambda: with_extra("traffic", internal_errors=1)),
    "work left undone": ("applied", lambda: with_step(clean(), 0, 1, left=True)),
    "a result without work, changed": ("untouched", lambda: with_step(clean(), 1, 0, after="0" * 64)),
    "more changed than named": ("kept", lambda: with_step(clean(), 0, 0, kept=False)),
    "nothing to take away": ("offered", lambda: with_extra("offered", interventions=[])),
    "a tool still listed": ("offered", lambda: with_extra("offered", tools={"gone": 9})),
    "a tool nobody withheld": ("offered", lambda: with_extra("offered", withheld=[])),
    "instructions still given": ("offered", lambda: with_extra("session", instructions_given_chars=40)),
    "no instructions to strip": ("offered", lambda: with_extra("session", instructions_chars=0)),
    "no offer recorded": (
        "offered",
        lambda: replace(clean(), extra={k: v for k, v in clean().extra.items() if k != "offered"}),
    ),
    "other luck": ("chance", lambda: with_extra("traffic", **{"injected faults": 99})),
}


@pytest.mark.parametrize("name", BREAKS)
def test_each_gate_fails_for_its_own_reason_alone(name: str) -> None:
    gate, broken = BREAKS[name]
    # Without a log nothing met a result either.
    assert failed(broken()) == ({gate, "met"} if name == "no log" else {gate})


def test_the_identity_transform_fails_the_first_gate() -> None:
    calls = clean()
    steps = [{**one, "after": one["before"], "left": True} for one in calls.calls[0].extra["steps"][:1]]
    steps.append({**calls.calls[0].extra["steps"][1], "before": steps[0]["after"]})
    lazy = replace(calls, calls=(replace(calls.calls[0], extra={"steps": steps}), *calls.calls[1:]))
    assert failed(lazy) == {"applied"}


def test_a_change_to_a_tool_the_arm_is_not_about() -> None:
    arm = replace(ARM, output=None)
    calls = clean(arm)
    stray = replace(calls.calls[1], interventions=("drop units",))
    assert failed(replace(calls, calls=(calls.calls[0], stray, calls.calls[2])), arm) == {"untouched"}


def test_a_rule_that_never_met_work_was_not_checked() -> None:
    calls = clean()
    idle = replace(calls, calls=(replace(calls.calls[1], seq=1), replace(calls.calls[2], seq=2)))
    faults = sum(fate(ARM, "attempt-1", n, c.tool, c.arguments).fault is not None for n, c in enumerate(idle.calls, 1))
    idle = replace(idle, extra={**idle.extra, "traffic": {"injected faults": faults}})
    assert failed(idle) == {"met"}


def test_what_may_stay_idle_is_not_owed() -> None:
    optional = replace(ARM, results=(replace(ARM.results[0], expect="optional"),), faults=None)
    short = replace(clean(optional), calls=(_call(1, "about", PROSE, optional),))
    assert failed(short, optional) == set()
    limit = replace(ARM, results=(), faults=None)
    assert failed(replace(clean(limit), calls=(_call(1, "about", PROSE, limit),)), limit) == {"met"}


def test_an_attempt_that_was_not_checked_fails_the_condition() -> None:
    found = combined(ARM, [("a attempt 1", check_attempt(ARM, clean(), 1)), ("b attempt 1", None)])
    assert list(found["failed"]) == ["recorded"]
    assert refusal_of({"manipulation": found}, armed=True) == "recorded: b attempt 1: not checked"


def test_refusals_in_words() -> None:
    assert refusal_of({}, armed=False) is None
    assert refusal_of({}, armed=True) == "the manipulation check was not made"
    assert refusal_of({"manipulation": unreadable("no arm")}, armed=True) == "recorded: no arm"
    assert refusal_of({"manipulation": {"passed": False}}, armed=True) == "the manipulation check was not made"
    assert set(GATES) == {"recorded", "applied", "untouched", "kept", "offered", "chance", "met"}


def test_refused_calls_and_failures_on_the_way_owe_no_record() -> None:
    calls = clean()
    refused = Call(seq=4, tool="gone", arguments={}, started_at="", elapsed_s=None, ok=False, withheld=True)
    assert failed(replace(calls, calls=(*calls.calls, refused))) == set()


def test_an_arm_is_read_back_from_a_condition_record() -> None:
    arm = replace(ARM, instructions="file", instructions_text="Be brief.")
    meta = {"identity": {"arm": arm.digest()}, "arm": {"digest": arm.digest(), **arm.to_json()}}
    assert arm_of_meta(meta, "c") == arm
    assert arm_of_meta({"identity": {}}, "c") is None
    with pytest.raises(InputError, match="is missing"):
        arm_of_meta({"identity": {"arm": "x"}}, "c")
    with pytest.raises(InputError, match="not the arm"):
        arm_of_meta({**meta, "identity": {"arm": "x"}}, "c")
