"""The filter as a function, and the room it leaves for interventions."""

from typing import Any

from okn_benchmark.proxy.policy import SUBMIT_TOOL, Policy


class Loud:
    """An arm that changes all it is shown."""

    def instructions(self, text: str | None) -> tuple[str | None, tuple[str, ...]]:
        return (None if text == "strip" else "REPLACED"), ("instructions",)

    def definition(self, tool: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        return {**tool, "description": "LOUD"}, (f"definition {tool['name']}",)

    def result(self, tool: str, result: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]:
        return ({**result, "content": []}, ("result",), ({"step": 1},)) if tool == "a" else (result, (), ())


def test_without_an_arm_nothing_changes() -> None:
    opened = {"capabilities": {"tools": {}}, "instructions": "i", "other": 1}
    hello = Policy().hello(opened)
    assert hello.result is opened
    assert not hello.changed
    result = {"content": [], "x": 1}
    reply = Policy().reply("a", result)
    assert reply.result is result
    assert not reply.changed


def test_an_arm_is_asked_at_its_three_places_and_named() -> None:
    policy = Policy(arm=Loud(), withheld=frozenset({"c"}))
    assert policy.hello({"capabilities": {"tools": {}}}).result["instructions"] == "REPLACED"
    stripped = policy.hello({"capabilities": {"tools": {}}, "instructions": "strip"})
    assert "instructions" not in stripped.result
    assert stripped.interventions == ("instructions",)
    page = policy.page({"tools": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})
    assert [tool["description"] for tool in page.result["tools"]] == ["LOUD", "LOUD", SUBMIT_TOOL["description"]]
    assert page.interventions == ("definition a", "definition b")
    changed, same = policy.reply("a", {"content": [1]}), policy.reply("b", {"content": [1]})
    assert (changed.result, changed.changed, changed.interventions) == ({"content": []}, True, ("result",))
    assert changed.steps == ({"step": 1},)
    assert (same.result, same.changed) == ({"content": [1]}, False)


def test_pages_keep_what_nobody_knows() -> None:
    listed = {"tools": [{"name": "a", "x": 1.0}, {}, {"name": None}, "odd"], "nextCursor": "2", "ttlMs": 5}
    page = Policy().page(listed)
    assert page.result == listed
    assert not page.last
    assert Policy().page({"tools": "odd"}).result["tools"] == [SUBMIT_TOOL]
    assert Policy().page({}).last


def test_names_of_any_type_are_judged() -> None:
    policy = Policy(withheld=frozenset({"a"}))
    assert [policy.judge(name) for name in ("a", "b", "submit_csv", None, ["a"], {})] == [
        "withheld",
        "forward",
        "local",
        "forward",
        "forward",
        "forward",
    ]
