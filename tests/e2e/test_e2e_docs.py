"""Every console session of the documentation, typed again: what a page shows is what the program prints.

A line ``…`` stands for any lines, ``…`` inside a line for any text; seconds, digests and versions of the agent program
differ from run to run and are not compared. Commands that need what only some machines have stand in ``sh`` blocks.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.conftest import CHECKOUT

DOCS = CHECKOUT / "docs"
NEEDS_AGENT = ("audit-host", "--model-script")
SEEN = ("benchmarks-single", "benchmarks-cross", "benchmarks-ontology", "profiles", "arms", "docs", "src", "tests")
"""What a page may name of the checkout; what it makes lies beside them, in a folder of the test."""
VOLATILE = (
    (re.compile(r"\b\d+(\.\d+)? s\b"), "0 s"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0"),
    (re.compile(r"@[0-9a-f]{12}\b"), "@0"),
    (re.compile(r"claude \d+\.\d+\.\d+"), "claude 0"),
)


@dataclass(frozen=True)
class Step:
    """One command and the lines shown after it; ``line`` counts from 1."""

    line: int
    command: str
    shown: tuple[str, ...]


def steps(page: Path) -> Iterator[Step]:
    """The commands of a page's console blocks, in order."""
    current: tuple[int, list[str], list[str]] | None = None
    inside = False
    for number, row in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence, begins = row.startswith("```"), inside and row.startswith("$ ")
        if (fence or begins) and current is not None:
            yield Step(current[0], "\n".join(current[1]), tuple(current[2]))
            current = None
        if fence:
            inside = row == "```console"
        elif begins:
            current = (number, [row[2:]], [])
        elif current is not None and row.startswith("> ") and not current[2]:
            current[1].append(row[2:])  # the rest of a command that goes over several lines
        elif current is not None:
            current[2].append(row)


def settled(text: str) -> str:
    """``text`` without what differs from run to run."""
    for pattern, instead in VOLATILE:
        text = pattern.sub(instead, text)
    return "\n".join(row.rstrip() for row in text.strip("\n").splitlines())


def expected(shown: tuple[str, ...]) -> re.Pattern[str]:
    """What a command has to print."""
    parts = []
    for row in settled("\n".join(shown)).splitlines():
        parts.append(r"(?:.*\n)*?" if row == "…" else ".*?".join(map(re.escape, row.split("…"))) + r"\n")
    return re.compile("".join(parts))


PAGES = sorted(page for page in DOCS.rglob("*.md") if any(True for _ in steps(page)))


def _name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def _environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k != "OKN_BENCHMARK_ENDPOINT"}
    venv_first = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {
        "PATH": venv_first,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
    }


@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_page_shows_what_the_program_prints(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    typed = list(steps(page))
    if any(word in step.command for step in typed for word in NEEDS_AGENT):
        request.getfixturevalue("claude_binary")
    place = tmp_path / "checkout"
    place.mkdir()
    for name in SEEN:
        (place / name).symlink_to(CHECKOUT / name)
    for step in typed:
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=place,
            env=_environment(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
        )
        printed = settled(done.stdout)
        wanted = expected(step.shown)
        assert wanted.fullmatch(printed + "\n" if printed else ""), (
            f"{_name(page)}:{step.line}: {step.command}\nprinted\n{printed}\nand the page shows\n"
            + "\n".join(step.shown)
        )
