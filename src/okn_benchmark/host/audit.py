"""What the real agent program advertises and delivers, found out with an episode's own flags and no model.

Nothing is asked of a model: the requests that reach the scripted endpoint are the whole surface.
"""

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from okn_benchmark.host import canary_server as told
from okn_benchmark.host.canaries import Planted, found_in, plant
from okn_benchmark.host.claude import ClaudeHost
from okn_benchmark.host.episode import SERVER_NAME, TOOL_PREFIX, EpisodePlan
from okn_benchmark.host.isolation import ALLOWED_TOOL, HOST_OWNED
from okn_benchmark.host.process import Ended, run_group
from okn_benchmark.host.rehearsal import scratch_login, without_login
from okn_benchmark.host.script import parse_script
from okn_benchmark.host.scripted import serve_script
from okn_benchmark.host.transcript import Facts, Reader
from okn_benchmark.jsonio import Fields, JsonObject, digest

SCHEMA: Final = "host-audit"
VERSION: Final = 1
SERVER_DELAY_S: Final = 3.0
RESULT_CHARS: Final = (45_000, 60_000, 300_000)
AUDIT_TIMEOUT_S: Final = 60.0
_BUILT_IN: Final = "@builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """``findings`` are what should not be there, a sentence each; the rest is what there was.

    ``results`` has a row per call: tool, sent and arrived characters, whether the host put a file in its place.
    """

    host_version: str | None
    findings: tuple[str, ...]
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    slash_commands: tuple[str, ...]
    servers: Mapping[str, str]
    plugins: tuple[str, ...]
    instructions_sent: int
    instructions_arrived: int | None
    instructions_in_turn_1: bool
    description_sent: int
    description_arrived: int | None
    results: tuple[JsonObject, ...]
    server_delay_s: float
    flags: JsonObject
    variables: Mapping[str, str]

    @property
    def clean(self) -> bool:
        """Whether nothing was there that should not be."""
        return not self.findings

    def to_json(self) -> JsonObject:
        """The audit as a JSON object with its schema and digest."""
        shown = {name: getattr(self, name) for name in self.__slots__}
        plain = {
            k: list(v) if isinstance(v, tuple) else dict(v) if isinstance(v, Mapping) else v for k, v in shown.items()
        }
        return {"schema": f"{SCHEMA}/{VERSION}", "clean": self.clean, **plain, "digest": digest(plain)}


def read_audit(value: JsonObject, source: str) -> Audit:
    """The inverse of ``Audit.to_json``.

    Raises:
        InputError: a field is missing or of the wrong kind.
    """
    got = Fields(value, source)
    return Audit(
        host_version=got.opt_text("host_version"),
        findings=got.texts("findings"),
        tools=got.texts("tools"),
        skills=got.texts("skills"),
        slash_commands=got.texts("slash_commands"),
        servers={str(k): str(v) for k, v in got.obj("servers").items()},
        plugins=got.texts("plugins"),
        instructions_sent=got.whole("instructions_sent"),
        instructions_arrived=got.opt_whole("instructions_arrived"),
        instructions_in_turn_1=got.flag("instructions_in_turn_1"),
        description_sent=got.whole("description_sent"),
        description_arrived=got.opt_whole("description_arrived"),
        results=tuple(got.items("results")),
        server_delay_s=got.opt_number("server_delay_s") or 0.0,
        flags=got.obj("flags"),
        variables={str(k): str(v) for k, v in got.obj("variables").items()},
    )


def audit_key(host: ClaudeHost, plan: EpisodePlan, version: str | None) -> str:
    """What an audit holds for: this version of the program with these flags and variables. 64 hex digits."""
    host, plan = replace(host, model_script=None), _without_limits(plan)
    flags, variables = host.flags(plan), host.variables(plan)
    return digest({"audit": VERSION, "version": version, "flags": flags, "variables": variables})


def _without_limits(plan: EpisodePlan) -> EpisodePlan:
    """How long an episode may take does not change what the agent is given, and the audit needs its three turns."""
    return replace(plan, max_turns=None, agent_timeout_s=AUDIT_TIMEOUT_S)


def audit(host: ClaudeHost, plan: EpisodePlan, *, delay_s: float = SERVER_DELAY_S) -> Audit:
    """Run one episode of ``host`` with ``plan``'s flags among the canaries. About five seconds.

    The login stays out of it: an empty home, a dummy key, the scripted endpoint.

    Raises:
        OutsideFailure: the program could not be started.
    """
    host = replace(host, model_script=None)
    server = (sys.executable, "-P", "-m", "okn_benchmark.host.canary_server", "--delay", f"{delay_s:g}")
    quick = [*server[:-1], "0"]
    with tempfile.TemporaryDirectory(prefix="okn-audit-") as name, serve_script(parse_script(_script())) as endpoint:
        planted = plant(Path(name).resolve(), quick)
        overrides = {**host.overrides, **scratch_login(planted.home, endpoint.base_url)}
        audited = replace(host, environ=without_login(host.environ), overrides=overrides)
        audited_plan = replace(_without_limits(plan), server=server)
        reader = Reader()
        ended = run_group(
            audited.argv(audited_plan),
            env=audited.environment(audited.variables(audited_plan)),
            cwd=planted.cwd,
            stdin="Say what is there.",
            timeout_s=AUDIT_TIMEOUT_S,
            on_line=reader.take,
        )
        requests = list(endpoint.requests)
    return _report(host, _without_limits(plan), _Seen(reader.facts(), requests, planted, ended, delay_s))


@dataclass(frozen=True, slots=True)
class _Seen:
    facts: Facts
    requests: list[JsonObject]
    planted: Planted
    ended: Ended
    delay_s: float


def _script() -> list[Any]:
    names = ",".join(TOOL_PREFIX + tool for tool in told.TOOLS)
    calls = [
        {"type": "tool_use", "name": TOOL_PREFIX + tool, "input": {"chars": chars}}
        for tool in (told.PLAIN_TOOL, told.MARKED_TOOL)
        for chars in RESULT_CHARS
    ]
    search = {"type": "tool_use", "name": ALLOWED_TOOL, "input": {"query": f"select:{names}", "max_results": 20}}
    return [[search], calls, [{"type": "text", "text": "done"}]]


def _report(host: ClaudeHost, plan: EpisodePlan, seen: _Seen) -> Audit:
    init = seen.facts.init or {}
    first = json.dumps(seen.requests[:1])
    everything = json.dumps(seen.requests)
    advertised = {str(t.get("name")) for body in seen.requests for t in body.get("tools", [])}
    arrived = _run_length(everything, told.INSTRUCTIONS_MARK, "i")
    made = Audit(
        host_version=init.get("version"),
        findings=(),
        tools=tuple(sorted(advertised | set(init.get("tools") or ()))),
        skills=tuple(init.get("skills") or ()),
        slash_commands=tuple(init.get("slash_commands") or ()),
        servers={str(k): str(v) for k, v in (init.get("mcp_servers") or {}).items()},
        plugins=tuple(init.get("plugins") or ()),
        instructions_sent=told.SENT_CHARS,
        instructions_arrived=arrived,
        instructions_in_turn_1=told.INSTRUCTIONS_MARK in first,
        description_sent=told.SENT_CHARS,
        description_arrived=_run_length(everything, told.DESCRIPTION_MARK, "d"),
        results=tuple(_results(seen.requests)),
        server_delay_s=seen.delay_s,
        flags=host.flags(plan),
        variables=host.variables(plan),
    )
    return replace(made, findings=tuple(_findings(made, seen, everything + json.dumps(init))))


def _findings(made: Audit, seen: _Seen, text: str) -> list[str]:
    found = []
    if not seen.requests:
        words = (seen.ended.stderr.strip().splitlines() or ["no word of why"])[-1][:300]
        found.append(f"the agent program never reached the endpoint: {words}")
    allowed = {ALLOWED_TOOL, *HOST_OWNED, *(TOOL_PREFIX + tool for tool in told.TOOLS)}
    found += [f"a tool that is not the server's: {name}" for name in made.tools if name not in allowed]
    found += [f"a tool did not arrive: {tool}" for tool in told.TOOLS if TOOL_PREFIX + tool not in made.tools]
    found += [f"a skill: {name}" for name in made.skills]
    found += [f"a slash command: {name}" for name in made.slash_commands]
    found += [f"a plugin that is not built in: {name}" for name in made.plugins if not name.endswith(_BUILT_IN)]
    found += [f"another MCP server: {name}" for name in made.servers if name != SERVER_NAME]
    if made.servers.get(SERVER_NAME) != "connected":
        found.append(f"the server was {made.servers.get(SERVER_NAME, 'absent')} after a start of {seen.delay_s:g} s")
    if not made.instructions_in_turn_1:
        found.append("the server's instructions were not there in the first turn")
    found += [f"planted text reached the agent: {place}" for place in found_in(text, seen.planted.words)]
    return found


def _results(requests: list[JsonObject]) -> list[JsonObject]:
    """What arrived of each sized result, in calling order."""
    messages = requests[-1].get("messages", []) if requests else []
    blocks = [b for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
    calls = [b for b in blocks if b.get("type") == "tool_use" and str(b.get("name")).startswith(TOOL_PREFIX)]
    answers = {b.get("tool_use_id"): json.dumps(b.get("content")) for b in blocks if b.get("type") == "tool_result"}
    return [
        {
            "tool": str(call["name"]).removeprefix(TOOL_PREFIX),
            "sent": call["input"]["chars"],
            "arrived": (arrived := _run_length(answers.get(call.get("id"), ""), told.RESULT_MARK, "r")),
            "clipped": arrived != call["input"]["chars"],
        }
        for call in calls
    ]


def _run_length(text: str, mark: str, letter: str) -> int | None:
    """The longest run of ``letter`` after ``mark``; None where the mark is nowhere."""
    runs = [len(m[1]) for m in re.finditer(re.escape(mark) + f"({letter}*)", text)]
    return max(runs) if runs else None
