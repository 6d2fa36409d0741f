"""The proxy as a process of its own, for what only a process can show."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.proxy.talk import TOY, Line

PROXY = [sys.executable, "-P", "-m", "okn_benchmark.proxy"]


def write_profile(folder: Path, *flags: str, lines: Sequence[str] = (), command: Sequence[str] = TOY) -> Path:
    """A stdio profile; ``lines`` go below ``[upstream]``."""
    path = folder / "toy.toml"
    args = json.dumps([*command[1:], *flags])
    text = [
        'name = "toy"',
        "[upstream]",
        'transport = "stdio"',
        f"command = {json.dumps(command[0])}",
        f"args = {args}",
    ]
    path.write_text("\n".join([*text, *lines, ""]))
    return path


class Process(Line):
    """Started, spoken to over its pipes, ended; what it said on stderr is kept."""

    def __init__(
        self, arguments: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self.argv = [*PROXY, *arguments]
        self.child = subprocess.Popen(
            self.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
        )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
        self.child.stdin.close()
        self.child.stdout.close()

    def family(self) -> list[psutil.Process]:
        """Everything it has started."""
        return psutil.Process(self.child.pid).children(recursive=True)

    def signal(self, number: signal.Signals) -> None:
        self.child.send_signal(number)

    def ended(self, wait_s: float) -> tuple[int, float, str]:
        """Exit code, seconds it took, stderr."""
        started = time.monotonic()
        code = self.child.wait(wait_s)
        took = time.monotonic() - started
        assert self.child.stderr is not None
        with self.child.stderr as stream:
            return code, took, stream.read().decode()

    def close(self, wait_s: float = 10.0) -> tuple[int, float, str]:
        self.close_input()
        return self.ended(wait_s)


def gone(family: Sequence[psutil.Process], wait_s: float = 2.0) -> bool:
    """Whether none of them is left, after a moment for the kernel."""
    _, alive = psutil.wait_procs(family, timeout=wait_s)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def calls_json(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "calls.json").read_text())
