"""One writer per root, seen across processes; other sweeps on the machine noticed."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from okn_benchmark.errors import OutsideFailure, Refusal
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.lock import hold, sweeping


@contextmanager
def another_process(root: RunsRoot, folder: Path) -> Iterator[int]:
    """A process that holds ``root`` and sweeps in ``folder`` until the block ends."""
    ready_out, ready_in = os.pipe()
    stop_out, stop_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(stop_in)
        try:
            with hold(root, "okn-benchmark run"), sweeping(folder):
                os.write(ready_in, b"x")
                os.read(stop_out, 1)
        finally:
            os._exit(0)
    os.close(ready_in)
    os.close(stop_out)
    try:
        assert os.read(ready_out, 1) == b"x"
        yield pid
    finally:
        os.close(stop_in)
        os.close(ready_out)
        os.waitpid(pid, 0)


def test_the_second_of_two_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path / "root")
    with another_process(root, tmp_path / "sweeps") as pid, pytest.raises(Refusal) as caught, hold(root, "x"):
        pass
    assert caught.value.message == (
        f"{root.path} is in use by okn-benchmark run (process {pid} on {socket.gethostname()})."
    )
    assert "--out" in str(caught.value.hint)


def test_a_lock_ends_with_its_holder_and_leaves_nothing(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path / "root")
    with another_process(root, tmp_path / "sweeps"):
        pass
    assert not root.path.exists()
    with hold(root, "x"):
        assert root.lock.exists()
    assert not root.path.exists()


def test_a_root_something_was_written_into_stays(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path / "root")
    with hold(root, "x"):
        root.readme.touch()
    assert [p.name for p in root.path.iterdir()] == ["README.md"]
    with hold(root, "x"):
        pass
    assert root.path.exists()


def test_a_lock_file_left_by_a_killed_process_is_no_lock(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    root.lock.write_text('{"pid": 1, "host": "elsewhere", "doing": "okn-benchmark run"}')
    with hold(root, "x"):
        pass


def test_a_lock_is_released_when_the_work_fails(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path)
    with pytest.raises(KeyboardInterrupt), hold(root, "x"):
        raise KeyboardInterrupt
    with hold(root, "x"):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "\xff"])
def test_a_holder_that_cannot_be_read_is_still_a_holder(tmp_path: Path, text: str) -> None:
    root = RunsRoot(tmp_path / "root")
    with another_process(root, tmp_path / "sweeps"):
        root.lock.write_text(text)
        with pytest.raises(Refusal, match="another process"), hold(root, "x"):
            pass


def test_a_root_on_a_path_with_spaces_and_other_scripts_is_locked_like_any(tmp_path: Path) -> None:
    root = RunsRoot(tmp_path / "runs für 日本 (2)")
    with another_process(root, tmp_path / "s"), pytest.raises(Refusal, match="日本"), hold(root, "x"):
        pass


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutsideFailure, match="cannot be locked"), hold(RunsRoot(tmp_path / "file" / "root"), "x"):
        pass


def test_one_sweep_alone_is_not_contended(tmp_path: Path) -> None:
    with sweeping(tmp_path / "sweeps") as marker:
        assert not marker.contended()
    assert list((tmp_path / "sweeps").iterdir()) == []


def test_another_sweep_on_the_machine_is_noticed_as_long_as_it_runs(tmp_path: Path) -> None:
    with sweeping(tmp_path / "sweeps") as marker:
        with another_process(RunsRoot(tmp_path / "root"), tmp_path / "sweeps"):
            assert marker.contended()
        assert not marker.contended()


def test_a_marker_left_by_a_killed_sweep_is_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "sweeps"
    folder.mkdir()
    dead = folder / "123-abc.sweep"
    dead.touch()
    with sweeping(folder) as marker:
        assert not marker.contended()
    assert not dead.exists()


def test_a_place_where_no_marker_can_be_left_costs_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with sweeping(tmp_path / "file" / "sweeps") as marker:
        assert not marker.contended()


def test_a_link_in_the_meeting_place_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "sweeps"
    folder.mkdir()
    (tmp_path / "target").touch()
    (folder / "1-x.sweep").symlink_to(tmp_path / "target")
    with sweeping(folder) as marker:
        assert not marker.contended()
    assert (tmp_path / "target").exists()
