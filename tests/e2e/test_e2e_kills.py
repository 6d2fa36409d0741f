"""Real processes killed, terminated and interrupted in the middle of a sweep; two at once; nobody left behind."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.conftest import CHECKOUT, OKN, Done, Shell

KILLS = 10
LIMIT, REPEAT = 3, 4
DEADLINE_S = 60.0
ORPHAN_S = 5.0

Start = Callable[..., "Sweep"]


class Sweep:
    """A running ``run``; its lines on stderr, its children."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._rest = b""

    def until(self, seen: Callable[[], bool]) -> None:
        """Read stderr until ``seen``; fail at the deadline or when the process ends first."""
        end = time.monotonic() + DEADLINE_S
        while not seen():
            assert self._read(end), (self.lines, self.process.wait(DEADLINE_S))

    def finish(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + DEADLINE_S
        while self._read(end):
            pass
        return self.process.wait(DEADLINE_S)

    def _read(self, end: float) -> bool:
        """Take what is there, waiting a moment for it; False at the end of the stream."""
        assert time.monotonic() < end, self.lines
        assert self.process.stderr is not None
        ready, _, _ = select.select([self.process.stderr], [], [], 0.002)
        if not ready:
            return True
        data = os.read(self.process.stderr.fileno(), 65536)
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines += [line.decode() for line in whole]
        return bool(data)

    def fresh(self) -> int:
        """Attempts that were run and not taken over."""
        return sum(line.startswith("[") and "[resumed]" not in line for line in self.lines)

    def end(self, number: int) -> int:
        """Send a signal; the exit code, once the process and everything it started are gone."""
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        _, alive = psutil.wait_procs(family, timeout=ORPHAN_S)
        assert not alive, f"left behind: {[child.cmdline() for child in alive]}"
        return code


@pytest.fixture
def start(shell: Shell, corpus_name: str, tmp_path: Path) -> Iterator[Start]:
    """Start ``run`` with the oracle on the sample graphs; whatever still runs at the end is killed."""
    running: list[Sweep] = []

    def go(*arguments: str | Path, out: Path = tmp_path / "root") -> Sweep:
        fixed = ("--corpus", corpus_name, "--host", "oracle", "--endpoint", "sample", "--out", out)
        control = ("--tools", "sparql-only", "--kg-hint", "tags", "--limit", LIMIT, "--repeat", REPEAT)
        argv = [str(part) for part in (OKN, "run", *fixed, *control, *arguments)]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("OKN_BENCHMARK_")}
        env = kept | {"XDG_CACHE_HOME": str(shell.cache), "NO_COLOR": "1", "TMPDIR": str(tmp_path)}
        process = subprocess.Popen(
            argv, cwd=CHECKOUT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        running.append(Sweep(process))
        return running[-1]

    yield go
    for sweep in running:
        if sweep.process.poll() is None:
            sweep.end(signal.SIGKILL)
        assert sweep.process.stderr is not None
        sweep.process.stderr.close()


def episodes(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.glob("*_results/*/attempt-*/episode.json")}


def begun(root: Path) -> int:
    return len(list(root.glob("*_results/*/attempt-*/calls.jsonl")))


def measured(root: Path) -> dict[str, Any]:
    """What a root says, without clocks: each attempt's outcome and verdict."""
    out = {}
    for path in sorted(root.glob("*_results/*/result.json")):
        for attempt in json.loads(path.read_bytes())["attempts"]:
            facts = {key: attempt[key] for key in ("outcome", "cause", "verdict", "tools_called", "source")}
            out[f"{path.parent.relative_to(root)} {attempt['attempt']}"] = facts
    return out


def files(root: Path) -> set[str]:
    found = (path.relative_to(root).as_posix() for path in root.rglob("*"))
    return {name for name in found if not name.startswith(".replaced")}


@pytest.mark.timeout(300)
def test_ten_kills_and_ten_resumes_give_the_tree_of_one_run(start: Start, tmp_path: Path) -> None:
    root, whole = tmp_path / "root", tmp_path / "whole" / "root"
    for kill in range(KILLS):
        before = episodes(root)
        sweep = start(*(["--resume"] if kill else []))
        attempts = begun(root)
        # Every other time in the middle of an episode, as soon as its proxy has opened a log.
        sweep.until(lambda: sweep.fresh() >= 1 if kill % 2 == 0 else begun(root) > attempts)  # noqa: B023
        assert sweep.end(signal.SIGKILL) == -signal.SIGKILL
        after = episodes(root)
        assert {name: after[name] for name in before} == before
    last = start("--resume")
    assert last.finish() == 0
    final = episodes(root)
    assert {name: final[name] for name in before} == before
    one = start(out=whole)
    assert one.finish() == 0
    assert measured(root) == measured(whole)
    assert files(root) == files(whole)
    assert len(final) == LIMIT * REPEAT


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_sweep_and_its_children_and_resume_goes_on(
    start: Start, tmp_path: Path, number: int, code: int
) -> None:
    root = tmp_path / "root"
    sweep = start()
    sweep.until(lambda: sweep.fresh() >= 1)
    ended = sweep.end(number)
    assert ended in (code, -number)
    sweep.finish()
    assert "Traceback" not in "\n".join(sweep.lines)
    assert number != signal.SIGINT or "with --resume goes on from here" in sweep.lines[-1]
    before = episodes(root)
    assert before
    again = start("--resume")
    assert again.finish() == 0
    assert sum("[resumed]" in line for line in again.lines) == len(before)
    after = episodes(root)
    assert {name: after[name] for name in before} == before
    assert len(after) == LIMIT * REPEAT


def test_two_at_once_in_one_root_are_one_and_a_refusal(start: Start, shell: Shell, tmp_path: Path) -> None:
    root = tmp_path / "root"
    first = start()
    first.until(lambda: first.fresh() >= 1)
    second = start("--resume")
    assert second.finish() == 3
    said = "\n".join(second.lines)
    assert f"is in use by okn-benchmark run (process {first.process.pid} on " in said
    done: Done = shell.okn("rescore", root)
    assert done.returncode == 3
    assert "in use by okn-benchmark run" in done.stderr
    assert first.finish() == 0
    assert len(episodes(root)) == LIMIT * REPEAT


def test_two_roots_at_once_on_one_machine_are_recorded_as_contended(start: Start, tmp_path: Path) -> None:
    first, second = start(out=tmp_path / "a" / "root"), start(out=tmp_path / "b" / "root")
    for sweep in (first, second):
        assert sweep.finish() == 0
    contended = [json.loads(p.read_bytes())["contended"] for p in tmp_path.glob("*/root/*/*/attempt-*/episode.json")]
    assert any(contended)
