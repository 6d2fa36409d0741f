"""Flags, environment, scratch folder and process group: what keeps an agent to itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.host import isolation
from okn_benchmark.host.evidence import TranscriptFile, open_transcript, protocol_facts, scrubber
from okn_benchmark.host.process import end_group, group_alive, group_gone, run_group
from okn_benchmark.host.rehearsal import rehearse
from okn_benchmark.host.scratch import collect_leftovers, scratch_folder
from okn_benchmark.host.script import parse_script
from tests.host.driving import toy_plan


def test_the_users_login_stays_and_what_changes_the_agent_goes() -> None:
    users = {
        "PATH": "/bin",
        "HOME": "/home/u",
        "MY_SERVER_KEY": "k",
        "ANTHROPIC_API_KEY": "a",
        "CLAUDE_CONFIG_DIR": "/c",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "ANTHROPIC_MODEL": "other",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1",
        "MAX_THINKING_TOKENS": "0",
        "MCP_TIMEOUT": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }
    pins = isolation.pinned(120.0)
    got = isolation.environment(users, pins)
    kept = {"PATH", "HOME", "MY_SERVER_KEY", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"}
    assert set(got) == kept | set(pins)
    assert (got["ENABLE_TOOL_SEARCH"], got["MCP_TIMEOUT"], got["MCP_TOOL_TIMEOUT"]) == ("true", "60000", "180000")


def test_a_rehearsal_reaches_no_login(tmp_path: Path) -> None:
    users = {
        "PATH": "/bin",
        "HOME": "/home/u",
        "ANTHROPIC_API_KEY": "real",
        "CLAUDE_CODE_OAUTH_TOKEN": "real",
        "X": "1",
    }
    with rehearse("claude", parse_script([]), environ=users) as stage:
        env = stage.host.environment({})
        argv = " ".join(stage.host.argv(toy_plan(tmp_path)))
    assert "real" not in env.values()
    assert env["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert env["HOME"] != "/home/u"
    assert '"HOME":"/home/u"' in argv, "the server under test keeps the user's home"
    assert not stage.home.exists()


def test_the_scratch_folder_is_empty_and_gone_afterwards(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "root") as folder:
        assert list(folder.iterdir()) == []
        (folder / "left").write_text("x")
    assert not folder.exists()


def test_a_temporary_folder_in_a_repository_or_in_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    with pytest.raises(InputError, match="repository"), scratch_folder(tmp_path / "root", tmp_path / "repo"):
        pass
    (tmp_path / "root" / "tmp").mkdir(parents=True)
    with pytest.raises(InputError, match="runs root"), scratch_folder(tmp_path / "root", tmp_path / "root" / "tmp"):
        pass


def test_leftovers_are_kept_but_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "note.txt").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    assert collect_leftovers(folder, tmp_path / "cwd") == ["link", "pipe"]
    assert [p.name for p in (tmp_path / "cwd").rglob("*") if p.is_file()] == ["note.txt"]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_lines_arrive_and_the_prompt_goes_in(tmp_path: Path) -> None:
    lines: list[bytes] = []
    code = "import sys; print(sys.stdin.read().upper()); print('err', file=sys.stderr); sys.exit(3)"
    env = {"PATH": os.environ["PATH"]}
    ended = run_group(python(code), env=env, cwd=tmp_path, stdin="hi", timeout_s=30, on_line=lines.append)
    assert (ended.exit_code, ended.signal, ended.timed_out) == (3, None, False)
    assert lines == [b"HI"]
    assert ended.stderr == "err\n"


def test_a_child_that_outlives_its_parent_is_ended(tmp_path: Path) -> None:
    child = "import os,time; print(os.getpgid(0), flush=True); time.sleep(600)"
    code = (
        "import subprocess,sys; child=subprocess.Popen([sys.executable,'-c',"
        f"{child!r}], stdout=subprocess.PIPE, text=True); print(child.stdout.readline(), end='')"
    )
    lines: list[bytes] = []
    env = {"PATH": os.environ["PATH"]}
    ended = run_group(python(code), env=env, cwd=tmp_path, stdin="", timeout_s=30, on_line=lines.append, drain_s=0.5)
    assert (ended.exit_code, ended.timed_out) == (0, False)
    assert not group_alive(int(lines[0]))


def test_a_group_that_ignores_sigterm_is_killed() -> None:
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
    with subprocess.Popen(python(stubborn), stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        end_group(process.pid, 0.2)
        assert process.wait(5) == -signal.SIGKILL


def test_a_listener_that_fails_is_heard_after_the_process_ended(tmp_path: Path) -> None:
    def listen(line: bytes) -> None:
        raise ValueError(line.decode())

    env = {"PATH": os.environ["PATH"]}
    with pytest.raises(ValueError, match="first"):
        run_group(python("print('first\\nsecond')"), env=env, cwd=tmp_path, stdin="", timeout_s=30, on_line=listen)


def test_a_group_without_a_living_member_is_gone() -> None:
    done = subprocess.Popen(["true"], start_new_session=True)
    done.wait()
    assert group_gone(done.pid, 1.0)


def test_secrets_are_taken_out_as_they_stand_and_as_json_writes_them() -> None:
    scrub = scrubber({"API_TOKEN": 'abc"defgh\\', "SHORT_KEY": "x1", "PLAIN": "visible-value"})
    assert scrub(b'say abc"defgh\\ now') == b"say [redacted] now"
    assert scrub(rb'{"a":"abc\"defgh\\"}') == b'{"a":"[redacted]"}'
    assert scrub(b"visible-value x1") == b"visible-value x1"


def test_a_full_transcript_still_takes_the_final_message(tmp_path: Path) -> None:
    with open_transcript(tmp_path) as stream:
        file = TranscriptFile(stream, limit=20)
        for line in (b"0123456789", b"0123456789", b"more", b"and more"):
            file.add(line)
        file.add(b'{"type":"result"}', always=True)
    lines = (tmp_path / "transcript.jsonl").read_bytes().splitlines()
    assert lines[0] == b"0123456789"
    assert b"transcript is full" in lines[1]
    assert lines[-1] == b'{"type":"result"}'
    assert file.dropped == 3
    with pytest.raises(OutsideFailure, match="transcript"):
        open_transcript(tmp_path)


def test_the_protocol_is_read_off_the_proxys_log(tmp_path: Path) -> None:
    assert protocol_facts(None) == protocol_facts(tmp_path) == (None, None)
    (tmp_path / "calls.jsonl").write_text(
        '{"event":"begin"}\n{"event":"opened","era":"handshake","protocol_version":"2025-11-25"}\n{"event":"ca'
    )
    assert protocol_facts(tmp_path) == ("handshake", "2025-11-25")
