"""An arm on whole messages: text and structured content in step, documentation, limits, chance."""

import json
from typing import Any

import pytest

from okn_benchmark.interventions.arm import Arm, Faults, Latency, OutputLimit, ResultRule
from okn_benchmark.interventions.chance import fate
from okn_benchmark.interventions.treating import definition, instructions, result

ROWS = {"rows": [{"id": "a", "value": 1.5, "units": "nM"}, {"id": "b", "value": 2, "units": "uM"}]}
DROP = Arm(name="drop", results=(ResultRule(tool="get", drop=("units",)),))


def answered(payload: Any = ROWS, **more: Any) -> dict[str, Any]:
    text = {"type": "text", "text": json.dumps(payload), "annotations": {"priority": 1}}
    picture = {"type": "image", "data": "units", "mimeType": "image/png"}
    return {"content": [text, picture], "structuredContent": payload, "_meta": {"k": "units"}, "isError": False, **more}


def test_text_and_structured_content_stay_in_step() -> None:
    came = answered()
    done = result(DROP, "get", came)
    assert json.loads(done.result["content"][0]["text"]) == done.result["structuredContent"]
    assert done.result["structuredContent"] == {"rows": [{"id": "a", "value": 1.5}, {"id": "b", "value": 2}]}
    assert done.result["content"][1] is came["content"][1]
    assert done.result["content"][0]["annotations"] == {"priority": 1}
    assert {k: v for k, v in done.result.items() if k not in ("content", "structuredContent")} == {
        "_meta": {"k": "units"}, "isError": False,
    }  # fmt: skip
    assert done.applied == ("drop units",)
    (step,) = done.steps
    assert (step.due, step.left, step.kept) == (True, False, True)
    assert came == answered(), "the message that came in is not written into"


@pytest.mark.parametrize("more", [{"isError": True}, {"resultType": "inputRequired"}])
def test_failures_and_unfinished_results_pass(more: dict[str, Any]) -> None:
    came = answered(**more)
    done = result(DROP, "get", came)
    assert done.result is came
    assert [(s.due, s.before == s.after) for s in done.steps] == [(False, True)]


def test_another_tool_is_not_looked_at() -> None:
    came = answered()
    done = result(DROP, "other", came)
    assert done.result is came
    assert done.steps == ()


def test_every_call_is_due_where_the_arm_says_so() -> None:
    arm = Arm(name="drop", results=(ResultRule(tool="get", drop=("units",), expect="every-call"),))
    (step,) = result(arm, "get", answered({"rows": []})).steps
    assert step.due
    assert step.before == step.after


def test_a_limit_counts_its_own_marker_and_is_stated() -> None:
    arm = Arm(name="cut", output=OutputLimit(characters=120))
    came = {
        "content": [{"type": "text", "text": "x" * 100}, {"type": "text", "text": "y" * 100}],
        "structuredContent": {},
    }
    done = result(arm, "get", came).result
    text = "".join(block["text"] for block in done["content"])
    assert len(text) <= 120
    assert text.endswith("of 200 characters are shown]")
    assert f"the first {text.count('x')}" in text
    assert "structuredContent" not in done
    again = result(arm, "get", done)
    assert again.result == done
    (step,) = result(arm, "get", came).steps
    assert (step.due, step.left, step.kept) == (True, False, True)


TOOL = {
    "name": "get",
    "title": "Get",
    "description": "Gets rows in nM.",
    "inputSchema": {
        "type": "object",
        "description": "arguments",
        "properties": {
            "description": {"type": "string", "description": "words"},
            "deep": {"anyOf": [{"type": "array", "items": {"type": "string", "description": "each", "enum": ["a"]}}]},
        },
        "required": ["description"],
    },
    "outputSchema": {"type": "object"},
    "annotations": {"title": "T", "readOnlyHint": True},
    "_meta": {"vendor": 1},
}
BARE = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "deep": {"anyOf": [{"type": "array", "items": {"type": "string", "enum": ["a"]}}]},
    },
    "required": ["description"],
}


def test_documentation_is_taken_away_level_by_level() -> None:
    assert definition(Arm(name="a"), TOOL) == (TOOL, ())
    made, applied = definition(Arm(name="a", documentation="descriptions"), TOOL)
    assert made == {**TOOL, "inputSchema": BARE}
    assert applied == ("documentation descriptions",)
    made, _ = definition(Arm(name="a", documentation="names"), TOOL)
    assert made == {
        "name": "get", "inputSchema": BARE, "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True}, "_meta": {"vendor": 1},
    }  # fmt: skip


def test_a_schema_that_no_longer_describes_the_result_goes() -> None:
    made, applied = definition(DROP, TOOL)
    assert "outputSchema" not in made
    assert applied == ("output schema taken out",)
    assert definition(DROP, {**TOOL, "name": "other"})[1] == ()


def test_instructions() -> None:
    assert instructions(Arm(name="a"), "x") == ("x", ())
    assert instructions(Arm(name="a", instructions="strip"), "x")[0] is None
    assert instructions(Arm(name="a", instructions="file", instructions_text="y"), "x")[0] == "y"


def test_the_same_seed_has_the_same_luck_and_the_rate_is_kept() -> None:
    arm = Arm(name="a", faults=Faults(rate=0.25), latency=Latency(rate=0.5, low_s=1, high_s=3), seed=7)
    fates = [fate(arm, "attempt-1", n, "get", {"q": n}) for n in range(2000)]
    assert fates == [fate(arm, "attempt-1", n, "get", {"q": n}) for n in range(2000)]
    assert fates != [fate(arm, "attempt-2", n, "get", {"q": n}) for n in range(2000)]
    assert 0.21 < sum(f.fault is not None for f in fates) / 2000 < 0.29
    slow = [f.delay_s for f in fates if f.delay_s]
    assert 0.45 < len(slow) / 2000 < 0.55
    assert 1 <= min(slow) < 1.1
    assert 2.9 < max(slow) <= 3
    assert fate(Arm(name="a"), "attempt-1", 1, "get", {}).delay_s == 0
