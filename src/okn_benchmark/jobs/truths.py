"""The ground truth a sweep is judged against: cached, of the endpoint asked for, and of the key as it is now."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from okn_benchmark.corpus.record import Record
from okn_benchmark.errors import Refusal
from okn_benchmark.jobs.elsewhere import way_out
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.reference.cache import Cache, Missing, Stale, Truth, load_truth
from okn_benchmark.runs.shapes import TruthRecord
from okn_benchmark.sparql.endpoint import open_endpoint

_NAMED: Final = 12


def load_truths(request: RunRequest, records: Sequence[Record]) -> Mapping[str, TruthRecord]:
    """Truth by record id, for every record.

    Raises:
        Refusal: some is missing or of another text of its key; the hint is the command that builds it.
    """
    cache = Cache.at(request.cache)
    with open_endpoint(request.endpoint) as endpoint:
        name = endpoint.name
    found = {record.id: load_truth(cache, name, record) for record in records}
    missing = [record for record, truth in found.items() if isinstance(truth, Missing)]
    stale = [record for record, truth in found.items() if isinstance(truth, Stale)]
    if missing or stale:
        hint = way_out(cache, name, records, reference_command(request))
        raise Refusal(_sentence(missing, stale, name), hint=hint)
    return {record: truth.file for record, truth in found.items() if isinstance(truth, Truth)}


def reference_command(request: RunRequest) -> str:
    """The ``reference`` command for the same questions, endpoint and cache."""
    words = ["okn-benchmark", "reference", "--corpus", request.corpus, "--endpoint", request.endpoint]
    if request.tier is not None:
        words += ["--tier", request.tier]
    for pattern in request.exclude:
        words += ["--exclude", pattern]
    if request.limit is not None:
        words += ["--limit", str(request.limit)]
    if request.cache is not None:
        words += ["--cache", str(request.cache)]
    return shlex.join(words)


def _sentence(missing: Sequence[str], stale: Sequence[str], endpoint: str) -> str:
    parts = []
    if missing:
        parts.append(f"there is no ground truth from {endpoint} for {_listed(missing)}")
    if stale:
        parts.append(f"the answer key of {_listed(stale)} was changed since its ground truth was built")
    sentence = ", and ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more
