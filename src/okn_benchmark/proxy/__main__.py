"""``python -m okn_benchmark.proxy``: the process a host starts for each episode.

It imports as little as it can, and leaves by ``os._exit``: a thread that waits for stdin cannot be called off, and
what has to be on disk is there by then.
"""

import os
import sys

from okn_benchmark.errors import OknBenchmarkError
from okn_benchmark.launch import ProxyLaunch, parse_arguments


def main() -> int:
    """Serve until the host or the server ends it; the exit code."""
    launch = parse_arguments(sys.argv[1:])
    try:
        return _serve(launch)
    except OknBenchmarkError as error:
        _record(launch, error)
        sys.stderr.write(f"error: {error}\n" + (f"  hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code


def _serve(launch: ProxyLaunch) -> int:
    from okn_benchmark.profile import load_profile
    from okn_benchmark.proxy.front import Outlet
    from okn_benchmark.proxy.plan import connect, planned

    profile = None if launch.level == "sparql-only" or launch.profile is None else load_profile(launch.profile)
    plan = planned(launch, profile)
    # Whatever a library prints belongs to stderr: stdout carries messages and nothing else.
    wire_out = os.dup(1)
    os.dup2(2, 1)
    outlet = Outlet(wire_out)
    wire = connect(plan, outlet)  # a child process starts here, and the rest is loaded while it does
    from okn_benchmark.proxy.serving import serve

    return serve(plan, wire, outlet)


def _record(launch: ProxyLaunch, error: OknBenchmarkError) -> None:
    """Why an episode never had tools, where its record is looked for."""
    if launch.log_dir is None:
        return
    from okn_benchmark.proxy.calllog import CallLog

    log = CallLog(launch.log_dir)
    log.event("startup_error", reason=str(error))
    log.finish()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
