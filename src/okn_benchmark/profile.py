"""A profile: which server to re-export and how to reach it. Nothing about its tools is configured.

``load_profile`` gives the values to connect with; ``public`` what may be written down: the text of the file before
any variable was put in, without a single header or environment value.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from okn_benchmark.errors import InputError

Reply: TypeAlias = Literal["sparql-json", "csv", "tsv"]
REPLIES: Final[tuple[Reply, ...]] = ("sparql-json", "csv", "tsv")

_KEYS: Final[dict[str, tuple[str, ...]]] = {"http": ("url", "headers"), "stdio": ("command", "args", "cwd", "env")}
"""What ``[upstream]`` holds beside ``transport``."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MASK: Final = "[redacted]"
_SECRET_NAME: Final = re.compile(r"(?i)KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!OR)|COOKIE|SESSION|SIGNATURE")
_SCHEME: Final = re.compile(r"(?i)(Bearer|Basic|Token|ApiKey|Digest)\s+\S")
_SHORTEST_SECRET: Final = 4
_SHORTEST_CREDENTIAL: Final = 8
"""Shorter values (a port, a switch, a level) occur by chance in ordinary text; masking them would destroy it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpUpstream:
    """A server reached over streamable HTTP. Header values are secrets."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioUpstream:
    """A server started as a child process. Environment values are secrets."""

    command: str
    args: tuple[str, ...] = ()
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleTool:
    """How the oracle host puts a key through the server: one tool and the form of its reply.

    ``arguments`` hold ``{query}`` where the query goes; ``path`` leads through a JSON reply, dot by dot.
    """

    tool: str
    arguments: Mapping[str, Any]
    reply: Reply
    path: str | None = None


