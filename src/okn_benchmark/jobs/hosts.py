"""Which agent program a request means, opened for the length of a sweep."""

import contextlib
import os
from collections.abc import Iterator, Sequence

from okn_benchmark.corpus.record import Record
from okn_benchmark.host.claude import ClaudeHost, find_claude
from okn_benchmark.host.episode import Host
from okn_benchmark.host.oracle import OracleHost, tool_for
from okn_benchmark.host.rehearsal import rehearse
from okn_benchmark.host.script import read_script
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.profile import Profile


@contextlib.contextmanager
def open_host(request: RunRequest, records: Sequence[Record], profile: Profile | None) -> Iterator[Host]:
    """The host of one sweep. Only the oracle is handed the answer keys.

    Raises:
        InputError: the oracle is asked to use a server whose profile does not say how.
        OutsideFailure: there is no agent program here.
    """
    if request.host == "oracle":
        configured = None if profile is None else profile.oracle
        yield OracleHost(
            queries={record.id: record.query for record in records},
            tool=tool_for(request.level, configured, str(request.profile)),
        )
        return
    executable = find_claude(request.claude)
    if request.model_script is not None:
        with rehearse(
            executable, read_script(request.model_script), negotiation=request.protocol_negotiation
        ) as rehearsal:
            yield rehearsal.host
        return
    yield ClaudeHost(executable=executable, environ=dict(os.environ), negotiation=request.protocol_negotiation)
