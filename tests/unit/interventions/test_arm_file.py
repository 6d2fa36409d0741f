"""Arm files: what is read, and that nothing else is let through."""

import tomllib
from pathlib import Path

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.interventions.arm_file import load_arm, read_arm, tools_named

WHOLE = """
name = "everything"
about = "one of each"
without_tools = ["b", "a"]
documentation = "names"
instructions = "file"
instructions_file = "words.md"
seed = 3
output = {characters = 400, marker = "[{shown} of {total}]"}
latency = {rate = 0.5, low_s = 1, high_s = 2.5}
faults = {rate = 0.1, kind = "soft", text = "Error: no"}

[[results]]
tool = "get"
form = "csv"
drop = ["units"]
rename = {v = "value"}
rows = 5
expect = "every-call"
add = [{name = "kind", rule = "kind", of = "label", after = "label"}, {name = "src", rule = "constant", value = "x"}]

[[results]]
tool = "*"
fields = ["$.a"]
"""


def read(text: str):
    return read_arm(tomllib.loads(text), "arm.toml", lambda name: f"<{name}>")


def test_everything_is_read() -> None:
    arm = read(WHOLE)
    assert arm.without_tools == ("a", "b")
    assert arm.instructions_text == "<words.md>"
    assert arm.results[0].name == "add kind, add src, drop units, rename v=value, rows 5"
    assert [rule.tool for rule in arm.rules_for("get")] == ["get", "*"]
    assert list(tools_named(arm)) == ["a", "b", "get"]
    assert arm.shapes_results


def test_the_digest_is_of_the_content_alone() -> None:
    base = read(WHOLE)
    assert (
        read("# a comment\n" + WHOLE.replace('about = "one of each"', 'about = "other words"')).digest()
        == base.digest()
    )
    for old, new in [("seed = 3", "seed = 4"), ("0.1", "0.2"), ('"names"', '"full"'), ('["units"]', '["u"]')]:
        assert read(WHOLE.replace(old, new)).digest() != base.digest(), old
    other = read_arm(tomllib.loads(WHOLE), "elsewhere.toml", lambda name: "other words")
    assert other.digest() != base.digest()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "name is missing"),
        ('name = "a"\nwithheld = []', "unknown key withheld"),
        ('name = "a__b"', "folder name"),
        ('name = "a"\ndocumentation = "some"', "documentation is 'some'"),
        ('name = "a"\ninstructions = "file"', "belong together"),
        ('name = "a"\nwithout_tools = ["submit_csv"]', "cannot be withheld"),
        ('name = "a"\noutput = {characters = 5}', "at least"),
        ('name = "a"\noutput = {characters = 500, marker = "cut"}', "{shown}"),
        ('name = "a"\n[[results]]\ntool = "t"', "changes nothing"),
        ('name = "a"\n[[results]]\ntool = "t"\ndrop = ["x"]\ncolums = 1', "results[0]: unknown key colums"),
        ('name = "a"\n[[results]]\ntool = "t"\ndrop = ["x"]\nkeep = ["y"]', "twice"),
        ('name = "a"\n[[results]]\ntool = "t"\nrows = 0', "above zero"),
        ('name = "a"\n[[results]]\ntool = "t"\nrename = {a = "b", b = "a"}', "also a name"),
        ('name = "a"\n[[results]]\ntool = "t"\nfields = ["$..["]', "JSONPath"),
        ('name = "a"\n[[results]]\ntool = "t"\nfields = ["$.a"]\nrows = 2', "stand alone"),
        ('name = "a"\n[[results]]\ntool = "submit_csv"\nrows = 2', "stays as it is"),
        ('name = "a"\n[[results]]\ntool = "t"\nadd = [{name = "x", rule = "kind"}]', "takes of"),
        ('name = "a"\n[[results]]\ntool = "t"\nadd = [{name = "x", rule = "sum", of = "y"}]', "'sum'"),
        ('name = "a"\nfaults = {rate = 2}', "share of the calls"),
        ('name = "a"\nlatency = {rate = 1, low_s = 3, high_s = 2}', "lower one first"),
        ('name = "a"\nseed = true', "whole number"),
    ],
)
def test_what_cannot_be_meant_is_an_error_with_the_key(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert says in caught.value.message
    assert caught.value.message.startswith("arm.toml")


def test_a_file_and_the_words_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text('name = "a"\ninstructions = "file"\ninstructions_file = "w.md"\n')
    with pytest.raises(InputError, match=r"w\.md cannot be read"):
        load_arm(path)
    (tmp_path / "w.md").write_text("Be brief.")
    assert load_arm(path).instructions_text == "Be brief."
    path.write_text("name = ")
    with pytest.raises(InputError, match="not valid TOML"):
        load_arm(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_arm(tmp_path / "none.toml")