Upstream: TypeAlias = HttpUpstream | StdioUpstream


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One server under test."""

    name: str
    upstream: Upstream
    oracle: OracleTool | None = None
    path: Path | None = None
    written: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """``[upstream]`` as it stands in the file, variables not yet put in."""


def load_profile(path: Path, env: Mapping[str, str] | None = None) -> Profile:
    """Read, check and expand the profile at ``path``.

    Raises:
        InputError: no such file, not TOML, an unknown or missing key, a value of the wrong kind, or a variable that
            is not set; the message names the file and the key.
    """
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"The profile {path} cannot be read: {error.strerror or error}.",
            hint="Give the path of a TOML file with --profile; examples are in profiles/.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The profile {path} is not valid TOML: {error}.") from error
    return read_profile(value, str(path), os.environ if env is None else env, path=path)


def read_profile(value: Mapping[str, Any], source: str, env: Mapping[str, str], *, path: Path | None = None) -> Profile:
    """The profile in an already parsed table; ``source`` names it in errors. Raises InputError."""
    table = _Table(value, source, env)
    table.only("name", "upstream", "oracle")
    name = table.text("name")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or "__" in name:
        raise InputError(
            f"{source}: name {name!r} cannot be part of a folder name.",
            hint="Use letters, digits, dots and single dashes or underscores.",
        )
    upstream = table.table("upstream")
    if upstream is None:
        raise InputError(f"{source}: [upstream] is missing.", hint='Add it with transport = "http" or "stdio".')
    oracle = table.table("oracle")
    return Profile(
        name=name,
        upstream=_read_upstream(upstream, None if path is None else path.resolve().parent),
        oracle=None if oracle is None else _read_oracle(oracle),
        path=path,
        written=dict(upstream.value),
    )


def public(profile: Profile) -> dict[str, Any]:
    """What may stand in a file: unexpanded text, header and environment *names* only, no credentials in the URL."""
    shown: dict[str, Any] = {"name": profile.name}
    match profile.upstream:
        case HttpUpstream() as http:
            url = str(profile.written.get("url", http.url))
            shown |= {"transport": "http", "url": _bare_url(url), "headers": sorted(http.headers)}
        case StdioUpstream() as stdio:
            written = profile.written
            shown |= {
                "transport": "stdio",
                "command": written.get("command", stdio.command),
                "args": list(written.get("args", stdio.args)),
                "cwd": written.get("cwd"),
                "env": sorted(stdio.env),
            }
    if profile.oracle is not None:
        tool = profile.oracle
        shown["oracle"] = {"tool": tool.tool, "arguments": dict(tool.arguments), "reply": tool.reply, "path": tool.path}
    return shown


def redactor(profile: Profile) -> Callable[[str], str]:
    """A function that masks every secret of ``profile`` in a text; ``str`` itself where there is none."""
    secrets = sorted(set(_secrets(profile)), key=len, reverse=True)
    if not secrets:
        return str
    pattern = re.compile("|".join(re.escape(secret) for secret in secrets))
    return lambda text: pattern.sub(_MASK, text)


def credentials(profile: Profile) -> tuple[str, ...]:
    """The values a server must never be seen to repeat: long enough, and given under a name that says what they are.

    Of ``Authorization: Bearer abc`` also ``abc`` by itself. What is named otherwise may as well be a graph or a mode,
    and masking it in a server's results would change what is measured.
    """
    found = [value for name, value in _given(profile) if _SECRET_NAME.search(name) or _SCHEME.match(value)]
    words = [word for value in found for word in (value, *value.split())]
    return tuple(dict.fromkeys(word for word in words if len(word) >= _SHORTEST_CREDENTIAL))


def _given(profile: Profile) -> list[tuple[str, str]]:
    """Every value the server is given, under its name."""
    if isinstance(profile.upstream, StdioUpstream):
        return list(profile.upstream.env.items())
    parts = urlsplit(profile.upstream.url)
    return [*profile.upstream.headers.items(), ("password", parts.password or ""), *parse_qsl(parts.query)]


def _secrets(profile: Profile) -> list[str]:
    return [
        *credentials(profile),
        *(value for name, value in _given(profile) if len(value) >= _shortest(name)),
    ]


def _shortest(name: str) -> int:
    return _SHORTEST_SECRET if _SECRET_NAME.search(name) else _SHORTEST_CREDENTIAL


def _bare_url(url: str) -> str:
    parts = urlsplit(url)
    query = "" if not parts.query else "…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _read_upstream(table: "_Table", home: Path | None) -> Upstream:
    """``home`` is the folder a stdio server starts in and a relative ``cwd`` counts from: the profile's own.

    The proxy that starts the server runs in the agent's scratch folder, so the folder has to be fixed here: what works
    under ``probe`` must work in an episode.
    """
    own = _KEYS.get(str(table.value.get("transport")))
    table.only("transport", *(own if own is not None else (key for keys in _KEYS.values() for key in keys)))
    transport = table.text("transport")
    if transport == "http":
        url = table.text("url")
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
            raise InputError(f"{table.at}: url is not an http or https address.")
        return HttpUpstream(url=url, headers=table.texts_by_name("headers"))
    if transport == "stdio":
        cwd = table.opt_text("cwd")
        return StdioUpstream(
            command=table.text("command"),
            args=table.texts("args"),
            cwd=home if cwd is None else Path(cwd) if home is None else home / cwd,
            env=table.texts_by_name("env"),
        )
    raise InputError(f"{table.at}: transport is {transport!r}.", hint='It is either "http" or "stdio".')


def _read_oracle(table: "_Table") -> OracleTool:
    table.only("tool", "arguments", "reply", "path")
    tool, path, reply = table.text("tool"), table.opt_text("path"), table.text("reply")
    arguments = table.table("arguments")
    if reply not in REPLIES:
        raise InputError(f"{table.at}: reply is {reply!r}.", hint=f"It is one of {', '.join(REPLIES)}.")
    if arguments is None or "{query}" not in str(arguments.value):
        raise InputError(f"{table.at}: arguments must hold {{query}} where the query goes.")
    return OracleTool(tool=tool, arguments=dict(arguments.value), reply=reply, path=path)


class _Table:
    """One TOML table, read key by key and expanded."""

    def __init__(self, value: Mapping[str, Any], at: str, env: Mapping[str, str]) -> None:
        self.value, self.at, self._env = value, at, env

    def only(self, *known: str) -> None:
        """Refuse every other key, before any is missed: a misspelt key is both unknown and missing."""
        unknown = sorted(set(self.value) - set(known))
        if not unknown:
            return
        from difflib import get_close_matches  # every proxy loads this module

        pairs = [(key, get_close_matches(key.lower(), known, n=1, cutoff=0.7)) for key in unknown]
        meant = [f"Write {close[0]} for {key}. " for key, close in pairs if close]
        raise InputError(
            f"{self.at}: unknown key {', '.join(unknown)}.", hint=f"{''.join(meant)}Known here: {', '.join(known)}."
        )

    def _take(self, key: str, kind: type, name: str) -> Any:
        found = self.value.get(key)
        if found is not None and not isinstance(found, kind):
            raise InputError(f"{self.at}: {key} must be {name}.")
        return found

    def text(self, key: str) -> str:
        found = self.opt_text(key)
        if not found:
            raise InputError(f"{self.at}: {key} is missing.")
        return found

    def opt_text(self, key: str) -> str | None:
        found = self._take(key, str, "a string")
        return None if found is None else self._expand(found, key)

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._take(key, list, "a list of strings") or []
        return tuple(self._expand(item, f"{key}[{index}]") for index, item in enumerate(found))

    def texts_by_name(self, key: str) -> dict[str, str]:
        found = self._take(key, dict, "a table of strings") or {}
        return {name: self._expand(item, f"{key}.{name}") for name, item in found.items()}

    def table(self, key: str) -> "_Table | None":
        found = self._take(key, dict, "a table")
        return None if found is None else _Table(found, f"{self.at}: [{key}]", self._env)

    def _expand(self, text: object, key: str) -> str:
        if not isinstance(text, str):
            raise InputError(f"{self.at}: {key} must be a string.")

        def put_in(found: re.Match[str]) -> str:
            variable = found.group(1)
            if variable not in self._env:
                raise InputError(
                    f"{self.at}: {key} needs the environment variable {variable}, which is not set.",
                    hint=f"export {variable}=… and try again.",
                )
            return self._env[variable]

        home = self._env.get("HOME") or str(Path.home())
        if text == "~" or text.startswith("~/"):
            text = home + text[1:]
        return _VARIABLE.sub(put_in, text)
