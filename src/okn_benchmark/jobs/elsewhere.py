"""Ground truth that is not there for the endpoint asked for, and is there for another: the endpoint was forgotten."""

from collections.abc import Sequence

from okn_benchmark.corpus.record import Record
from okn_benchmark.reference.cache import Cache, endpoints_with
from okn_benchmark.sparql.embedded import content_name, sample_files
from okn_benchmark.sparql.endpoint import SAMPLE


def way_out(cache: Cache, endpoint: str, records: Sequence[Record], command: str) -> str:
    """The command that builds the truth, at the end for copying; before it every other endpoint that has some."""
    counts = {name: count for name, count in endpoints_with(cache, records).items() if name != endpoint}
    if not counts:
        return f"Build it: {command}"
    parts = [f"{_named(name)} ({count} of {len(records)})" for name, count in counts.items()]
    return f"The cache has truth for these questions from {', '.join(parts)}. Name that one, or build it: {command}"


def _named(name: str) -> str:
    """How to ask for an endpoint again; of RDF files only their name and a digest are known."""
    if name.startswith(("http://", "https://")):
        return f"--endpoint {name}"
    files = sample_files()
    if name.startswith(f"{SAMPLE}@") and files and content_name(SAMPLE, files) == name:
        return f"--endpoint {SAMPLE}"
    return f"the RDF {name}"
