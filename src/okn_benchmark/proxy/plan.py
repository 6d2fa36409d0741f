"""What one proxy process is to do, checked, and the wire that does it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from okn_benchmark.errors import InputError
from okn_benchmark.jsonrpc import MESSAGE_BOUND
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import HttpUpstream, Profile, credentials, redactor
from okn_benchmark.proxy.front import Outlet
from okn_benchmark.proxy.outstanding import START_TIMEOUT_S
from okn_benchmark.proxy.policy import SUBMIT, Policy
from okn_benchmark.proxy.wire import Wire

if TYPE_CHECKING:
    from okn_benchmark.interventions.arm import Arm
    from okn_benchmark.proxy.treatment import Treatment


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to serve, checked: everything ``serve`` needs that is not a file descriptor."""

    launch: ProxyLaunch
    profile: Profile | None
    policy: Policy
    arm: "Arm | None" = None
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
    _check_tape(launch)
    if launch.level == "sparql-only":
        if launch.withheld or launch.arm or launch.record or launch.replay:
            raise InputError(
                "--without-tool, --arm, --record and --replay have no meaning with sparql-only, which has no server."
            )
    elif profile is None:
        raise InputError("all-tools needs --profile.", hint="Examples are in profiles/.")
    arm, treatment = _armed(launch)
    policy = Policy(
        withheld=frozenset({*launch.withheld, *(arm.without_tools if arm else ())}),
        strict=launch.strict_upstream_errors,
        result_limit=launch.result_limit,
        arm=treatment,
    )
    return Plan(launch=launch, profile=profile, policy=policy, arm=arm)


def _check_tape(launch: ProxyLaunch) -> None:
    if launch.record and launch.replay:
        raise InputError("--record asks the server and --replay does not.", hint="--replay DIR --then-live does both.")
    if launch.then_live and not launch.replay:
        raise InputError("--then-live says what happens to calls that --replay DIR does not hold; give both.")


def _armed(launch: ProxyLaunch) -> "tuple[Arm | None, Treatment | None]":
    if launch.arm is None:
        return None, None
    from okn_benchmark.interventions.arm_file import load_arm
    from okn_benchmark.proxy.treatment import Treatment

    arm = load_arm(launch.arm)
    return arm, Treatment(arm)


def redaction(plan: Plan) -> Callable[[str], str]:
    """What masks the secrets of this plan."""
    return str if plan.profile is None else redactor(plan.profile)


def connect(plan: Plan, outlet: Outlet) -> Wire:
    """The wire for this plan; a child process is started at once, everything else on demand."""
    launch = plan.launch
    # Each level loads what it needs and nothing else: the start is part of every measurement.
    if launch.level == "sparql-only":
        from okn_benchmark.proxy.local_wire import LocalWire
        from okn_benchmark.proxy.sparql_only import SparqlOnly

        return LocalWire(SparqlOnly(_endpoint(launch), timeout_s=launch.call_timeout_s))
    if launch.record or launch.replay:
        from okn_benchmark.proxy.tape_wire import taped

        wire: Wire = taped(launch, redaction(plan), lambda: _server(plan, outlet))
    else:
        wire = _server(plan, outlet)
    if plan.arm is not None and (plan.arm.faults or plan.arm.latency):
        from okn_benchmark.proxy.alarm import Alarm
        from okn_benchmark.proxy.chance_wire import ChanceWire

        return ChanceWire(wire, plan.arm, "" if launch.log_dir is None else launch.log_dir.name, Alarm().after)
    return wire


def _server(plan: Plan, outlet: Outlet) -> Wire:
    """The server of the profile, its echoes of what we log in with masked."""
    assert plan.profile is not None
    wire = _bare_server(plan, plan.profile, outlet)
    if not (secret := credentials(plan.profile)):
        return wire
    from okn_benchmark.proxy.masked_wire import MaskedWire

    return MaskedWire(wire, secret, redaction(plan))


def _bare_server(plan: Plan, profile: Profile, outlet: Outlet) -> Wire:
    if isinstance(profile.upstream, HttpUpstream):
        from okn_benchmark.proxy.http_wire import HttpWire

        seconds = plan.launch.call_timeout_s
        return HttpWire(profile.upstream, timeout_s=seconds, crowded=lambda: outlet.crowded, bound=plan.message_bound)
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
