"""The files of a runs root as values. Names are a contract (docs: the on-disk layout); extend, never rename.

Evidence is what was observed and is written once. Derived is what it means and can be rebuilt at any time. Every
shape keeps keys it does not know in ``extra`` and writes them back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from okn_benchmark.jsonio import Fields, JsonObject

OutcomeKind: TypeAlias = Literal[
    "answered", "no_submission", "malformed", "timeout", "max_turns", "declined", "blocked"
]
BlockedCause: TypeAlias = Literal[
    "startup", "not_connected", "tool_set", "host_login", "host_billing", "host_limit", "host_api", "host_crash"
]

OUTCOMES: Final[tuple[OutcomeKind, ...]] = (
    "answered", "no_submission", "malformed", "timeout", "max_turns", "declined", "blocked",
)  # fmt: skip
BLOCKED_CAUSES: Final[tuple[BlockedCause, ...]] = (
    "startup", "not_connected", "tool_set", "host_login", "host_billing", "host_limit", "host_api", "host_crash",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One ``tools/call`` as the proxy saw it. Evidence, in ``calls.json``. Times in seconds, clocks in ISO 8601 UTC."""

    seq: int
    tool: str
    arguments: Any
    started_at: str
    elapsed_s: float | None
    ok: bool
    error: str | None = None
    soft_error: str | None = None
    withheld: bool = False
    timed_out: bool = False
    is_query: bool = False
    response_chars: int = 0
    sha256: str | None = None
    interventions: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """What the proxy counted over one episode. None where it could not know."""

    tools_called: tuple[str, ...] = ()
    tool_counts: Mapping[str, int] = field(default_factory=dict)
    queries_ok: int = 0
    queries_errored: int = 0
    server_s: float = 0.0
    upstream_soft_errors: Mapping[str, int] = field(default_factory=dict)
    withheld_calls: int = 0
    startup_error: str | None = None
    lost_upstream: str | None = None
    breaker_opened: bool = False
    definition_chars: int | None = None
    instructions_chars: int | None = None
    response_chars: int = 0
    submissions_accepted: int = 0
    submissions_rejected: int = 0
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """``calls.json``."""

    calls: tuple[Call, ...]
    metrics: Metrics
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptHeader:
    """``attempt.json``, written before anything else of an attempt: what was about to be run. Evidence."""

    record: str
    condition: str
    attempt: int
    started_at: str
    identity_digest: str
    identity: JsonObject = field(default_factory=dict)
    """The condition's identity in full, so that an unfinished sweep can name the field that differs."""
    resume_digest: str | None = None
    resume_parts: Mapping[str, str] = field(default_factory=dict)
    """Digest of each thing that must be the same for a reuse: prompt, flags, variables, proxy, profile."""
    host: str | None = None
    host_version: str | None = None
    format: str = "okn-benchmark/1"
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthRecord:
    """``ground_truth.json``: one answer key's rows and where they came from. Evidence."""

    endpoint: str
    engine: str | None
    query: str
    fingerprint: str
    results: JsonObject
    """W3C SPARQL 1.1 results JSON."""
    retrieved_at: str | None = None
    elapsed_s: float | None = None
    warnings: tuple[str, ...] = ()
    tier: str | None = None
    tags: tuple[str, ...] = ()
    traps: Mapping[str, JsonObject] = field(default_factory=dict)
    """Trap name to the results (W3C JSON) of a wrong answer the record expects."""
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The four buckets the host bills, summed over models."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """``episode.json``: what was observed about one agent process, and nothing about what it means."""

    host: str
    host_version: str | None
    exit_code: int | None
    wall_s: float
    timed_out: bool
    started_at: str
    source: str = "runner"
    signal: int | None = None
    model_requested: str | None = None
    model_resolved: str | None = None
    effort: str | None = None
    init: JsonObject | None = None
    """Facts of the init event: version, tools, mcp_servers (name → status), skills, plugins, key source."""
    final: JsonObject | None = None
    """Of the final message: subtype, is_error, api_error_status, terminal_reason, num_turns, stop_reason, result."""
    turns: int | None = None
    tokens: Tokens | None = None
    usage_by_model: JsonObject = field(default_factory=dict)
    cost_usd: float | None = None
    api_retries: int | None = None
    api_retry_s: float | None = None
    host_clipped: int | None = None
    withheld_reached: tuple[str, ...] = ()
    protocol_era: str | None = None
    protocol_version: str | None = None
    contended: bool = False
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """One attempt judged: everything a table of a report shows. Derived, in ``result.json``."""

    attempt: int
    outcome: OutcomeKind
    cause: BlockedCause | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    verdict: JsonObject | None = None
    """``scoring.verdict.Verdict.to_json()``; None when blocked."""
    wall_s: float | None = None
    server_s: float | None = None
    api_retry_s: float | None = None
    turns: int | None = None
    queries_ok: int | None = None
    queries_errored: int | None = None
    tools_called: tuple[str, ...] | None = None
    withheld_calls: int | None = None
    withheld_reached: tuple[str, ...] = ()
    soft_errors: Mapping[str, int] = field(default_factory=dict)
    host_clipped: int | None = None
    tokens: Tokens | None = None
    cost_usd: float | None = None
    model_resolved: str | None = None
    host_version: str | None = None
    definition_chars: int | None = None
    response_chars: int | None = None
    source: str = "runner"
    contended: bool = False
    ledger: JsonObject | None = None
    """What of its context the server filled, in characters (``runs.ledger``); None without a call log."""
    manipulation: JsonObject | None = None
    """Whether the arm did what it declares (``runs.manipulation``); None without an arm."""
    extra: JsonObject = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether the attempt stands in a denominator."""
        return self.outcome != "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """``<record>_results/<condition>/result.json``: one question under one condition, attempts in order."""

    record: str
    condition: str
    attempts: tuple[AttemptResult, ...]
    tier: str | None = None
    settings: JsonObject = field(default_factory=dict)
    """The scoring settings every verdict here was reached with."""
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRecord:
    """``conditions/<name>.json``: ``meta`` is evidence, ``questions`` and ``aggregate`` are derived."""

    name: str
    meta: JsonObject
    questions: Mapping[str, JsonObject] = field(default_factory=dict)
    aggregate: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)


def read_tokens(fields: Fields) -> Tokens:
    """The four buckets; absent ones count as nothing."""
    return Tokens(
        input=fields.whole("input", 0),
        output=fields.whole("output", 0),
        cache_read=fields.whole("cache_read", 0),
        cache_write=fields.whole("cache_write", 0),
        extra=fields.rest(),
    )
