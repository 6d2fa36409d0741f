"""Which recorded attempts a resumed run keeps, and why. Values in, values out.

What must be the same is digested part by part (prompt, flags, variables, proxy, profile), without any path, so that a
tree that was moved resumes and a profile that was changed does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from okn_benchmark.jsonio import JsonObject, digest
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.runs.shapes import AttemptHeader, OutcomeKind

Action: TypeAlias = Literal["reuse", "run", "repeat"]
PARTS: Final = ("prompt", "flags", "variables", "proxy", "profile")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAttempt:
    """What would be run: digests of the parts, and the literal texts that attempts of older roots are held to."""

    parts: Mapping[str, str]
    prompt: str
    command: str

    @property
    def digest(self) -> str:
        """One digest over all parts."""
        return digest(dict(self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAttempt:
    """What is on disk for one attempt. ``outcome`` is None where it could not be told."""

    header: AttemptHeader | None
    has_episode: bool
    outcome: OutcomeKind | None
    has_agent: bool = False
    prompt: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``reuse`` keeps it, ``repeat`` sets it aside and runs again, ``run`` finds nothing there. ``why`` in words."""

    action: Action
    why: str


def resume_parts(
    *,
    prompt: str,
    flags: JsonObject,
    variables: Mapping[str, str],
    proxy: JsonObject,
    profile: JsonObject | None,
    home: str = "",
) -> dict[str, str]:
    """The digest of each part. ``home`` is this machine's home folder, which a profile's paths may lie in."""
    # Where a profile was read from is not what it says.
    content = None if profile is None else _portable({k: v for k, v in profile.items() if k != "path"}, home)
    values: tuple[Any, ...] = (prompt, flags, dict(variables), proxy, content)
    return {part: digest(value) for part, value in zip(PARTS, values, strict=True)}


def proxy_flags(launch: ProxyLaunch, *, endpoint: str | None, arm: str | None) -> JsonObject:
    """A proxy's command line without its paths. ``endpoint`` is the name of the endpoint, ``arm`` a digest."""
    return {
        "level": launch.level,
        "endpoint": endpoint,
        "withheld": sorted(launch.withheld),
        "call_timeout_s": launch.call_timeout_s,
        "strict_upstream_errors": launch.strict_upstream_errors,
        "result_limit": launch.result_limit,
        "arm": arm,
    }


def _portable(value: Any, home: str) -> Any:
    """``value`` with the home folder written as ``~``."""
    if isinstance(value, Mapping):
        return {key: _portable(item, home) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_portable(item, home) for item in value]
    if isinstance(value, str) and len(home) > 1 and (value == home or value.startswith(home.rstrip("/") + "/")):
        return "~" + value[len(home.rstrip("/")) :]
    return value


def decide(recorded: RecordedAttempt | None, planned: PlannedAttempt) -> Decision:
    """Whether one attempt is kept."""
    if recorded is None:
        return Decision(action="run", why="not recorded yet")
    if not recorded.has_episode and (recorded.header is not None or not recorded.has_agent):
        return Decision(action="repeat", why="it was cut off before it ended")
    changed = _changed(recorded, planned)
    if changed:
        return Decision(action="repeat", why=f"another {changed} than now asked for")
    if recorded.outcome is None:
        return Decision(action="repeat", why="its evidence cannot be read")
    if recorded.outcome == "blocked":
        return Decision(action="repeat", why="it was blocked and measured nothing")
    return Decision(action="reuse", why=recorded.outcome)


def _changed(recorded: RecordedAttempt, planned: PlannedAttempt) -> str | None:
    """The first part that differs, or None."""
    header = recorded.header
    if header is None:
        # Older than attempt.json: only the literal texts were kept, so they are held to the letter.
        if recorded.prompt != planned.prompt:
            return "prompt"
        return None if recorded.command == planned.command else "command"
    if header.resume_digest == planned.digest:
        return None
    for part in PARTS:
        if header.resume_parts.get(part) != planned.parts.get(part):
            return part
    return "command"
