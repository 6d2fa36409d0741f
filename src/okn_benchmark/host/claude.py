"""The real agent: one ``claude -p`` process per episode, isolated, bounded and recorded."""

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host import isolation
from okn_benchmark.host.episode import LEFTOVERS, EpisodePlan, Watch
from okn_benchmark.host.evidence import (
    TranscriptFile,
    close_transcript,
    open_transcript,
    protocol_facts,
    scrubber,
    write_final_message,
)
from okn_benchmark.host.prices import cost_usd, load_prices
from okn_benchmark.host.process import Ended, run_group
from okn_benchmark.host.scratch import collect_leftovers, scratch_folder
from okn_benchmark.host.transcript import Facts, Reader
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.shapes import Episode

EXECUTABLE_VARIABLE: Final = "OKN_BENCHMARK_CLAUDE"
VERSION_TIMEOUT_S: Final = 30.0


def find_claude(path: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """The binary: as given, else ``OKN_BENCHMARK_CLAUDE``, else ``claude`` on PATH.

    Raises:
        OutsideFailure: there is none.
    """
    env = os.environ if environ is None else environ
    wanted = path or env.get(EXECUTABLE_VARIABLE) or "claude"
    found = shutil.which(wanted, path=env.get("PATH"))
    if found is None:
        raise OutsideFailure(
            f"No agent program: {wanted} is not an executable here.",
            hint=f"Install @anthropic-ai/claude-code, name the binary in {EXECUTABLE_VARIABLE}, or use --host oracle.",
        )
    return str(Path(found).absolute())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeHost:
    """``claude -p`` with the isolation of ``isolation``.

    ``overrides`` are variables laid over the user's own environment (a rehearsal's endpoint and scratch home);
    ``extra_pins`` change pinned ones (shorter retries in tests) and are part of ``flags``.
    """

    executable: str
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    overrides: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_pins: Mapping[str, str] = field(default_factory=dict)
    negotiation: str = "legacy"
    tool_search: bool = True
    server_env: Mapping[str, str] = field(default_factory=dict)
    """Variables the proxy gets beside the agent's own; not a place for secrets, they stand in the command."""
    model_script: str | None = None
    """Digest of the script that answers in the model's place; None for a real model."""

    @property
    def name(self) -> str:
        """Its name in a condition record."""
        return "claude"

    def version(self) -> str | None:
        """What ``claude --version`` prints first; asked anew each time, since an update may come between.

        Raises:
            OutsideFailure: the program cannot be started.
        """
        try:
            done = subprocess.run(
                [self.executable, "--version"],
                env=self.environment({}),
                capture_output=True,
                text=True,
                timeout=VERSION_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return None
        except OSError as error:
            raise OutsideFailure(f"{self.executable} could not be started: {error.strerror or error}.") from error
        words = done.stdout.split()
        return words[0] if done.returncode == 0 and words else None

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        """The variables this episode sets whatever the shell holds."""
        pins = isolation.pinned(plan.launch.call_timeout_s, negotiation=self.negotiation, tool_search=self.tool_search)
        return pins | dict(self.extra_pins)

    def environment(self, pins: Mapping[str, str]) -> dict[str, str]:
        """The process environment of an episode."""
        return isolation.environment({**self.environ, **self.overrides}, pins)

    def argv(self, plan: EpisodePlan) -> list[str]:
        """The literal command; the prompt goes in on stdin."""
        return [
            self.executable,
            *isolation.isolation_flags(),
            *isolation.choice_flags(plan),
            *isolation.server_flags(plan.server_command(), self.server_env),
        ]

    def flags(self, plan: EpisodePlan) -> JsonObject:
        """Flags without a path; the pinned variables are ``variables``."""
        script = {"model_script": self.model_script} if self.model_script else {}
        return {
            "host": self.name,
            "argv": [*isolation.isolation_flags(), *isolation.choice_flags(plan)],
            "agent_timeout_s": plan.agent_timeout_s,
            **script,
        }

    def run(self, plan: EpisodePlan, watch: Watch) -> Episode:
        """One episode; nothing of its process group is left afterwards, whatever ends it."""
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        env = self.environment(self.variables(plan))
        scrub = scrubber(env)
        reader = Reader(plan.launch.withheld)
        lock = threading.Lock()
        transcript = TranscriptFile(open_transcript(plan.attempt_dir))

        def take(line: bytes) -> None:
            clean = scrub(line)
            with lock:
                before = reader.final_message
                events = reader.feed(clean)
                transcript.add(clean, always=reader.final_message is not before)
            for event in events:
                watch(event)

        try:
            with scratch_folder(plan.root or plan.attempt_dir) as folder:
                ended = run_group(
                    self.argv(plan),
                    env=env,
                    cwd=folder,
                    stdin=plan.prompt,
                    timeout_s=plan.agent_timeout_s,
                    on_line=take,
                )
                not_kept = collect_leftovers(folder, plan.attempt_dir / LEFTOVERS)
        finally:
            close_transcript(transcript, plan.attempt_dir)
        write_final_message(plan.attempt_dir, reader.final_message)
        extra: JsonObject = {"stderr_tail": scrub(ended.stderr.encode()).decode()} if ended.stderr.strip() else {}
        if not_kept:
            extra["leftovers_not_kept"] = not_kept
        if transcript.dropped:
            extra["transcript_events_dropped"] = transcript.dropped
        if self.model_script:
            extra["model_script"] = self.model_script
        return self._episode(plan, started_at, ended, reader.facts(), extra)

    def _episode(self, plan: EpisodePlan, started_at: str, ended: Ended, facts: Facts, extra: JsonObject) -> Episode:
        prices = load_prices()
        extra |= {"host_cost_usd": facts.host_cost_usd, "prices_dated": prices.date, "refusals": facts.refusals}
        if facts.withheld_calls:
            extra["withheld_calls"] = facts.withheld_calls
        if facts.junk_lines:
            extra["junk_lines"] = facts.junk_lines
        era, version = protocol_facts(plan.launch.log_dir)
        if plan.expected_tools is not None:
            extra["expected_tools"] = list(plan.expected_tools)
        return Episode(
            host=self.name,
            host_version=(facts.init or {}).get("version"),
            exit_code=ended.exit_code,
            signal=ended.signal,
            wall_s=round(ended.wall_s, 4),
            timed_out=ended.timed_out,
            started_at=started_at,
            model_requested=plan.model,
            model_resolved=facts.model_resolved,
            effort=plan.effort,
            init=facts.init,
            final=facts.final,
            turns=facts.turns,
            tokens=facts.tokens,
            usage_by_model=facts.usage_by_model,
            cost_usd=cost_usd(facts.usage_by_model, prices),
            api_retries=facts.api_retries,
            api_retry_s=facts.api_retry_s,
            host_clipped=facts.host_clipped,
            withheld_reached=facts.withheld_reached,
            protocol_era=era,
            protocol_version=version,
            extra=extra,
        )
