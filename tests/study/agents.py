"""Three agents that read a table of IC50 values and answer in nM, and a host that runs one without a model."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from okn_benchmark.host.episode import EpisodePlan, Event, Watch
from okn_benchmark.host.proxy_client import ProxyClient
from okn_benchmark.jsonio import JsonObject, line, pretty
from okn_benchmark.runs.shapes import Episode

Mind: TypeAlias = Callable[[str], str]
"""From the table as delivered to the answer as handed in."""

HEADER = "compound,ic50_nM\n"
FACTOR = {"nM": 1.0, "uM": 1000.0}
COMPOUND = re.compile(r"CHEMBL\d+")


def _rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def literal(table: str) -> str:
    """The number as it stands, whatever stands beside it."""
    return HEADER + "".join(f"{row['chemblId']},{row['value']}\n" for row in _rows(table))


def assumes_nm(table: str) -> str:
    """Converts by the unit; without one takes every number for nM."""
    rows = _rows(table)
    values = [(row["chemblId"], float(row["value"]) * FACTOR[row.get("units", "nM")]) for row in rows]
    return HEADER + "".join(f"{compound},{value}\n" for compound, value in values)


def noticer(table: str) -> str:
    """Converts by the unit; without one says that it cannot be known."""
    return assumes_nm(table) if all("units" in row for row in _rows(table)) else HEADER


MINDS: dict[str, Mind] = {"literal": literal, "assumes-nM": assumes_nm, "noticer": noticer}


@dataclass(frozen=True)
class MindHost:
    """Asks for the compound named in the prompt, thinks, hands in. ``also`` are tools called before that."""

    mind: Mind
    tool: str = "activities"
    also: tuple[str, ...] = ()
    name: str = "oracle"

    def version(self) -> str | None:
        return "1"

    def argv(self, plan: EpisodePlan) -> list[str]:
        return plan.server_command()

    def flags(self, plan: EpisodePlan) -> JsonObject:
        return {"host": self.name, "agent_timeout_s": plan.agent_timeout_s}

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        return {}

    def run(self, plan: EpisodePlan, watch: Watch) -> Episode:
        found = COMPOUND.search(plan.prompt)
        assert found is not None
        with ProxyClient(plan.server_command()) as client:
            client.initialize()
            tools = [str(tool["name"]) for tool in client.list_tools()]
            watch(Event(kind="connected"))
            for tool in self.also:
                client.call_tool(tool, {}, timeout_s=20)
            reply = client.call_tool(self.tool, {"compound": found[0]}, timeout_s=20)
            csv_text = self.mind(reply.text) if reply.ok else ""
            if csv_text:
                client.call_tool("submit_csv", {"csv": csv_text}, timeout_s=20)
        (plan.attempt_dir / "transcript.jsonl").write_text(line({"type": "mind"}) + "\n")
        (plan.attempt_dir / "agent.json").write_text(pretty({"type": "mind", "said": reply.text}))
        return Episode(
            host=self.name,
            host_version="1",
            exit_code=0,
            wall_s=0.1,
            timed_out=False,
            started_at="2026-11-30T12:00:00.000+00:00",
            init={"tools": tools, "mcp_servers": {"okn": "connected"}, "server_in_turn_1": True},
            final={"subtype": "success", "is_error": False, "terminal_reason": "completed", "result": ""},
            host_clipped=0,
        )
