"""Run one scripted episode of the real agent program against the toy server."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from okn_benchmark.host.episode import EpisodePlan, Event, Watch, unwatched
from okn_benchmark.host.outcome import Outcome, classify
from okn_benchmark.host.rehearsal import rehearse
from okn_benchmark.host.script import parse_script
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.runs.shapes import Episode

if TYPE_CHECKING:
    from okn_benchmark.host.claude import ClaudeHost

TOY = Path(__file__).parent / "servers" / "toy.py"
QUICK_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "1"}


def say(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(tool: str, **arguments: Any) -> dict[str, Any]:
    name = tool if tool == "ToolSearch" else f"mcp__okn__{tool}"
    return {"type": "tool_use", "name": name, "input": arguments}


SEARCH = [use("ToolSearch", query="okn", max_results=20)]
CLEAN = [SEARCH, [use("run_query", query="SELECT")], [use("submit_csv", csv="{{csv}}")], [say("Done.")]]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What one episode left."""

    episode: Episode
    outcome: Outcome
    folder: Path
    requests: list[dict[str, Any]]

    def received(self) -> list[dict[str, Any]]:
        """What reached the toy server, in order."""
        return [json.loads(line) for line in (self.folder / "requests.jsonl").read_text().splitlines()]


def toy_plan(folder: Path, *server: str, withheld: tuple[str, ...] = (), **fields: Any) -> EpisodePlan:
    """A plan whose server is the toy; what the toy keeps goes to the attempt folder."""
    folder.mkdir(parents=True, exist_ok=True)
    fields = {"model": "claude-opus-5", "agent_timeout_s": 60.0, **fields}
    return EpisodePlan(
        record_id="q",
        prompt="Which genes?\n",
        attempt_dir=folder,
        launch=ProxyLaunch(level="all-tools", withheld=withheld),
        server=(sys.executable, str(TOY), "--log", str(folder), *server),
        **fields,
    )


def toy_profile(folder: Path, *server: str) -> Path:
    """A profile file that re-exports the toy without an answer channel of its own."""
    path = folder / "toy.toml"
    upstream = (
        f'transport = "stdio"\ncommand = "{sys.executable}"\nargs = {json.dumps([str(TOY), "--no-submit", *server])}'
    )
    path.write_text(f'name = "toy"\n[upstream]\n{upstream}\n')
    return path


def drive(
    claude: str,
    folder: Path,
    script: Any,
    *server: str,
    pins: dict[str, str] | None = None,
    environ: dict[str, str] | None = None,
    host: dict[str, Any] | None = None,
    overrides: dict[str, str | None] | None = None,
    watch: Watch = unwatched,
    **plan: Any,
) -> Ran:
    """One episode; ``host`` and ``overrides`` change the rehearsing host (None takes a variable out)."""
    planned = toy_plan(folder, *server, **plan)
    with rehearse(claude, parse_script(script), pins=pins, environ=environ) as stage:
        changed: ClaudeHost = replace(stage.host, **(host or {}))
        laid_over = {**changed.overrides, **(overrides or {})}
        changed = replace(changed, overrides={k: v for k, v in laid_over.items() if v is not None})
        episode = changed.run(planned, watch)
        requests = list(stage.endpoint.requests)
    outcome = classify(episode, None, accepted=(folder / "answer.csv").exists(), rejected=0)
    return Ran(episode=episode, outcome=outcome, folder=folder, requests=requests)


def recorder() -> tuple[list[Event], Watch]:
    """A list and the watcher that fills it."""
    seen: list[Event] = []
    return seen, seen.append
