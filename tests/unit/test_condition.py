"""Condition names: the same on every machine, and never a path."""

from typing import Any

import pytest

from okn_benchmark.condition import LONGEST, condition_name
from okn_benchmark.errors import InputError


def named(**settings: Any) -> str:
    return condition_name(**({"level": "all-tools", "kg_hint": "tags", "server": "mcp-proto-okn"} | settings))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "mcp-proto-okn-all-tools__kg-named"),
        ({"kg_hint": "none"}, "mcp-proto-okn-all-tools__kg-not-named"),
        ({"level": "sparql-only", "server": None}, "sparql-only__kg-named"),
        ({"level": "sparql-only"}, "sparql-only__kg-named"),
        ({"withheld": ("route", "get_schema")}, "mcp-proto-okn-all-tools__kg-named__without-get_schema+route"),
        ({"withheld": ("route", "route")}, "mcp-proto-okn-all-tools__kg-named__without-route"),
        (
            {"withheld": ("x",), "strict": True, "arm": "a1", "label": "again"},
            "mcp-proto-okn-all-tools__kg-named__without-x__strict__arm-a1__again",
        ),
        ({"label": "low-effort"}, "mcp-proto-okn-all-tools__kg-named__low-effort"),
    ],
)
def test_parts_stand_in_one_order_and_only_when_set(settings: dict[str, Any], name: str) -> None:
    assert named(**settings) == name


def test_many_tools_give_way_to_a_digest_that_depends_on_them_alone() -> None:
    tools = [f"a_rather_long_tool_name_{n}" for n in range(8)]
    first, second = named(withheld=tools), named(withheld=reversed(tools))
    assert first == second
    assert len(first) <= LONGEST
    assert named(withheld=tools[1:]) != first
    assert first.startswith("mcp-proto-okn-all-tools__kg-named__without-")


@pytest.mark.parametrize("tool", ["../../etc/passwd", "a/b", "a b", "é", "x" * 200, ""])
def test_a_hostile_tool_name_never_reaches_the_folder_name(tool: str) -> None:
    name = named(withheld=(tool,))
    assert "/" not in name
    assert name.isascii()
    assert len(name) <= LONGEST


@pytest.mark.parametrize("label", ["../x", "a/b", "", ".", "..", "a__b", "a b", "é", "a\n", "-x", "_x", "x_", "a\0"])
def test_a_label_that_is_no_folder_name_is_refused(label: str) -> None:
    with pytest.raises(InputError, match="--label"):
        named(label=label)


def test_a_server_name_from_a_profile_is_checked_too() -> None:
    with pytest.raises(InputError, match="server name"):
        named(server="../evil")
    with pytest.raises(InputError, match="server name"):
        named(server=None)


def test_a_name_that_stays_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(InputError, match="120 is the most"):
        named(label="l" * 120)
