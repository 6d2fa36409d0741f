"""What the proxy promises, each an id and a sentence. Tests claim ids; test_promises.py compares both ways."""

from collections.abc import Callable
from typing import Any, TypeVar

PROMISES: dict[str, str] = {
    # Transparency.
    "initialize-passes": "The answer to an opening request is the upstream's own, unknown keys included.",
    "lists-pass": "Every listed tool, resource and prompt arrives with every key it had, page by page.",
    "calls-pass": "A tool's answer arrives byte for byte, whatever kind of content and unknown keys it has.",
    "errors-pass": "A JSON-RPC error arrives with its code, message and data, for calls and for everything else.",
    "ids-are-opaque": 'An id comes back with the type it had; "1" and 1 can be in flight together.',
    "progress-passes": "Progress and log notifications arrive, in order, before the answer they belong to.",
    "server-requests-pass": "A request of the server reaches the host and the host's answer the server.",
    "list-changed-passes": "A list_changed notification reaches the host.",
    "cancel-passes": "A cancellation reaches the upstream, and an answer that still comes is dropped and counted.",
    "meta-passes": "A request's _meta reaches the upstream unchanged.",
    "both-eras": "Handshake and envelope requests pass through one proxy and are answered each in its era.",
    "capabilities-pass": "What the host says about itself reaches the upstream unchanged and is recorded.",
    "same-requests-upstream": "An HTTP upstream sees the requests and headers it would see without us, in both eras.",
    "mismatch-passes": "Structured content that does not fit its schema arrives as it came and is recorded.",
    "batches-pass": "The members of a JSON-RPC batch from the host are each answered.",
    # What is changed on purpose.
    "submit-is-listed": "submit_csv is listed exactly once, on the page without a nextCursor.",
    "submit-without-tools": "An upstream without tools gets that capability, and submit_csv is listed.",
    "submit-shadows": "An upstream's own tool of the name submit_csv is never listed or called.",
    "withheld-hidden": "A withheld tool is on no page of the list.",
    "withheld-refused": "A call to a withheld tool is refused, recorded, and never reaches the upstream.",
    "unknown-withheld-noted": "A withheld name that no page lists is named in the record.",
    "result-limit": "With a result limit every listed tool asks for whole results and keeps its other _meta.",
    "soft-error-recorded": "A failure hidden in a successful reply is recorded and tallied, and ok stays true.",
    "strict-flips-the-flag": "With strict upstream errors such a reply is flagged, its payload untouched.",
    # The answer channel.
    "submit-accepts": "A table is accepted, counted and kept as answer.csv byte for byte.",
    "submit-header-only": "A header alone is accepted and said to mean an empty result.",
    "submit-explains": "A refusal names the row at fault, and the refused text is kept.",
    "submit-last-wins": "The last accepted table is the answer; those before it are kept beside it.",
    "submit-bounded": "A table over the bounds is refused without being read into a table.",
    "submit-keeps-nothing-unasked": "Without a log folder nothing is written anywhere.",
    "submit-both-eras": "Our own answers carry what the caller's era asks for.",
    # Failures.
    "failed-call-is-an-answer": "Whatever becomes of a call, the agent gets one error result that says what happened.",
    "submit-always-answers": "submit_csv answers within 100 ms during and after every failure.",
    "timeout-bounds-a-call": "A call is given up at the time limit, the upstream is told, a late answer is dropped.",
    "breaker-opens": "Three failed calls in a row declare the session dead; the fourth never touches the upstream.",
    "breaker-resets": "Any answer, an error among them, resets the count.",
    "lost-is-told": "A lost upstream is recorded, later calls are told it will not come back, submit_csv works.",
    "one-drop-one-call": "A dropped HTTP connection costs the call it carried and no other.",
    "startup-told-apart": "A server that never answered is a startup error and exit code 4; one lost later is not.",
    "startup-in-time": "A server that does not answer its first request in time is given up, the host told why.",
    "oversize-dropped": "A message over the bound is dropped, its call answered, and the session goes on.",
    "junk-counted": "Lines that are no messages are counted and passed to nobody.",
    "http-resumes": "A reply stream that breaks after an event id is resumed by that id.",
    "slow-is-not-dead": "Silence shorter than the time limit costs nothing.",
    "redirects-stay-home": "A redirect is followed only on the same origin and with the same method.",
    # The record and the process.
    "record-is-complete": "Every call is in calls.json in order, with arguments, time, size, digest and totals.",
    "record-survives-a-kill": "The event log holds every line up to a kill, and compiles.",
    "queries-counted": "A call whose arguments hold a SPARQL query, at any depth, counts as a query.",
    "secrets-stay-out": "Header and environment values are in no file, argument or output, even when echoed.",
    "small-environment": "A child gets paths, locale and the profile's own values, nothing else of the environment.",
    "ends-in-time": "End of input, SIGTERM and SIGINT end it within 5 s, the log complete, no process left.",
    "killed-leaves-nothing": "Were the proxy killed outright, its server ends too.",
    "small-imports": "The process loads neither mcp nor pandas nor scipy nor typer nor rich nor pydantic.",
    "stdout-is-clean": "Only messages are written to stdout, whatever a server prints on stderr.",
    "any-stdin": "A pipe, a file and the null device all work as stdin.",
    # The control.
    "control-is-neutral": "The control's texts are always the same, under 2,000 characters, and name every graph.",
    "control-queries": "run_sparql returns rows as CSV, yes or no, or the endpoint's own error as an error result.",
    # Others.
    "conformance": "The official conformance scenarios that apply are green through the proxy.",
    "server-everything": "The reference server, listed and called, differs through the proxy by submit_csv alone.",
    "old-and-new-sdks": "Clients and servers of both SDK generations work in every pairing through the proxy.",
    "inspector": "The MCP Inspector's command line lists and calls through the installed command.",
}

CLAIMED: dict[str, list[str]] = {}
_Test = TypeVar("_Test", bound=Callable[..., Any])


def promise(*names: str) -> Callable[[_Test], _Test]:
    """Claim that the test holds these promises; an id that does not exist fails at import."""
    for name in names:
        PROMISES[name]

    def mark(test: _Test) -> _Test:
        for name in names:
            CLAIMED.setdefault(name, []).append(test.__qualname__)
        vars(test)["promises"] = names
        return test

    return mark
