"""What one proxy process is to do, checked, and the wire that does it."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from okn_benchmark.errors import InputError
from okn_benchmark.jsonrpc import MESSAGE_BOUND
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import HttpUpstream, Profile, redactor
from okn_benchmark.proxy.front import Outlet
from okn_benchmark.proxy.outstanding import START_TIMEOUT_S
from okn_benchmark.proxy.policy import SUBMIT, Policy
from okn_benchmark.proxy.wire import Wire


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


def redaction(plan: Plan) -> Callable[[str], str]:
    """What masks the secrets of this plan."""
    return str if plan.profile is None else redactor(plan.profile)


def connect(plan: Plan, outlet: Outlet) -> Wire:
    """The wire for this plan; a child process is started at once, everything else on demand."""
    launch, profile = plan.launch, plan.profile
    # Each level loads what it needs and nothing else: the start is part of every measurement.
    if launch.level == "sparql-only":
        from okn_benchmark.proxy.local_wire import LocalWire
        from okn_benchmark.proxy.sparql_only import SparqlOnly

        return LocalWire(SparqlOnly(_endpoint(launch), timeout_s=launch.call_timeout_s))
    assert profile is not None
    if isinstance(profile.upstream, HttpUpstream):
        from okn_benchmark.proxy.http_wire import HttpWire

        return HttpWire(
            profile.upstream, timeout_s=launch.call_timeout_s, crowded=lambda: outlet.crowded, bound=plan.message_bound
        )
    from okn_benchmark.proxy.stdio_wire import StdioWire

    return StdioWire(
        profile.upstream,
        env=os.environ,
        redact=redaction(plan),
        pace=outlet.wait_for_room,
        bound=plan.message_bound,
    )


def _endpoint(launch: ProxyLaunch) -> str:
    if launch.endpoint is not None:
        return launch.endpoint
    from okn_benchmark.sparql.endpoint import FEDERATION_URL

    return FEDERATION_URL
