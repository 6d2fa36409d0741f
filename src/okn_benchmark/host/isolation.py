"""What keeps one episode's agent apart from everything else on this machine: its flags and its environment.

An allowlist decides which tools exist, a blocklist stands behind it, and the audit proves both.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from okn_benchmark.host.episode import SERVER_NAME, TOOL_PREFIX, EpisodePlan
from okn_benchmark.jsonio import JsonObject, line

ALLOWED_TOOL: Final = "ToolSearch"
HOST_OWNED: Final[Mapping[str, str]] = {"DeferredToolPlaceholder": "2.1.219"}
"""Inert tools the host adds by itself, with the version each was first seen in."""

BLOCKED_TOOLS: Final = (
    "Agent", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "SendMessage",
    "ListAgents", "TeamCreate", "TeamDelete", "Workflow", "Monitor", "RemoteTrigger", "ScheduleWakeup", "CronCreate",
    "CronDelete", "CronList", "Bash", "BashOutput", "KillShell", "Read", "Edit", "Write", "NotebookEdit", "Glob",
    "Grep", "LSP", "WebFetch", "WebSearch", "Skill", "SlashCommand", "TodoWrite", "AskUserQuestion", "EnterPlanMode",
    "ExitPlanMode", "EnterWorktree", "ExitWorktree", "ReportFindings", "ListMcpResourcesTool", "ReadMcpResourceTool",
)  # fmt: skip

STARTUP_MS: Final = 60_000
"""Above the 50 s after which the proxy gives its server up; some versions cap the variable here."""
CALL_SLACK_S: Final = 60.0
"""How much longer than the proxy the host waits for one call: the proxy's own limit must be the one that ends it."""

# What the user's shell may hold of these changes the agent; only logging in and reaching the API stay theirs.
_BEHAVIOUR_PREFIXES: Final = ("CLAUDE", "ANTHROPIC_", "MCP_", "ENABLE_", "DISABLE_", "MAX_", "OTEL_", "API_TIMEOUT")
_LOGIN: Final = frozenset({
    "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH", "CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY", "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_API_KEY",
})  # fmt: skip


def pinned(call_timeout_s: float, *, negotiation: str = "legacy", tool_search: bool = True) -> dict[str, str]:
    """The variables every episode sets, whatever the user's shell says. Part of a condition's identity."""
    return {
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_TIMEOUT": str(STARTUP_MS),
        "MCP_CONNECT_TIMEOUT_MS": str(STARTUP_MS),
        "MCP_TOOL_TIMEOUT": str(round((call_timeout_s + CALL_SLACK_S) * 1000)),
        "MCP_PROTOCOL_NEGOTIATION": negotiation,
        "MCP_DISCOVERY_CACHE": "0",
        "ENABLE_TOOL_SEARCH": "true" if tool_search else "false",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def environment(inherited: Mapping[str, str], pins: Mapping[str, str]) -> dict[str, str]:
    """The agent process's environment: the user's own, without what would change the agent, then the pins.

    The proxy is a child of the agent, and a profile may name any variable, so nothing else is taken out.
    """
    kept = {k: v for k, v in inherited.items() if k in _LOGIN or not k.startswith(_BEHAVIOUR_PREFIXES)}
    return kept | dict(pins)


def isolation_flags() -> list[str]:
    """The part of the command that is the same in every episode."""
    return [
        "-p",
        *("--output-format", "stream-json", "--verbose"),
        "--strict-mcp-config",
        *("--setting-sources", ""),
        "--disable-slash-commands",
        "--no-session-persistence",
        *("--tools", ALLOWED_TOOL),
        *("--allowedTools", f"{TOOL_PREFIX}*"),
        *("--disallowedTools", ",".join(BLOCKED_TOOLS)),
    ]


def choice_flags(plan: EpisodePlan) -> list[str]:
    """The part a condition chooses; what is left out is the host's own default."""
    out = ["--model", plan.model] if plan.model else []
    if plan.effort:
        out += ["--effort", plan.effort]
    if plan.max_turns is not None:
        out += ["--max-turns", str(plan.max_turns)]
    return out


def server_flags(command: Sequence[str], env: Mapping[str, str] | None = None) -> list[str]:
    """The one server the agent may have, given inline so that no file names it to anyone; ``env`` is no secret."""
    entry: JsonObject = {"type": "stdio", "command": command[0], "args": list(command[1:])}
    if env:
        entry["env"] = dict(env)
    return ["--mcp-config", line({"mcpServers": {SERVER_NAME: entry}})]
