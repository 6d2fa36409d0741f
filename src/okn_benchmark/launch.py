"""How the proxy process is started: the only thing a host and the proxy know of each other.

A host builds a ``ProxyLaunch`` and starts ``to_argv()``; the proxy parses the same list back. No secret is in it:
headers and environment values stay in the profile, which the proxy reads itself.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["all-tools", "sparql-only"]
LEVELS: Final[tuple[Level, ...]] = ("all-tools", "sparql-only")
DEFAULT_CALL_TIMEOUT_S: Final = 120.0
LONGEST_S: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLaunch:
    """One proxy process. Times in seconds, sizes in characters."""

    level: Level
    log_dir: Path | None = None
    """Where calls.jsonl, calls.json and the submissions go; None for a proxy nobody records."""
    profile: Path | None = None
    endpoint: str | None = None
    """The SPARQL endpoint (http or https) behind ``sparql-only``."""
    withheld: tuple[str, ...] = ()
    call_timeout_s: float = DEFAULT_CALL_TIMEOUT_S
    strict_upstream_errors: bool = False
    result_limit: int | None = None
    arm: Path | None = None
    keep_payloads: bool = False
    """Whether results an arm is about are kept whole, before and after."""
    record: Path | None = None
    """A folder to which every reply of the server is recorded."""
    replay: Path | None = None
    """A folder whose recorded replies stand in for the server."""
    then_live: bool = False
    """Whether the server itself is asked, and recorded, for what ``replay`` does not hold."""

    @property
    def tape(self) -> str | None:
        """Where replies come from other than from the server alone: record, replay or replay-then-live."""
        if self.record is not None:
            return "record"
        if self.replay is None:
            return None
        return "replay-then-live" if self.then_live else "replay"

    def arguments(self) -> list[str]:
        """The command line after the module name."""
        out = ["--level", self.level, "--timeout", f"{self.call_timeout_s:g}"]
        for flag, value in (
            ("--profile", self.profile),
            ("--endpoint", self.endpoint),
            ("--log", self.log_dir),
            ("--result-limit", self.result_limit),
            ("--arm", self.arm),
            ("--record", self.record),
            ("--replay", self.replay),
        ):
            if value is not None:
                out += [flag, str(value)]
        for tool in self.withheld:
            out += ["--without-tool", tool]
        for flag, on in (
            ("--strict-upstream-errors", self.strict_upstream_errors),
            ("--keep-payloads", self.keep_payloads),
            ("--then-live", self.then_live),
        ):
            out += [flag] if on else []
        return out

    def to_argv(self) -> list[str]:
        """The whole command. ``-P`` keeps the current folder, the agent's scratch, off ``sys.path``."""
        return [sys.executable, "-P", "-m", "okn_benchmark.proxy", *self.arguments()]


def _seconds(text: str) -> float:
    """A time limit; argparse says which argument it was."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0 and up to {LONGEST_S:.0f}")
    return value


def parser() -> argparse.ArgumentParser:
    """The proxy's own command line; argparse, since this process imports as little as it can."""
    made = argparse.ArgumentParser(
        prog="okn-benchmark proxy",
        description="A filtering MCP proxy on stdin and stdout.",
        # With a width given, argparse need not ask for the terminal's and load four compression libraries for it.
        formatter_class=partial(argparse.HelpFormatter, width=100),
    )
    made.add_argument("--level", choices=LEVELS, default="all-tools", help="what the agent may see")
    made.add_argument("--profile", type=Path, help="TOML file naming the server to re-export")
    made.add_argument("--endpoint", help="SPARQL endpoint behind sparql-only")
    made.add_argument("--without-tool", action="append", default=[], metavar="NAME", help="hide and refuse this tool")
    made.add_argument("--log", type=Path, metavar="DIR", help="record calls and submissions here")
    made.add_argument(
        "--timeout", type=_seconds, default=DEFAULT_CALL_TIMEOUT_S, help="seconds a forwarded call may take"
    )
    made.add_argument(
        "--strict-upstream-errors", action="store_true", help="flag failures hidden in successful replies"
    )
    made.add_argument(
        "--result-limit", type=int, metavar="CHARS", help="ask the host for whole results up to this size"
    )
    made.add_argument("--arm", type=Path, help="TOML file of interventions")
    made.add_argument(
        "--keep-payloads", action="store_true", help="keep results an arm is about, before and after, beside the log"
    )
    made.add_argument("--record", type=Path, metavar="DIR", help="record every reply of the server here")
    made.add_argument("--replay", type=Path, metavar="DIR", help="answer from replies recorded here, without a server")
    made.add_argument(
        "--then-live", action="store_true", help="with --replay: ask the server for what was not recorded"
    )
    return made


def parse_arguments(argv: Sequence[str]) -> ProxyLaunch:
    """The inverse of ``ProxyLaunch.arguments``; exits with 2 and a usage line like any argparse program."""
    got = parser().parse_args(argv)
    return ProxyLaunch(
        level=got.level,
        profile=got.profile,
        endpoint=got.endpoint,
        log_dir=got.log,
        withheld=tuple(got.without_tool),
        call_timeout_s=got.timeout,
        strict_upstream_errors=got.strict_upstream_errors,
        result_limit=got.result_limit,
        arm=got.arm,
        keep_payloads=got.keep_payloads,
        record=got.record,
        replay=got.replay,
        then_live=got.then_live,
    )
