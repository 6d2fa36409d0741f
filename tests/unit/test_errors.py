"""How our own errors read."""

import pytest

from okn_benchmark.errors import InputError, OutsideFailure, Refusal


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("the server said no", "the server said no."),
        ("It is over.", "It is over."),
        ("Is it?", "Is it?"),
        ("cut short…", "cut short…"),
        ("two runs differ:\n  repeat: 1 -> 2", "two runs differ:\n  repeat: 1 -> 2"),
    ],
)
def test_a_message_is_a_sentence(message: str, sentence: str) -> None:
    assert InputError(message).sentence == sentence


def test_the_way_out_follows_on_the_same_line() -> None:
    assert Refusal("it is held", hint="Wait.").whole == "it is held. Wait."
    assert OutsideFailure("it failed").whole == "it failed."


def test_each_branch_has_its_exit_code() -> None:
    assert [branch.exit_code for branch in (InputError, Refusal, OutsideFailure)] == [2, 3, 4]
