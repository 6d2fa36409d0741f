"""The relay: messages between one host and one upstream, acted on at five places and otherwise passed as they came.

(1) the answer to an opening request, (2) the pages of ``tools/list``, (3) ``tools/call`` on its way up, (4) its answer
on the way down, (5) cancellations. Everything that happens to a call ends in one reply and one entry of the log.
Nothing here raises for what the other side does.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from okn_benchmark.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    OPENING_METHODS,
    REQUEST_TIMEOUT,
    Message,
    answer,
    encode,
    envelope_of,
    failure,
    id_key,
    kind_of,
    notification,
    params_of,
    tool_text,
)
from okn_benchmark.proxy import words
from okn_benchmark.proxy.calllog import CallLog
from okn_benchmark.proxy.health import Breaker
from okn_benchmark.proxy.measure import entry_of
from okn_benchmark.proxy.outstanding import Outstanding, Pending
from okn_benchmark.proxy.policy import SUBMIT, Policy, Reply
from okn_benchmark.proxy.session import Session
from okn_benchmark.proxy.sparqlish import holds_query
from okn_benchmark.proxy.submit import Receipt, Submissions
from okn_benchmark.proxy.wire import Arrived, Closed, Event, Failed, Noted, Wire

_EXCERPT: Final = 500
_CODES: Final[Mapping[int | None, int]] = {404: METHOD_NOT_FOUND}
"""What a client of its own would make of an HTTP status: a 404 to an opening request lets a host try the older one."""


class Relay:
    """One conversation. ``out`` takes lines for the host; ``finish`` is told an exit code and why.

    Messages, timers and submissions come from several threads and are taken one at a time. Nothing called from here
    waits for anything, so neither does anybody who waits for a turn.
    """

    def __init__(
        self,
        *,
        out: Callable[[bytes], None],
        wire: Wire,
        policy: Policy,
        submissions: Submissions,
        log: CallLog,
        outstanding: Outstanding,
        finish: Callable[[int, str], None],
        keep: Callable[[int | None, Message, Reply], None] = lambda _seq, _came, _reply: None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.out = out
        self.wire = wire
        self.policy = policy
        self.submissions = submissions
        self.log = log
        self.outstanding = outstanding
        self.finish = finish
        self.keep = keep
        self.clock = clock
        self.session = Session()
        self._submitting: set[str] = set()
        self._unwanted: set[str] = set()
        self._breaker = Breaker()
        self._lost: str | None = None
        self._turn = threading.RLock()

    def wait_until_idle(self, seconds: float) -> None:
        """Let answers that are on their way arrive."""
        until = self.clock() + seconds
        while (self.outstanding or self._submitting) and self.clock() < until:
            time.sleep(0.005)

    # From the host.

    def from_host(self, message: Message, raw: bytes) -> None:
        """Route one message of the host."""
        with self._turn:
            match kind_of(message):
                case "request":
                    self._request(message, raw)
                case "notification" if message["method"] == "notifications/cancelled":
                    self._cancelled(message, raw)
                case _:
                    self.session.count_host(message)
                    self._up(message, raw)

    def _request(self, message: Message, raw: bytes) -> None:
        key, method = id_key(message["id"]), message["method"]
        self.session.count_host(message)
        if key in self.outstanding or key in self._submitting:
            self._down(failure(message["id"], INVALID_REQUEST, "This id is still in use"))
        elif method == "tools/call":
            self._call(message, raw, key)
        elif self._lost is not None:
            self._down(self.session.answer_alone(message, self.policy.submit_tool(), self._lost))
        elif method == "tools/list" and not self.session.upstream_has_tools:
            self._down(answer(message, self.session.own_page(self.policy.submit_tool(), message)))
        else:
            self._note_opening(message)
            self._forward(message, raw)

    def _note_opening(self, message: Message) -> None:
        """A 2026 client may start without an opening request; what it says of itself is noted all the same."""
        if message["method"] in OPENING_METHODS:
            self.session.opening(message)
        elif not self.session.asked and envelope_of(message) is not None:
            self.log.event("opened", **self.session.spoke(message))

    def _call(self, message: Message, raw: bytes, key: str) -> None:
        """Place 3."""
        params = params_of(message)
        tool, arguments = params.get("name"), params.get("arguments")
        seq = self.log.next_call()
        if tool == SUBMIT:
            self.log.event("call", seq=seq, tool=SUBMIT, arguments=words.sized(arguments), is_query=False)
            started = self.clock()
            self._submitting.add(key)
            self.submissions.hand_in(arguments, lambda receipt: self._submitted(message, key, seq, started, receipt))
            return
        if self.policy.judge(tool) == "withheld":
            self._refuse(message, seq, words.withheld(str(tool)), withheld=True)
        elif self._lost is not None:
            self._refuse(message, seq, words.lost(self._lost), withheld=False)
        else:
            self._note_opening(message)
            self._forward(message, raw, tool=str(tool), seq=seq)
        self.log.event("call", seq=seq, tool=str(tool), arguments=arguments, is_query=holds_query(arguments))

    def _refuse(self, message: Message, seq: int, text: str, *, withheld: bool) -> None:
        chars = len(text)
        self.log.event("reply", seq=seq, ok=False, error=text, withheld=withheld, elapsed_s=None, response_chars=chars)
        self._down(answer(message, tool_text(text, is_error=True)))

    def _submitted(self, message: Message, key: str, seq: int, started: float, receipt: Receipt) -> None:
        with self._turn:
            self.log.event("submission", seq=seq, **receipt.facts())
            elapsed_s = round(self.clock() - started, 6)
            told = {"error": None if receipt.accepted else receipt.text, "response_chars": len(receipt.text)}
            self.log.event("reply", seq=seq, ok=receipt.accepted, **told, elapsed_s=elapsed_s, local=True)
            self._submitting.discard(key)
            if key in self._unwanted:
                self._unwanted.discard(key)
            else:
                self._down(answer(message, tool_text(receipt.text, is_error=not receipt.accepted)))

    def _forward(self, message: Message, raw: bytes, *, tool: str = "", seq: int | None = None) -> None:
        opening = message["method"] in OPENING_METHODS
        pending = self.outstanding.add(message, self.clock(), self._start_timed_out if opening else self._timed_out)
        pending.tool, pending.seq = tool, seq
        self.wire.send(message, raw)

    def _cancelled(self, message: Message, raw: bytes) -> None:
        """Place 5: the host waits no longer, so an answer that still comes is dropped."""
        self.session.count_host(message)
        key = id_key(params_of(message).get("requestId"))
        if key in self._submitting:
            self._unwanted.add(key)
            return
        pending = self.outstanding.take_key(key)
        if pending is not None and pending.seq is not None:
            self._log_failure(pending, words.CANCELLED, cancelled=True)
        self._up(message, raw)

    def _up(self, message: Message, raw: bytes) -> None:
        if self._lost is None:
            self.wire.send(message, raw)

    # From the upstream.

    def from_wire(self, event: Event) -> None:
        """Take one event of the wire."""
        with self._turn:
            match event:
                case Arrived(message=message, raw=raw):
                    self._arrived(message, raw)
                case Failed():
                    self._failed(event)
                case Noted(what=what):
                    self.session.count(what)
                case Closed(reason=reason):
                    self._lose(reason)

    def _arrived(self, message: Message, raw: bytes) -> None:
        if kind_of(message) != "response":
            if self._lost is None:
                self.session.count_upstream(message)
                self.out(raw)
            return
        pending = self.outstanding.take(message.get("id"))
        if pending is None:
            self.session.count("late_or_unknown_replies")
        elif pending.method == "tools/call":
            self._call_answered(pending, message, raw)
        else:
            self.out(self._answered(pending, message, raw))

    def _answered(self, pending: Pending, message: Message, raw: bytes) -> bytes:
        result = message.get("result")
        if not isinstance(result, dict):
            self.session.refused(pending.method, message)
            return raw
        self.session.started = True
        if pending.method in OPENING_METHODS:
            hello = self.policy.hello(result)
            self.log.event("opened", **self.session.opened(pending.method, result, hello))
            return encode({**message, "result": hello.result}) if hello.changed else raw
        if pending.method == "tools/list":
            page = self.policy.page(result)
            first = params_of(pending.asked).get("cursor") is None
            self.log.event("listed", **self.session.listed(page, first=first, withheld=self.policy.withheld))
            return encode({**message, "result": page.result})
        return raw

    def _call_answered(self, pending: Pending, message: Message, raw: bytes) -> None:
        """Place 4. What need not be looked at goes on before it is entered: nobody waits for our bookkeeping."""
        elapsed_s = round(self.clock() - pending.started, 6)
        result = message.get("result")
        looked = isinstance(result, dict) and (self.policy.strict or self.policy.arm is not None)
        if not looked:
            self.out(raw)
        self._breaker.answered()
        self.session.started = True
        if not isinstance(result, dict):
            error = words.of_error(message.get("error"))
            self.log.event("reply", seq=pending.seq, elapsed_s=elapsed_s, ok=False, error=error)
            return
        reply = self.policy.reply(pending.tool, result)
        if looked:
            self.out(encode({**message, "result": reply.result}) if reply.changed else raw)
        self.keep(pending.seq, result, reply)
        facts = entry_of(result, reply, self.session.schemas.get(pending.tool))
        self.log.event("reply", seq=pending.seq, elapsed_s=elapsed_s, **facts)

    def _failed(self, event: Failed) -> None:
        if event.status is not None:
            self.session.count(f"http_{event.status}")
        waiting = self.outstanding
        pending = waiting.take_only_call() if event.request_id is None else waiting.take(event.request_id)
        if pending is None:
            self.session.count("failures_without_a_request")
        elif pending.seq is not None:
            facts = {"http_status": event.status, "retry_after": event.retry_after}
            text = words.failed(event.reason, event.retry_after)
            self._fail(pending, event.reason, text, **{k: v for k, v in facts.items() if v is not None})
            self._count_failure(event.reason)
        else:
            code = _CODES.get(event.status, INTERNAL_ERROR if event.status else CONNECTION_CLOSED)
            self._down(failure(pending.asked["id"], code, event.reason))
            if pending.method in OPENING_METHODS:
                self.session.could_not_open = event.reason
            if pending.method == "initialize" and not self.session.started:
                self._startup_failed(event.reason)

    # What the clock does.

    def _timed_out(self, key: str) -> None:
        with self._turn:
            self._give_up(key)

    def _give_up(self, key: str) -> None:
        pending = self.outstanding.take_key(key)
        if pending is None:
            return
        request_id = pending.asked["id"]
        cancel = notification("notifications/cancelled", {"requestId": request_id, "reason": "timed out"})
        self.wire.send(cancel, encode(cancel))
        if pending.seq is None:
            self._down(failure(request_id, REQUEST_TIMEOUT, words.timed_out(self.outstanding.limits.call_s)))
            return
        text = words.timed_out(self.outstanding.limits.call_s)
        self._fail(pending, text, text, timed_out=True)
        self._count_failure(text)

    def _start_timed_out(self, key: str) -> None:
        with self._turn:
            if self.session.started:  # another opening request was answered; this one alone was not
                self._give_up(key)
            elif key in self.outstanding:
                self._startup_failed(words.no_start(self.outstanding.limits.start_s))

    def _count_failure(self, reason: str) -> None:
        if self._breaker.failed():
            self.log.event("breaker", failures=self._breaker.failures)
            self._lose(words.breaker(self._breaker.failures, reason))

    # Ends.

    def _lose(self, reason: str) -> None:
        """The upstream is gone: everybody who waits is told, and everybody who asks later."""
        if self._lost is not None:
            return
        if not self.session.started:
            self._startup_failed(reason)
            return
        self._lost = reason
        self.log.event("lost", reason=reason)
        for pending in self.outstanding.take_all():
            if pending.seq is None:
                self._down(failure(pending.asked["id"], CONNECTION_CLOSED, words.lost(reason)))
            else:
                self._fail(pending, reason, words.lost(reason))

    def end(self, why: str) -> int | None:
        """The last entry; what still arrives is nobody's. 4 where a server was asked for and never gave a result."""
        with self._turn:
            unstarted = self.session.asked and not self.session.started and self._lost is None
            if unstarted:
                self.log.event("startup_error", reason=self.session.could_not_open or words.left_early(why))
            self.log.event("end", reason=why, traffic=self.session.traffic())
            self.log.close()
            return 4 if unstarted else None

    def _startup_failed(self, reason: str) -> None:
        self._lost = reason
        self.log.event("startup_error", reason=reason)
        for pending in self.outstanding.take_all():
            self._down(failure(pending.asked["id"], CONNECTION_CLOSED, words.no_server(reason)))
        self.finish(4, "startup_error")

    def _fail(self, pending: Pending, error: str, text: str, **facts: Any) -> None:
        """A call that gets our words in the server's stead."""
        self._log_failure(pending, error, response_chars=len(text), **facts)
        self._down(answer(pending.asked, tool_text(text, is_error=True)))

    def _log_failure(self, pending: Pending, error: str, **facts: Any) -> None:
        elapsed_s = round(self.clock() - pending.started, 6)
        self.log.event("reply", seq=pending.seq, elapsed_s=elapsed_s, ok=False, error=error[:_EXCERPT], **facts)

    def _down(self, message: Message) -> None:
        self.out(encode(message))
