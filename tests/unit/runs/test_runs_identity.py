"""Identity: one digest from a plan or a file, the first field that differs, and the two ways out."""

from dataclasses import fields
from typing import Any

import pytest
from tests.roots import identity, meta

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.runs.identity import (
    Identity,
    clash,
    first_disagreement,
    guard_tier,
    identity_of_meta,
    read_identity,
    same_again,
)

OTHER: dict[str, Any] = {
    "level": "sparql-only",
    "kg_hint": "none",
    "server": "other",
    "model": "haiku",
    "effort": "low",
    "tier": "harder",
    "repeat": 5,
    "host": "oracle",
    "excluded": ("r9",),
    "withheld": ("route",),
    "strict_upstream_errors": True,
    "arm": "d" * 64,
    "result_limit": 500_000,
    "tool_search": False,
    "protocol_negotiation": "auto",
    "agent_timeout_s": 60.0,
    "max_turns": 20,
    "call_timeout_s": 30.0,
}

# Never edit a value here: it stands in files that people have. A changed meaning is a new version with its own lines.
PINNED: list[tuple[dict[str, Any], str]] = [
    ({}, "identity/1:50cca5116b28d448d9988cf07564af706cbbc34a505301121ca9323b25f10420"),
    (
        {
            "withheld": ("b", "a"),
            "excluded": ("r2",),
            "strict_upstream_errors": True,
            "arm": "a" * 64,
            "result_limit": 500_000,
            "max_turns": 30,
        },
        "identity/1:8112513f2430771e7202de1cc6423274bfa3cc79c3a62aef112c16b9b02d1004",
    ),
]


@pytest.mark.parametrize(("changes", "digest"), PINNED)
def test_the_digest_of_a_version_never_changes(changes: dict[str, Any], digest: str) -> None:
    assert identity(**changes).digest() == digest


def test_every_field_is_part_of_the_identity_and_in_the_agreed_order() -> None:
    assert [f.name for f in fields(Identity)] == list(OTHER)
    digests = {identity(**{name: value}).digest() for name, value in OTHER.items()}
    assert len(digests | {identity().digest()}) == len(OTHER) + 1


@pytest.mark.parametrize("name", OTHER)
def test_a_clash_names_the_field_that_differs_and_both_values(name: str) -> None:
    found = first_disagreement(identity(), identity(**{name: OTHER[name]}))
    assert found is not None
    assert found.field == name


def test_two_differences_name_the_first_in_field_order_only() -> None:
    found = first_disagreement(identity(), identity(effort="low", repeat=1))
    assert str(found) == "effort: 'high' -> 'low'"


def test_equal_settings_do_not_disagree() -> None:
    assert first_disagreement(identity(withheld=("b", "a")), identity(withheld=("a", "b", "a"))) is None


def test_the_refusal_holds_condition_field_values_and_both_ways_out() -> None:
    found = first_disagreement(identity(), identity(effort="low"))
    assert found is not None
    error = clash("demo-all-tools__kg-named", found)
    assert isinstance(error, Refusal)
    assert error.message == (
        "'demo-all-tools__kg-named' already holds a run with different settings:\n  effort: 'high' -> 'low'"
    )
    assert "--label" in str(error.hint)
    assert "--force" in str(error.hint)


@pytest.mark.parametrize(
    ("then", "now", "shown"),
    [
        ({"effort": None}, {"effort": "low"}, "effort: 'default' -> 'low'"),
        ({"tier": None}, {"tier": "x"}, "tier: none -> 'x'"),
        ({"withheld": ("a",)}, {"withheld": ("a", "b")}, "withheld: ['a'] -> ['a', 'b']"),
        ({"repeat": 3}, {"repeat": 1}, "repeat: 3 -> 1"),
    ],
)
def test_values_are_shown_as_people_write_them(then: dict[str, Any], now: dict[str, Any], shown: str) -> None:
    assert str(first_disagreement(identity(**then), identity(**now))) == shown


def test_the_same_run_again_is_refused_with_three_ways_out() -> None:
    error = same_again("c", 36)
    assert "36 recorded attempts" in error.message
    assert "1 recorded attempt " in same_again("c", 1).message
    for flag in ("--resume", "--force", "--label"):
        assert flag in str(error.hint)


def test_a_file_and_a_plan_give_the_same_identity() -> None:
    plan = identity(withheld=("b", "a"), excluded=("r2",))
    assert read_identity(plan.to_json(), "c.json") == plan
    assert identity_of_meta(meta(plan), "c.json") == plan


def test_a_hand_written_exclusion_takes_part_by_its_id_alone() -> None:
    written = meta(identity()) | {"excluded": [{"id": "r2", "reason": "its key was wrong"}]}
    assert identity_of_meta(written, "c.json") == identity(excluded=("r2",))
    assert identity_of_meta(written | {"excluded": ["r2"]}, "c.json") == identity(excluded=("r2",))


@pytest.mark.parametrize("entry", [{"reason": "x"}, 5, None, {"id": 3}])
def test_an_exclusion_without_an_id_is_named_with_what_to_write(entry: Any) -> None:
    with pytest.raises(InputError, match=r"c\.json: meta\.excluded\[0\] has no id") as caught:
        identity_of_meta(meta(identity()) | {"excluded": [entry]}, "c.json")
    assert '"id"' in str(caught.value.hint)


def test_a_record_without_an_identity_is_named() -> None:
    with pytest.raises(InputError, match=r"c\.json: meta\.identity is missing"):
        identity_of_meta({}, "c.json")


def test_one_root_holds_one_tier() -> None:
    recorded = [("sparql-only__kg-named", identity(tier="a"))]
    guard_tier(recorded, identity(tier="a"))
    with pytest.raises(Refusal, match="tier: 'a' -> 'b'") as caught:
        guard_tier(recorded, identity(tier="b"))
    assert "--out" in str(caught.value.hint)
    with pytest.raises(Refusal, match="tier: 'a' -> none"):
        guard_tier(recorded, identity(tier=None))
