"""A host without a model: it puts the answer key through the server's own query tool and submits what came back.

It shows what a perfect agent could get through a server, and tries every part of the harness but the model.
"""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from okn_benchmark import __version__
from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.host.episode import LEFTOVERS, SERVER_NAME, SUBMIT_TOOL, EpisodePlan, Event, Watch
from okn_benchmark.host.evidence import (
    TranscriptFile,
    close_transcript,
    open_transcript,
    scrubber,
    write_final_message,
)
from okn_benchmark.host.oracle_reply import answer_csv
from okn_benchmark.host.proxy_client import Announcement, ProxyClient
from okn_benchmark.jsonio import JsonObject, line
from okn_benchmark.profile import OracleTool
from okn_benchmark.runs.shapes import Episode

CONTROL_TOOL: Final = OracleTool(tool="run_sparql", arguments={"query": "{query}"}, reply="csv")
"""The one tool of the ``sparql-only`` control; it needs no profile."""
SUBMIT_ARGUMENT: Final = "csv"


def tool_for(level: str, configured: OracleTool | None, profile: str = "the profile") -> OracleTool:
    """The tool the oracle uses at ``level``.

    Raises:
        InputError: a server whose profile does not say how to put a query through it.
    """
    if level == "sparql-only":
        return CONTROL_TOOL
    if configured is None:
        raise InputError(
            f"{profile} does not say how the oracle runs a query through this server.",
            hint="Add an [oracle] table with tool, arguments (holding {query}) and reply.",
        )
    return configured


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleHost:
    """``queries`` are the answer keys by record id; ``tool`` how this condition's server takes a query."""

    queries: Mapping[str, str] = field(repr=False)
    tool: OracleTool
    environ: Mapping[str, str] | None = field(default=None, repr=False)
    announce: Announcement = field(default_factory=Announcement)

    @property
    def name(self) -> str:
        """Its name in a condition record; reports call it what it is."""
        return "oracle"

    def version(self) -> str | None:
        """It is part of this package."""
        return __version__

    def argv(self, plan: EpisodePlan) -> list[str]:
        """The proxy it talks to; there is no other process."""
        return plan.server_command()

    def flags(self, plan: EpisodePlan) -> JsonObject:
        """How it asks; the keys are part of the truth, not of the host."""
        tool = {"tool": self.tool.tool, "arguments": dict(self.tool.arguments), "reply": self.tool.reply}
        return {"host": self.name, "oracle": tool | {"path": self.tool.path}, "agent_timeout_s": plan.agent_timeout_s}

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        """It pins none."""
        del plan
        return {}

    def run(self, plan: EpisodePlan, watch: Watch) -> Episode:
        """Connect, query, submit; whatever fails on the way is told by the evidence."""
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        began = time.monotonic()
        env = dict(os.environ if self.environ is None else self.environ)
        scrub = scrubber(env)
        transcript = TranscriptFile(open_transcript(plan.attempt_dir))
        (plan.attempt_dir / LEFTOVERS).mkdir(exist_ok=True)

        def note(event: str, **facts: Any) -> None:
            transcript.add(scrub(line({"type": "oracle", "event": event, **facts}).encode("utf-8", "replace")))

        session = _Session(plan=plan, host=self, note=note, watch=watch, deadline=began + plan.agent_timeout_s)
        try:
            with ProxyClient(
                plan.server_command(),
                env=env,
                announce=self.announce,
                start_timeout_s=plan.agent_timeout_s,
                call_timeout_s=plan.launch.call_timeout_s,
            ) as client:
                final = session.hold(client)
            final = json.loads(scrub(json.dumps(final).encode()))
            note("end", **final)
        finally:
            close_transcript(transcript, plan.attempt_dir)
        write_final_message(plan.attempt_dir, {"type": "oracle", **final})
        watch(Event(kind="final", detail=str(final["terminal_reason"])))
        return self._episode(plan, started_at, time.monotonic() - began, session, final)

    def _episode(
        self, plan: EpisodePlan, started_at: str, wall_s: float, session: "_Session", final: JsonObject
    ) -> Episode:
        extra = {} if plan.expected_tools is None else {"expected_tools": list(plan.expected_tools)}
        version = session.opening.get("protocolVersion")
        return Episode(
            host=self.name,
            host_version=self.version(),
            exit_code=0,
            wall_s=round(wall_s, 4),
            timed_out=session.timed_out,
            started_at=started_at,
            model_requested=None,
            init=session.init(),
            final=final,
            host_clipped=0,
            protocol_era=None if version is None else "handshake",
            protocol_version=version if isinstance(version, str) else None,
            extra=extra,
        )


@dataclass(slots=True)
class _Session:
    """One conversation with one proxy."""

    plan: EpisodePlan
    host: OracleHost
    note: Any
    watch: Watch
    deadline: float
    opening: JsonObject = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    timed_out: bool = False

    def init(self) -> JsonObject:
        """The same facts an agent's init event has, as far as they exist here."""
        status = "connected" if self.tools is not None else "failed"
        server = self.opening.get("serverInfo")
        return {
            "version": __version__,
            "tools": list(self.tools or ()),
            "mcp_servers": {SERVER_NAME: status},
            "server_in_turn_1": self.tools is not None,
            "server_info": server if isinstance(server, dict) else None,
        }

    def hold(self, client: ProxyClient) -> JsonObject:
        """From the handshake to the submission; how it ended, in the words of a final message."""
        try:
            self.opening = client.initialize()
            self.tools = tuple(str(tool.get("name")) for tool in client.list_tools())
        except OutsideFailure as error:
            self.note("not_connected", reason=error.message)
            return _ended("not_connected", error.message, failed=True)
        self.note("connected", tools=list(self.tools))
        self.watch(Event(kind="connected", detail="connected"))
        query = self.host.queries.get(self.plan.record_id)
        if query is None:
            return _ended("no_key", f"no key for {self.plan.record_id}", failed=True)
        reply = self._call(client, self.host.tool.tool, _filled(self.host.tool.arguments, query))
        if self.timed_out:
            return _ended("timeout", "the query was not answered within the episode's time", failed=False)
        if not reply.ok:
            return _ended("query_failed", reply.text[:2000], failed=False)
        try:
            csv = answer_csv(reply, self.host.tool)
        except InputError as error:
            self.note("unreadable", reason=error.message)
            return _ended("unreadable", error.message, failed=False)
        submitted = self._call(client, SUBMIT_TOOL, {SUBMIT_ARGUMENT: csv})
        return _ended("completed" if submitted.ok else "rejected", submitted.text[:2000], failed=False)

    def _call(self, client: ProxyClient, tool: str, arguments: JsonObject) -> Any:
        self.watch(Event(kind="tool", detail=tool))
        self.note("call", tool=tool, arguments=arguments)
        reply = client.call_tool(tool, arguments, timeout_s=max(0.0, self.deadline - time.monotonic()))
        self.timed_out = time.monotonic() >= self.deadline
        self.note("reply", tool=tool, ok=reply.ok, text=reply.text)
        return reply


def _ended(reason: str, words: str, *, failed: bool) -> JsonObject:
    return {"subtype": "oracle", "is_error": failed, "terminal_reason": reason, "result": words}


def _filled(value: Any, query: str) -> Any:
    """``{query}`` replaced in every string, at any depth."""
    if isinstance(value, str):
        return value.replace("{query}", query)
    if isinstance(value, Mapping):
        return {key: _filled(item, query) for key, item in value.items()}
    return [_filled(item, query) for item in value] if isinstance(value, list | tuple) else value
