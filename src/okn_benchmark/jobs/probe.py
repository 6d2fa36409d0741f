"""Look at a server as an agent would, for free: which tools, how much text, what each level shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.host.episode import SUBMIT_TOOL
from okn_benchmark.jobs.server import ServerFacts, check_oracle, check_withheld, inspect_server
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.launch import DEFAULT_CALL_TIMEOUT_S, ProxyLaunch
from okn_benchmark.profile import Profile, load_profile, public

TEXT_LIMIT: Final = 2048
"""Characters of a server's instructions and of a tool's description that every host version seen so far passes on.

Newer ones pass on more (2.1.332: 4,096 of instructions, descriptions whole); ``audit-host`` measures the one here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A server, and what would be left of it with ``withheld`` taken out."""

    profile: Profile
    server: ServerFacts
    withheld: tuple[str, ...]
    preamble_chars: int
    preamble_digest: str
    control_tools: tuple[str, ...]

    @property
    def visible(self) -> tuple[str, ...]:
        """What the agent is offered at all-tools."""
        return tuple(name for name in self.server.tool_names if name not in self.withheld)

    @property
    def cut(self) -> tuple[str, ...]:
        """Tools whose description some hosts cut."""
        return tuple(tool.name for tool in self.server.own_tools if tool.description_chars > TEXT_LIMIT)

    def to_json(self) -> JsonObject:
        """For scripts."""
        instructions = len(self.server.instructions or "")
        return {
            "schema": "probe/1",
            "profile": public(self.profile),
            "server": self.server.to_json(),
            "tool_count": len(self.server.own_tools),
            "tools": [
                {
                    "name": tool.name,
                    "description_chars": tool.description_chars,
                    "definition_chars": tool.definition_chars,
                    "digest": tool.digest,
                }
                for tool in self.server.own_tools
            ],
            "instructions": {"sent_chars": instructions, "arriving_chars": min(instructions, TEXT_LIMIT)},
            "levels": {"all-tools": list(self.visible), "sparql-only": list(self.control_tools)},
            "withheld": list(self.withheld),
            "preamble": {"chars": self.preamble_chars, "digest": self.preamble_digest},
        }


def probe(
    profile_path: Path,
    *,
    withheld: tuple[str, ...] = (),
    timeout_s: float = DEFAULT_CALL_TIMEOUT_S,
) -> Probed:
    """Connect through the proxy and list everything.

    Raises:
        InputError: the profile cannot be used, or a name to withhold is not one of the server's tools.
        OutsideFailure: the server did not start or did not answer.
    """
    from okn_benchmark.proxy.sparql_only import PREAMBLE, SPARQL_TOOL, preamble_digest

    profile = load_profile(profile_path)
    launch = ProxyLaunch(level="all-tools", profile=profile_path.resolve(), call_timeout_s=timeout_s)
    try:
        server = inspect_server(launch)
    except OutsideFailure as failure:
        raise OutsideFailure(
            f"The server of {profile_path} did not answer: {failure.message}",
            hint=failure.hint or "Start it by hand to see what it says.",
        ) from failure
    check_withheld(withheld, server)
    if profile.oracle is not None:
        check_oracle(profile.oracle, server, str(profile_path))
    return Probed(
        profile=profile,
        server=server,
        withheld=withheld,
        preamble_chars=len(PREAMBLE),
        preamble_digest=preamble_digest(),
        control_tools=(str(SPARQL_TOOL["name"]), SUBMIT_TOOL),
    )


def probe_lines(found: Probed) -> Iterator[str]:
    """What a person reads."""
    server = found.server
    told = " ".join(part for part in (server.name, server.version) if part) or "a server that does not name itself"
    yield f"{found.profile.name}: {_one_line(told)}, protocol {server.protocol_version or 'unknown'}"
    yield f"  {len(server.own_tools)} tools"
    for tool in server.own_tools:
        mark = "  [withheld]" if tool.name in found.withheld else ""
        yield f"    {_one_line(tool.name)}: {tool.description_chars:,} characters of description{mark}"
    yield f"  {_instructions(len(server.instructions or ''))}"
    if found.cut:
        yield f"  descriptions over {TEXT_LIMIT:,} characters, which some hosts cut: {_one_line(', '.join(found.cut))}"
    yield f"  all-tools shows {len(found.visible)}: {_one_line(', '.join(found.visible))}"
    yield f"  sparql-only shows {len(found.control_tools)}: {', '.join(found.control_tools)}"
    yield f"  sparql-only preamble: {found.preamble_chars:,} characters, digest {found.preamble_digest}"


def _one_line(text: str) -> str:
    """A server's names may hold anything, the end of a line among it."""
    return " ".join(text.split())


def _instructions(length: int) -> str:
    if length <= TEXT_LIMIT:
        return f"{length:,} characters of instructions, all of which reach the agent"
    return (
        f"{length:,} characters of instructions, of which the agent surely receives the first {TEXT_LIMIT:,}; "
        "audit-host measures what your host passes on"
    )
