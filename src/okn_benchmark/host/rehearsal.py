"""The real agent with a scripted model: a whole sweep's plumbing for nothing, and what tests and audits run on."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.host.script import Script
from okn_benchmark.host.scripted import ScriptedEndpoint, serve_script

_LOGIN_PREFIXES = ("ANTHROPIC_", "CLAUDE", "AWS_", "GOOGLE_", "AZURE_")


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
) -> Iterator[Rehearsal]:
    """A host with an empty home, a dummy key and the scripted endpoint; no login of the user's is in reach.

    ``pins`` change or add pinned variables; ``environ`` stands for the user's own (default: this process's).
    """
    inherited = os.environ if environ is None else environ
    kept = {k: v for k, v in inherited.items() if not k.startswith(_LOGIN_PREFIXES)}
    with serve_script(script) as endpoint, tempfile.TemporaryDirectory(prefix="okn-home-") as folder:
        home = Path(folder)
        host = ClaudeHost(
            executable=executable,
            environ=kept,
            overrides=scratch_login(home, endpoint.base_url),
            extra_pins=dict(pins or {}),
            server_env={"HOME": inherited["HOME"]} if "HOME" in inherited else {},  # a profile may say ~
            model_script=script.digest,
        )
        yield Rehearsal(host=host, endpoint=endpoint, home=home)


def scratch_login(home: Path, base_url: str) -> dict[str, str]:
    """The variables that put the agent into an empty home, in front of another endpoint."""
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": "dummy",
    }
