"""Profiles: what is read, what is refused, what may be shown."""

import json
from pathlib import Path

import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.profile import HttpUpstream, StdioUpstream, load_profile, public, redactor

HTTP = 'name = "s"\n[upstream]\ntransport = "http"\nurl = "https://e.org/mcp"\n'
STDIO = 'name = "s"\n[upstream]\ntransport = "stdio"\ncommand = "run"\n'
ENV = {"HOME": "/h/me", "TOKEN": "t0ken-value", "DIR": "/srv"}


def write(folder: Path, text: str) -> Path:
    path = folder / "p.toml"
    path.write_text(text)
    return path


def test_http(tmp_path: Path) -> None:
    path = write(tmp_path, HTTP + 'headers = { Authorization = "Bearer ${TOKEN}" }\n')
    profile = load_profile(path, ENV)
    assert profile.upstream == HttpUpstream(url="https://e.org/mcp", headers={"Authorization": "Bearer t0ken-value"})
    assert profile.name == "s"
    assert profile.path == path
    assert "t0ken" not in repr(profile)


def test_stdio(tmp_path: Path) -> None:
    text = STDIO + 'args = ["--in", "~/x", "${DIR}/y", "a~"]\ncwd = "~"\nenv = { KEY = "${TOKEN}" }\n'
    profile = load_profile(write(tmp_path, text), ENV)
    assert profile.upstream == StdioUpstream(
        command="run", args=("--in", "/h/me/x", "/srv/y", "a~"), cwd=Path("/h/me"), env={"KEY": "t0ken-value"}
    )


@pytest.mark.parametrize(
    ("text", "unknown", "suggestion"),
    [
        (STDIO.replace("command", "comand"), "comand", "Write command for comand. Known here: transport, command,"),
        (HTTP.replace("transport", "transprot"), "transprot", "Write transport for transprot. "),
        (HTTP.replace("name", "Name"), "Name", "Write name for Name. "),
        (HTTP + '[oracel]\ntool = "t"\n', "oracel", "Write oracle for oracel. "),
        (HTTP + '[oracle]\ntol = "t"\n', "tol", "Write tool for tol. "),
        (HTTP + "colour = 1\n", "colour", "Known here: transport, url, headers."),
    ],
)
def test_a_misspelt_key_is_named_rather_than_the_one_that_is_missing(
    text: str, unknown: str, suggestion: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=rf"unknown key {unknown}\.") as found:
        load_profile(write(tmp_path, text), ENV)
    assert found.value.hint is not None
    assert found.value.hint.startswith(suggestion)


def test_a_stdio_server_starts_in_the_folder_of_its_profile(tmp_path: Path) -> None:
    for written, folder in (
        ("", tmp_path),
        ('cwd = "server"\n', tmp_path / "server"),
        ('cwd = "/srv"\n', Path("/srv")),
    ):
        upstream = load_profile(write(tmp_path, STDIO + written), ENV).upstream
        assert isinstance(upstream, StdioUpstream)
        assert upstream.cwd == folder


def test_the_oracle_table(tmp_path: Path) -> None:
    text = (
        HTTP + '[oracle]\ntool = "query"\nreply = "sparql-json"\npath = "a.b"\narguments = { q = "{query}", n = 1 }\n'
    )
    tool = load_profile(write(tmp_path, text), ENV).oracle
    assert tool is not None
    assert (tool.tool, tool.reply, tool.path, tool.arguments) == (
        "query",
        "sparql-json",
        "a.b",
        {"q": "{query}", "n": 1},
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "not valid TOML"),
        ('[upstream]\ntransport = "http"\nurl = "https://e"\n', "name is missing"),
        ('name = "s"\n', "[upstream] is missing"),
        ('name = "a/b"\n[upstream]\n', "folder name"),
        ('name = "a__b"\n[upstream]\n', "folder name"),
        (HTTP.replace('http"', 'tcp"'), "transport is 'tcp'"),
        (HTTP.replace("https://e.org/mcp", "ftp://e"), "url is not an http"),
        (HTTP + "tools = []\n", "unknown key tools"),
        (HTTP + "[other]\n", "unknown key other"),
        (HTTP + 'command = "x"\n', "unknown key command"),
        (STDIO + 'args = "x"\n', "args must be a list"),
        (STDIO + "args = [1]\n", "args[0] must be a string"),
        (STDIO + 'env = { K = "${MISSING}" }\n', "env.K needs the environment variable MISSING"),
        (HTTP + '[oracle]\ntool = "t"\nreply = "xml"\narguments = { q = "{query}" }\n', "reply is 'xml'"),
        (HTTP + '[oracle]\ntool = "t"\nreply = "csv"\narguments = { q = "x" }\n', "must hold {query}"),
        (HTTP + '[oracle]\ntool = "t"\nreply = "csv"\n', "must hold {query}"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(text: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as refused:
        load_profile(path, ENV)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert "t0ken" not in str(refused.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_profile(tmp_path / "none.toml")


def test_what_may_be_shown(tmp_path: Path) -> None:
    text = HTTP.replace("https://", "https://me:pass-word@").replace("/mcp", "/mcp?key=k-value")
    shown = public(load_profile(write(tmp_path, text + 'headers = { X-Key = "${TOKEN}" }\n'), ENV))
    assert shown == {"name": "s", "transport": "http", "url": "https://e.org/mcp?…", "headers": ["X-Key"]}
    stdio = load_profile(write(tmp_path, STDIO + 'args = ["${TOKEN}", "~/x"]\nenv = { K = "secret-1" }\n'), ENV)
    shown = public(stdio)
    assert shown["args"] == ["${TOKEN}", "~/x"]
    assert shown["env"] == ["K"]
    assert "secret" not in json.dumps(shown)


def test_redaction(tmp_path: Path) -> None:
    mask = redactor(load_profile(write(tmp_path, HTTP + 'headers = { A = "Bearer ${TOKEN}" }\n'), ENV))
    assert mask("got Bearer t0ken-value, t0ken-value") == "got [redacted], [redacted]"
    short = load_profile(write(tmp_path, STDIO + 'env = { DEBUG = "1", KEY = "abcd" }\n'), ENV)
    assert redactor(short)("1 abcd") == "1 [redacted]"
    assert redactor(load_profile(write(tmp_path, STDIO), ENV)) is str


@pytest.mark.parametrize("name", ["mcp-proto-okn.local.toml", "mcp-proto-okn.remote.toml"])
def test_the_profiles_that_ship(name: str, checkout: Path) -> None:
    profile = load_profile(checkout / "profiles" / name, {"HOME": "/h", "MCP_PROTO_OKN": "/src"})
    assert profile.name == "mcp-proto-okn"
