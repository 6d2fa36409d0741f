"""What a server under test offers, asked through the very proxy an episode will use."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.host.episode import SUBMIT_TOOL
from okn_benchmark.host.proxy_client import ProxyClient
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.interventions.arm_file import tools_named
from okn_benchmark.jsonio import JsonObject, digest, line
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import HttpUpstream, OracleTool, Profile, load_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One tool as listed. Lengths in characters."""

    name: str
    description_chars: int
    definition_chars: int
    digest: str
    arguments: tuple[str, ...] | None
    """Names its schema lists; None where it lists none, or takes any."""

    @classmethod
    def of(cls, tool: JsonObject) -> "ToolFacts":
        """From its entry in ``tools/list``."""
        return cls(
            name=str(tool.get("name", "")),
            description_chars=len(str(tool.get("description") or "")),
            definition_chars=len(line(tool)),
            digest=digest(tool),
            arguments=_argument_names(tool.get("inputSchema")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """A server as its caller sees it: who it is, what it says of itself, which tools it has."""

    name: str | None
    version: str | None
    build: JsonObject
    """What else ``serverInfo`` and the answer's ``_meta`` tell; a build hash stands there where a server has one."""
    protocol_version: str | None
    instructions: str | None
    tools: tuple[ToolFacts, ...]

    @property
    def tool_names(self) -> tuple[str, ...]:
        """In listed order, ``submit_csv`` among them."""
        return tuple(tool.name for tool in self.tools)

    @property
    def own_tools(self) -> tuple[ToolFacts, ...]:
        """The server's tools: what is listed, less the one the proxy adds."""
        return tuple(tool for tool in self.tools if tool.name != SUBMIT_TOOL)

    def to_json(self) -> JsonObject:
        """What a condition record keeps of it."""
        return {
            "name": self.name,
            "version": self.version,
            **({"build": self.build} if self.build else {}),
            "protocol_version": self.protocol_version,
            "instructions_chars": len(self.instructions or ""),
            "tools": {tool.name: tool.digest for tool in self.own_tools},
        }


def inspect_server(launch: ProxyLaunch) -> ServerFacts:
    """Connect as an agent would, list everything, disconnect. Nothing is recorded.

    Raises:
        OutsideFailure: the server did not start, or did not answer; the hint says where the cause may lie.
    """
    try:
        with ProxyClient(replace(launch, log_dir=None).to_argv(), call_timeout_s=launch.call_timeout_s) as client:
            opening = client.initialize()
            tools = client.list_tools()
    except OutsideFailure as failure:
        if failure.hint is not None or launch.profile is None:
            raise
        raise OutsideFailure(failure.message, hint=start_hint(load_profile(launch.profile))) from failure
    return read_facts(opening, tools)


def start_hint(profile: Profile) -> str:
    """Where to look when the server of ``profile`` does not start or answer."""
    if isinstance(profile.upstream, HttpUpstream):
        return "Look at its url and headers in the profile, and at the environment variables they are made of."
    return (
        "It is started with PATH, HOME, the locale and what [upstream.env] of the profile sets, and with nothing else "
        "of your environment: give it there what it needs, or start it by hand to see what it says."
    )


def read_facts(opening: JsonObject, tools: Iterable[JsonObject]) -> ServerFacts:
    """From the answers to ``initialize`` and ``tools/list``; everything in them is the server's own claim."""
    info = opening.get("serverInfo")
    told: dict[str, Any] = info if isinstance(info, dict) else {}
    build = {key: value for key, value in told.items() if key not in ("name", "version", "icons")}
    if isinstance(meta := opening.get("_meta"), dict):
        build |= meta
    instructions = opening.get("instructions")
    return ServerFacts(
        name=_text(told.get("name")),
        version=_text(told.get("version")),
        build=build,
        protocol_version=_text(opening.get("protocolVersion")),
        instructions=instructions if isinstance(instructions, str) else None,
        tools=tuple(ToolFacts.of(tool) for tool in tools),
    )


def check_withheld(withheld: Iterable[str], server: ServerFacts) -> None:
    """A name the server does not have would withhold nothing and look like a finding.

    Raises:
        InputError: naming it and the tools there are.
    """
    there = [tool.name for tool in server.own_tools]
    for name in withheld:
        if name == SUBMIT_TOOL:
            raise InputError(
                f"{SUBMIT_TOOL} cannot be withheld: without it an episode has nowhere to put its answer.",
                hint=f"Leave --without-tool {SUBMIT_TOOL} out.",
            )
        if name not in there:
            raise InputError(
                f"--without-tool {name}: the server has no tool of that name.",
                hint=f"Its tools are {', '.join(there)}." if there else "It lists no tool at all.",
            )


def check_arm(arm: Arm, server: ServerFacts) -> None:
    """A tool the server does not have would be left as it is, and look like a finding.

    Raises:
        InputError: naming it and the tools there are.
    """
    there = [tool.name for tool in server.own_tools]
    for name in tools_named(arm):
        if name not in there:
            raise InputError(
                f"The arm {arm.name} names the tool {name}, which the server does not have.",
                hint=f"Its tools are {', '.join(there)}." if there else "It lists no tool at all.",
            )


def check_oracle(oracle: OracleTool, server: ServerFacts, source: str) -> None:
    """Hold the profile's ``[oracle]`` table against the tools there are: a typo would look like a wrong answer.

    Raises:
        InputError: the server has no such tool, or the tool takes no argument of that name.
    """
    found = next((tool for tool in server.own_tools if tool.name == oracle.tool), None)
    if found is None:
        raise InputError(
            f"{source}: the [oracle] table names the tool {oracle.tool!r}, which the server does not have.",
            hint=f"Its tools are {', '.join(tool.name for tool in server.own_tools)}.",
        )
    strange = [name for name in oracle.arguments if found.arguments is not None and name not in found.arguments]
    if strange:
        raise InputError(
            f"{source}: the [oracle] table gives {oracle.tool} an argument {strange[0]!r}, which it does not take.",
            hint=f"It takes {', '.join(found.arguments or ())}.",
        )


def _argument_names(schema: Any) -> tuple[str, ...] | None:
    if not isinstance(schema, dict) or not isinstance(properties := schema.get("properties"), dict) or not properties:
        return None
    return None if schema.get("additionalProperties") not in (None, False) else tuple(properties)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
