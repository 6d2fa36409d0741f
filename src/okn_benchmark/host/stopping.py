"""When a sweep must not go on: a failure that every further episode would meet as well. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from okn_benchmark.host.outcome import STOPPING, Outcome

BLOCKED_IN_A_ROW: Final = 3

_HINTS: Final = {
    "host_login": "Log in again (claude, then /login)",
    "host_billing": "Settle the account's credit or billing",
    "host_limit": "Wait until the usage limit resets",
}
_GO_ON: Final = "and run the same command with --resume; what was measured is kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """``message`` is one sentence, ``hint`` how to go on; together they make an OutsideFailure (exit 4)."""

    message: str
    hint: str


def sweep_stop(outcomes: Sequence[Outcome]) -> Stop | None:
    """Whether the sweep ends here. ``outcomes`` are those of this sweep so far, oldest first, resumed ones left out."""
    if not outcomes:
        return None
    newest = outcomes[-1]
    if newest.kind == "blocked" and newest.cause in STOPPING:
        return Stop(
            message=f"The sweep stops: {newest.cause}, {newest.reason}.",
            hint=f"{_HINTS[newest.cause]}, {_GO_ON}",
        )
    recent = outcomes[-BLOCKED_IN_A_ROW:]
    if len(recent) == BLOCKED_IN_A_ROW and all(outcome.kind == "blocked" for outcome in recent):
        causes = ", ".join(str(outcome.cause) for outcome in recent)
        return Stop(
            message=f"The sweep stops after {BLOCKED_IN_A_ROW} blocked attempts in a row ({causes}): {newest.reason}.",
            hint=f"Find out what ails the agent program or the server, {_GO_ON}",
        )
    return None
