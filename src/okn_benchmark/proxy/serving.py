"""One proxy process from its first byte to its last: build the parts, let them run, end them all in a few seconds."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.jsonrpc import (
    CONNECTION_CLOSED,
    MESSAGE_BOUND,
    Oversize,
    decode,
    encode,
    failure,
    guess_id,
    one_line,
)
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import HttpUpstream, Profile, redactor
from okn_benchmark.proxy.calllog import CallLog
from okn_benchmark.proxy.front import Incoming, Inlet, Outlet
from okn_benchmark.proxy.outstanding import START_TIMEOUT_S, Limits, Outstanding
from okn_benchmark.proxy.policy import SUBMIT, Policy
from okn_benchmark.proxy.relay import Relay
from okn_benchmark.proxy.submit import Submissions
from okn_benchmark.proxy.wire import Closed, Wire

_LAST_ANSWERS_S: Final = 1.0
"""After stdin has ended: for what was asked just before."""
_FIRST_REQUEST_S: Final = 2.0
"""A server that cannot be started is known before the host has spoken; wait so that it is told, not just dropped."""
_CLOSING_S: Final = 3.6
_FLUSH_S: Final = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to serve, checked: everything ``serve`` needs that is not a file descriptor."""

    launch: ProxyLaunch
    profile: Profile | None
    policy: Policy
    start_timeout_s: float = START_TIMEOUT_S
    message_bound: int = MESSAGE_BOUND


def planned(launch: ProxyLaunch, profile: Profile | None) -> Plan:
    """Check the settings against each other.

    Raises:
        InputError: a setting that cannot be meant; the message names the flag.
    """
    if launch.call_timeout_s <= 0 or (launch.result_limit is not None and launch.result_limit <= 0):
        raise InputError("--timeout and --result-limit must be above zero.")
    if SUBMIT in launch.withheld:
        raise InputError(f"{SUBMIT} cannot be withheld: an episode without it has nowhere to put its answer.")
    if launch.arm is not None:
        raise InputError("--arm is not supported by this version.", hint="Leave it out.")
    if launch.level == "sparql-only":
        if launch.withheld:
            raise InputError("--without-tool has no meaning with sparql-only, which has no server to take tools from.")
    elif profile is None:
        raise InputError("all-tools needs --profile.", hint="Examples are in profiles/.")
    policy = Policy(
        withheld=frozenset(launch.withheld), strict=launch.strict_upstream_errors, result_limit=launch.result_limit
    )
    return Plan(launch=launch, profile=profile, policy=policy)


async def serve(plan: Plan, fd_in: int = 0, fd_out: int = 1, *, signals: bool = True) -> int:
    """Relay between ``fd_in``/``fd_out`` and the upstream until either side ends it; the exit code."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[int, str]] = loop.create_future()

    def finish(code: int, why: str) -> None:
        if not ended.done():
            ended.set_result((code, why))

    redact = redactor(plan.profile) if plan.profile is not None else str
    log = CallLog(plan.launch.log_dir, redact)
    log.event("begin", **_settings(plan))
    wire = _wire(plan, redact)
    outlet = Outlet(fd_out, lambda: finish(0, "stdout closed"))
    limits = Limits(call_s=plan.launch.call_timeout_s, start_s=plan.start_timeout_s)
    relay = Relay(
        out=outlet.send,
        wire=wire,
        policy=plan.policy,
        submissions=Submissions(plan.launch.log_dir),
        log=log,
        outstanding=Outstanding(limits=limits, later=loop.call_later),
        finish=finish,
    )
    door = _Door(relay, finish)
    inlet = Inlet(fd_in, door.take, bound=plan.message_bound)
    if signals:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, finish, 0, signal.Signals(number).name)
    pump = loop.create_task(_pump(wire, relay, outlet))
    inlet.start()
    code, why = await ended
    if why == "startup_error" and not door.opened.is_set():
        await _at_most(_FIRST_REQUEST_S, door.opened.wait())
    elif why == "end of input":
        await _at_most(_LAST_ANSWERS_S, _until_idle(relay))
    code = relay.never_started(why) or code
    log.event("end", reason=why, traffic=relay.session.traffic())
    log.finish()
    await _at_most(_FLUSH_S, outlet.drained())
    pump.cancel()
    await _at_most(_CLOSING_S, wire.close())
    return code


class _Door:
    """Takes lines from stdin apart and hands messages to the relay."""

    def __init__(self, relay: Relay, finish: Callable[[int, str], None]) -> None:
        self._relay = relay
        self._finish = finish
        self.opened = asyncio.Event()

    def take(self, batch: Incoming | None) -> None:
        """Lines, or None at the end of input."""
        if batch is None:
            self._finish(0, "end of input")
            return
        for line in batch:
            if isinstance(line, Oversize):
                self._too_large(line)
            elif line.strip():
                self._line(line)

    def _line(self, line: bytes) -> None:
        messages = decode(line)
        if messages is None:
            self._relay.session.count("junk_lines_from_host")
            return
        whole = len(messages) == 1 and not line.lstrip().startswith(b"[")
        for message in messages:
            self._relay.from_host(message, one_line(line) if whole else encode(message))
        self.opened.set()

    def _too_large(self, line: Oversize) -> None:
        self._relay.session.count("too_large_from_host")
        request_id = guess_id(line)
        if request_id is not None:
            self._relay.out(
                encode(failure(request_id, CONNECTION_CLOSED, f"A message of {line.size:,} bytes is too large"))
            )


async def _pump(wire: Wire, relay: Relay, outlet: Outlet) -> None:
    while True:
        event = await wire.receive()
        relay.from_wire(event)
        if isinstance(event, Closed):
            return
        # An upstream that talks faster than the host listens waits here, and its pipe fills up behind it.
        await outlet.drained()


async def _until_idle(relay: Relay) -> None:
    while not relay.idle:
        await asyncio.sleep(0.01)


async def _at_most(seconds: float, what: Awaitable[Any]) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(what, seconds)


def _wire(plan: Plan, redact: Callable[[str], str]) -> Wire:
    launch, profile = plan.launch, plan.profile
    # Each level loads what it needs and nothing else: the start is part of every measurement.
    if launch.level == "sparql-only":
        from okn_benchmark.proxy.local_wire import LocalWire
        from okn_benchmark.proxy.sparql_only import SparqlOnly

        return LocalWire(SparqlOnly(_endpoint(launch), timeout_s=launch.call_timeout_s))
    assert profile is not None
    if isinstance(profile.upstream, HttpUpstream):
        from okn_benchmark.proxy.http_wire import HttpWire

        return HttpWire(profile.upstream, timeout_s=launch.call_timeout_s, bound=plan.message_bound)
    from okn_benchmark.proxy.stdio_wire import StdioWire

    return StdioWire(profile.upstream, env=os.environ, redact=redact, bound=plan.message_bound)


def _endpoint(launch: ProxyLaunch) -> str:
    if launch.endpoint is not None:
        return launch.endpoint
    from okn_benchmark.sparql.endpoint import FEDERATION_URL

    return FEDERATION_URL


def _settings(plan: Plan) -> Mapping[str, object]:
    launch = plan.launch
    return {
        "level": launch.level,
        "server": None if plan.profile is None else plan.profile.name,
        "withheld": sorted(launch.withheld),
        "strict_upstream_errors": launch.strict_upstream_errors,
        "result_limit": launch.result_limit,
        "call_timeout_s": launch.call_timeout_s,
    }
