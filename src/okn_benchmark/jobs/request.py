"""What was asked of ``run``: every flag as a value, and the combinations that make no sense."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from okn_benchmark.errors import InputError
from okn_benchmark.launch import DEFAULT_CALL_TIMEOUT_S, Level

KgHint: TypeAlias = Literal["none", "tags"]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
"""What the agent program knows: any other word it warns of, ignores, and answers with its default."""
HostName: TypeAlias = Literal["claude", "oracle"]

SUBMIT_TOOL: Final = "submit_csv"
DEFAULT_MODEL: Final = "opus"
NO_MODEL: Final = "none"
DEFAULT_AGENT_TIMEOUT_S: Final = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One condition over one corpus. Times in seconds."""

    corpus: str
    out: Path
    level: Level
    kg_hint: KgHint
    endpoint: str
    cache: Path | None = None
    tier: str | None = None
    exclude: tuple[str, ...] = ()
    limit: int | None = None
    profile: Path | None = None
    withheld: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    effort: str | None = None
    repeat: int = 1
    host: HostName = "claude"
    label: str | None = None
    force: bool = False
    resume: bool = False
    agent_timeout_s: float = DEFAULT_AGENT_TIMEOUT_S
    max_turns: int | None = None
    call_timeout_s: float = DEFAULT_CALL_TIMEOUT_S
    strict_upstream_errors: bool = False
    significant_digits: int = 6
    numeric_rel_tol: float = 5e-4
    result_limit: int | None = None
    protocol_negotiation: str = "legacy"
    arm: Path | None = None
    keep_payloads: bool = False
    record: Path | None = None
    """Where every reply of the server is recorded."""
    replay: Path | None = None
    """Recorded replies that stand in for the server."""
    then_live: bool = False
    """Whether the server is asked for what ``replay`` does not hold."""
    model_script: Path | None = None
    claude: str | None = None
    allow_failed_audit: bool = False
    drift_check: bool = False

    @property
    def shown_model(self) -> str:
        """The model a condition is recorded under; the oracle has none, whatever ``--model`` said."""
        return NO_MODEL if self.host == "oracle" else self.model

    @staticmethod
    def without_interventions(request: "RunRequest") -> "RunRequest":
        """The same server with nothing done to it: what preflight asks."""
        return replace(request, withheld=(), strict_upstream_errors=False, result_limit=None, arm=None)


def default_hint(level: Level) -> KgHint:
    """What ``--kg-hint`` means where it is not given: the control takes ``tags`` alone."""
    return "tags" if level == "sparql-only" else "none"


def check_request(request: RunRequest) -> None:
    """Refuse what cannot mean anything, before anything is opened.

    Raises:
        InputError: one sentence for the first combination that does not work.
    """
    if request.level == "sparql-only":
        _check_control(request)
    elif request.profile is None:
        raise InputError(
            "--tools all-tools re-exports a server, and no --profile says which.",
            hint="Add --profile profiles/<server>.toml, or run the control with --tools sparql-only.",
        )
    if SUBMIT_TOOL in request.withheld:
        raise InputError(
            f"{SUBMIT_TOOL} cannot be withheld: without it an episode has nowhere to put its answer.",
            hint=f"Leave --without-tool {SUBMIT_TOOL} out.",
        )
    if request.repeat < 1:
        raise InputError(f"--repeat {request.repeat} attempts nothing; it has to be at least 1.")
    _check_tape(request)
    if request.force and request.resume:
        raise InputError("--force runs everything anew and --resume keeps what was measured; give one of the two.")
    if request.model_script is not None and request.host != "claude":
        raise InputError("--model-script rehearses the claude host; it means nothing to --host oracle.")
    if request.out.exists() and not request.out.is_dir():
        raise InputError(f"{request.out} is a file; --out names the folder a runs root is kept in.")


def _check_tape(request: RunRequest) -> None:
    if request.record is not None and request.replay is not None:
        raise InputError(
            "--record asks the server and --replay does not; give one of the two.",
            hint="--replay DIR --then-live answers from DIR, asks the server for the rest and records that.",
        )
    if request.then_live and request.replay is None:
        raise InputError("--then-live says what happens to calls --replay does not hold; give --replay DIR with it.")
    if request.replay is not None and not request.replay.is_dir():
        raise InputError(f"There is no recording at {request.replay}.", hint="Make one with --record DIR.")
    if request.keep_payloads and request.arm is None:
        raise InputError("--keep-payloads keeps what an arm changes, before and after; give --arm FILE with it.")


def _check_control(request: RunRequest) -> None:
    if request.kg_hint == "none":
        raise InputError(
            "--tools sparql-only needs --kg-hint tags: the control is handed every shortname to address the endpoint, "
            "so leaving the graph unnamed would measure recognising a name, not choosing a graph.",
            hint="Use --kg-hint tags with sparql-only, or all-tools with --kg-hint none.",
        )
    if request.withheld:
        raise InputError(
            f"--without-tool {request.withheld[0]} has nothing to withhold: sparql-only has no server behind it.",
            hint="Drop --without-tool, or use --tools all-tools with a --profile.",
        )
    if request.record is not None or request.replay is not None:
        raise InputError(
            "--record and --replay keep a server's replies, and sparql-only has no server behind it.",
            hint="Drop them, or use --tools all-tools with a --profile.",
        )
    if request.arm is not None:
        raise InputError(
            "--arm changes a server's tools, and sparql-only has no server behind it.",
            hint="Drop --arm, or use --tools all-tools with a --profile.",
        )
