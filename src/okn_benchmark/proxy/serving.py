"""One proxy process from its first byte to its last: build the parts, let them run, end them all in a few seconds."""

import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from okn_benchmark.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    Message,
    Oversize,
    decode,
    encode,
    failure,
    guess_id,
)
from okn_benchmark.proxy.alarm import Alarm
from okn_benchmark.proxy.calllog import CallLog
from okn_benchmark.proxy.front import Incoming, Inlet, Outlet
from okn_benchmark.proxy.outstanding import Limits, Outstanding
from okn_benchmark.proxy.plan import Plan, redaction
from okn_benchmark.proxy.policy import Reply
from okn_benchmark.proxy.relay import Relay
from okn_benchmark.proxy.submit import Submissions
from okn_benchmark.proxy.wire import Arrived, Event, Wire

_LAST_ANSWERS_S: Final = 1.0
"""After stdin has ended: for what was asked just before."""
_FIRST_REQUEST_S: Final = 2.0
"""A server that cannot be started is known before the host has spoken; wait so that it is told, not just dropped."""
_CLOSING_S: Final = 3.6
_FLUSH_S: Final = 0.4


def serve(plan: Plan, wire: Wire, outlet: Outlet, fd_in: int = 0, *, signals: bool = True) -> int:
    """Relay between ``fd_in`` and ``outlet`` on one side and ``wire`` on the other until either ends; the exit code."""
    end = _End()
    outlet.on_broken(lambda: end.come(0, "stdout closed"))
    log = CallLog(plan.launch.log_dir, redaction(plan))
    log.event("begin", **_settings(plan))
    limits = Limits(call_s=plan.launch.call_timeout_s, start_s=plan.start_timeout_s)
    relay = Relay(
        out=outlet.send,
        wire=wire,
        policy=plan.policy,
        submissions=Submissions(plan.launch.log_dir),
        log=log,
        outstanding=Outstanding(limits=limits, later=Alarm().after),
        finish=end.come,
        **_keeping(plan),
    )
    door = _Door(relay, end.come)
    if signals:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda received, _: end.come(0, signal.Signals(received).name))
    wire.start(lambda event: _taken(relay, event))
    Inlet(fd_in, door.take, bound=plan.message_bound).start()
    code, why = end.wait()
    if why == "startup_error":
        door.opened.wait(_FIRST_REQUEST_S)
    elif why == "end of input":
        relay.wait_until_idle(_LAST_ANSWERS_S)
    code = relay.end(why) or code
    _side_by_side(_CLOSING_S, wire.close, log.finish, lambda: outlet.flush(_FLUSH_S))
    return code


class _End:
    """The first reason to stop, from whichever thread or signal."""

    def __init__(self) -> None:
        self._reasons: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()

    def come(self, code: int, why: str) -> None:
        """Stop, with this exit code."""
        self._reasons.put((code, why))  # the one queue that may be put into from a signal handler

    def wait(self) -> tuple[int, str]:
        """Until there is a reason."""
        return self._reasons.get()


class _Door:
    """Takes lines from stdin apart and hands messages to the relay."""

    def __init__(self, relay: Relay, finish: Callable[[int, str], None]) -> None:
        self._relay = relay
        self._finish = finish
        self.opened = threading.Event()

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
        whole = len(messages) == 1 and line.endswith(b"\n") and not line.lstrip().startswith(b"[")
        for message in messages:
            try:
                self._relay.from_host(message, line if whole else encode(message))
            except Exception:  # noqa: BLE001 - the same on the way up: whoever waits is told
                _print_bug()
                self._relay.session.count("internal_errors")
                self._relay.out(encode(failure(message.get("id"), INTERNAL_ERROR, "The proxy failed; see its stderr")))
        self.opened.set()

    def _too_large(self, line: Oversize) -> None:
        self._relay.session.count("too_large_from_host")
        request_id = guess_id(line)
        if request_id is not None:
            self._relay.out(
                encode(failure(request_id, CONNECTION_CLOSED, f"A message of {line.size:,} bytes is too large"))
            )


def _taken(relay: Relay, event: Event) -> None:
    try:
        relay.from_wire(event)
    except Exception:  # noqa: BLE001 - a bug must not end the conversation: the host gets what came
        _print_bug()
        relay.session.count("internal_errors")
        if isinstance(event, Arrived):
            relay.out(event.raw)


def _print_bug() -> None:
    import traceback

    traceback.print_exc()


def _side_by_side(seconds: float, *work: Callable[[], object]) -> None:
    """Do it all at once, and leave what takes longer: a log of a million calls is complete, and compiles later."""
    until = time.monotonic() + seconds
    workers = [threading.Thread(target=piece, daemon=True) for piece in work]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))


def _keeping(plan: Plan) -> dict[str, Any]:
    """What keeps both sides of a changed result, where that was asked for."""
    launch = plan.launch
    if not launch.keep_payloads or launch.log_dir is None or plan.arm is None:
        return {}
    from okn_benchmark.proxy.treatment import Payloads

    payloads = Payloads(launch.log_dir, redaction(plan))

    def keep(seq: int | None, came: Message, reply: Reply) -> None:
        if reply.steps:
            payloads.keep(seq, came, reply.result)

    return {"keep": keep}


def _settings(plan: Plan) -> Mapping[str, object]:
    launch = plan.launch
    armed = {} if plan.arm is None else {"arm": {"name": plan.arm.name, "digest": plan.arm.digest()}}
    return {
        **armed,
        **({} if launch.tape is None else {"tape": launch.tape}),
        "level": launch.level,
        "server": None if plan.profile is None else plan.profile.name,
        "withheld": sorted(plan.policy.withheld),
        "strict_upstream_errors": launch.strict_upstream_errors,
        "result_limit": launch.result_limit,
        "call_timeout_s": launch.call_timeout_s,
    }
