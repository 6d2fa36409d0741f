"""What a host is given and what it hands back: one question to one agent process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.runs.shapes import Episode

DEFAULT_AGENT_TIMEOUT_S: Final = 900.0
SERVER_NAME: Final = "okn"
"""The name our proxy is registered under; a host shows its tools as ``mcp__okn__<tool>``."""
TOOL_PREFIX: Final = f"mcp__{SERVER_NAME}__"
SUBMIT_TOOL: Final = "submit_csv"

TRANSCRIPT: Final = "transcript.jsonl"
FINAL_MESSAGE: Final = "agent.json"
LEFTOVERS: Final = "cwd"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePlan:
    """One episode before it starts. Times in seconds."""

    record_id: str
    prompt: str
    attempt_dir: Path
    """Exists already; the host writes transcript.jsonl, agent.json and cwd/ into it and nothing else."""
    launch: ProxyLaunch
    root: Path | None = None
    """The runs root; the agent's working directory must not lie in it. None: the attempt folder stands for it."""
    model: str | None = None
    effort: str | None = None
    """None leaves the host's own default."""
    agent_timeout_s: float = DEFAULT_AGENT_TIMEOUT_S
    max_turns: int | None = None
    expected_tools: tuple[str, ...] | None = None
    """Bare tool names the server listed in preflight, submit_csv among them; None where nobody looked."""
    server: tuple[str, ...] | None = None
    """A command to register in the proxy's place (the audit's own server); None for the proxy."""

    def server_command(self) -> list[str]:
        """What the host registers as its one server."""
        return self.launch.to_argv() if self.server is None else list(self.server)


EventKind: TypeAlias = Literal["connected", "turn", "tool", "retry", "final"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to show while an episode runs; nothing of it is stored."""

    kind: EventKind
    detail: str = ""
    """The tool's name, the retry's delay, the server's status, the final message's reason."""


Watch: TypeAlias = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """The watcher of those who do not watch."""


class Host(Protocol):
    """An agent program, or something that stands in for one."""

    @property
    def name(self) -> str:
        """What the condition records: ``claude`` or ``oracle``."""
        ...

    def version(self) -> str | None:
        """The program's own version; None where it does not tell."""
        ...

    def argv(self, plan: EpisodePlan) -> list[str]:
        """The literal command, as ``command.txt`` keeps it; no secret is in it."""
        ...

    def flags(self, plan: EpisodePlan) -> JsonObject:
        """What decides the agent's behaviour, without a path: the host's part of the resume digest."""
        ...

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        """The environment variables it pins, none of them a secret; they are part of that digest too."""
        ...

    def run(self, plan: EpisodePlan, watch: Watch) -> Episode:
        """Run one episode to its end, whatever that end is; a failure in it is data, not an exception.

        Raises:
            OutsideFailure: the program is not there, or the evidence could not be written.
        """
        ...
