"""Every command the README shows, in its order: a reader who types them gets what they say."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import CHECKOUT, Shell

FREE = ("--host", "oracle")
OFFLINE = ("--endpoint", "sample")
VENV_FIRST = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""As ``uv run`` has it: the profile starts its server by name."""
TAKES_ENDPOINT = ("reference", "selfcheck", "run")


def commands(page: Path) -> list[list[str]]:
    """The ``okn-benchmark`` commands of a page's console blocks, as argument lists."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    words = [shlex.split(line, comments=True) for line in lines]
    return [argv[argv.index("okn-benchmark") + 1 :] for argv in words if "okn-benchmark" in argv]


@pytest.mark.timeout(240)
def test_the_readme_can_be_typed_from_top_to_bottom(shell: Shell, tmp_path: Path) -> None:
    for name in (*(path.name for path in CHECKOUT.glob("benchmarks-*")), "profiles"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    typed = commands(CHECKOUT / "README.md")
    assert [argv[0] for argv in typed].count("run") >= 3
    for argv in typed:
        offline = OFFLINE if argv[0] in TAKES_ENDPOINT else ()
        free = FREE if argv[0] == "run" else ()
        done = shell.okn(*argv, *free, *offline, cwd=tmp_path, PATH=VENV_FIRST)
        assert done.returncode == 0, f"{shlex.join(argv)}: {done.stderr}"
    assert (tmp_path / "runs" / "first" / "README.md").is_file()
