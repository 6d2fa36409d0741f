"""The real agent with a scripted model: a whole sweep's plumbing for nothing, and what tests and audits run on."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.host.script import Script
from okn_benchmark.host.scripted import ScriptedEndpoint, serve_script

_LOGIN_PREFIXES: Final = ("ANTHROPIC_", "CLAUDE", "AWS_", "GOOGLE_", "AZURE_")
_PROXY_EXCEPTIONS: Final = ("NO_PROXY", "no_proxy")
_FOLDERS: Final = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """``host`` runs episodes whose every answer comes from ``endpoint``; ``home`` is gone afterwards."""

    host: ClaudeHost
    endpoint: ScriptedEndpoint
    home: Path


@contextlib.contextmanager
def rehearse(
    executable: str,
    script: Script,
    *,
    pins: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    negotiation: str = "legacy",
    made: Callable[[Script], ScriptedEndpoint] = ScriptedEndpoint,
) -> Iterator[Rehearsal]:
    """A host with an empty home, a dummy key and the scripted endpoint; no login of the user's is in reach.

    ``pins`` change or add pinned variables; ``environ`` stands for the user's own (default: this process's). ``made``
    gives the endpoint, for tests whose agent has to read before it answers.
    """
    inherited = os.environ if environ is None else environ
    with serve_script(script, made) as endpoint, tempfile.TemporaryDirectory(prefix="okn-home-") as folder:
        home = Path(folder)
        host = ClaudeHost(
            executable=executable,
            environ=without_login(inherited),
            overrides=scratch_login(home, endpoint.base_url),
            extra_pins=dict(pins or {}),
            negotiation=negotiation,
            # The server under test keeps what is the user's own: a profile may say ~, and tools have caches.
            server_env={k: inherited[k] for k in (*_FOLDERS, *_PROXY_EXCEPTIONS) if k in inherited},
            model_script=script.digest,
        )
        yield Rehearsal(host=host, endpoint=endpoint, home=home)


def without_login(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` without whatever could log in somewhere or lead to another service."""
    return {k: v for k, v in environ.items() if not k.startswith(_LOGIN_PREFIXES)}


def scratch_login(home: Path, base_url: str) -> dict[str, str]:
    """The variables that put the agent into an empty home, in front of another endpoint."""
    return {
        **{name: str(home / name) for name in _FOLDERS if name != "HOME"},
        **dict.fromkeys(_PROXY_EXCEPTIONS, "127.0.0.1"),
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": "dummy",
    }
