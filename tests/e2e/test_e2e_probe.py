"""``probe``: what a server offers, for free."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.e2e.conftest import CHECKOUT, Shell

SHIPPED = CHECKOUT / "profiles" / "sample.local.toml"


def test_it_tells_tools_lengths_levels_and_the_digest_of_the_control(
    shell: Shell, profile: Path, tmp_path: Path
) -> None:
    done = shell.okn("probe", "--profile", profile, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tool_count"] == 7
    assert found["instructions"]["sent_chars"] == found["instructions"]["arriving_chars"] > 100
    assert found["levels"]["sparql-only"] == ["run_sparql", "submit_csv"]
    assert "submit_csv" in found["levels"]["all-tools"]
    assert len(found["preamble"]["digest"]) == 64
    other = tmp_path / "other.toml"
    text = profile.read_text(encoding="utf-8").replace('name = "sample"', 'name = "second"')
    other.write_text(text, encoding="utf-8")
    again = json.loads(shell.okn("probe", "--profile", other, "--json").stdout)
    assert again["preamble"] == found["preamble"]
    assert again["profile"]["name"] == "second"


def test_an_ablation_is_previewed_and_a_typo_is_named(shell: Shell, profile: Path) -> None:
    done = shell.okn("probe", "--profile", profile, "--without-tool", "get_schema")
    assert done.returncode == 0, done.stderr
    assert "get_schema: " in done.stdout
    assert "[withheld]" in done.stdout
    shown = next(line for line in done.stdout.splitlines() if "all-tools shows" in line)
    assert "get_schema" not in shown
    typo = shell.okn("probe", "--profile", profile, "--without-tool", "nosuch")
    assert typo.returncode == 2
    assert "nosuch" in typo.stderr
    assert "get_schema" in typo.stderr


@pytest.mark.parametrize(("right", "wrong"), [('"run_query"', '"run_qeury"'), ("{ query =", "{ qurey =")])
def test_an_oracle_table_that_does_not_fit_the_server_is_named(
    shell: Shell, profile: Path, tmp_path: Path, right: str, wrong: str
) -> None:
    profile.write_text(profile.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    done = shell.okn("probe", "--profile", profile)
    assert done.returncode == 2, done.stdout
    assert wrong.strip('"{ =') in done.stderr
    fixed = ("--corpus", "benchmarks-cross", "--host", "oracle", "--endpoint", "sample", "--out", tmp_path / "root")
    run = shell.okn("run", *fixed, "--limit", "1", "--tools", "all-tools", "--profile", profile)
    assert run.returncode == 2
    assert not (tmp_path / "root").exists()


def test_a_server_that_is_not_there_is_one_sentence(shell: Shell, dead_profile: Path) -> None:
    done = shell.okn("probe", "--profile", dead_profile)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "no-such-command-anywhere" in done.stderr


def test_the_profile_these_tests_use_asks_as_the_one_that_ships(profile: Path) -> None:
    used, shipped = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (profile, SHIPPED))
    assert used["oracle"] == shipped["oracle"]
    assert used["upstream"]["args"][3] == shipped["upstream"]["args"][0]
