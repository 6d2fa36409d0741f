"""What is said when a server under test does not start."""

import sys
from pathlib import Path

import pytest

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.jobs.server import inspect_server
from okn_benchmark.launch import ProxyLaunch

STDIO = f'''name = "s"
[upstream]
transport = "stdio"
command = "{sys.executable}"
args = ["-c", "import os; os.environ['TOY_ADDRESS']"]
'''
HTTP = 'name = "s"\n[upstream]\ntransport = "http"\nurl = "http://127.0.0.1:9/mcp"\n'


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (STDIO, "ended with exit code 1: KeyError: 'TOY_ADDRESS'", "what [upstream.env] of the profile sets"),
        (HTTP, "no connection could be made", "its url and headers"),
    ],
)
def test_a_server_that_does_not_start_says_where_to_look(text: str, said: str, hint: str, tmp_path: Path) -> None:
    profile = tmp_path / "s.toml"
    profile.write_text(text, encoding="utf-8")
    with pytest.raises(OutsideFailure) as failure:
        inspect_server(ProxyLaunch(level="all-tools", profile=profile, call_timeout_s=10.0))
    assert said in failure.value.message
    assert "Traceback" not in failure.value.message
    assert failure.value.hint is not None
    assert hint in failure.value.hint
