"""Where the control's queries go: the endpoint of the ground truth, served on loopback when it has no URL."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from okn_benchmark.jobs.request import RunRequest


@contextlib.contextmanager
def control_endpoint(request: RunRequest) -> Iterator[str | None]:
    """The URL the control queries; None where the condition has a server of its own."""
    if request.level != "sparql-only":
        yield None
    elif request.endpoint.startswith(("http://", "https://")):
        yield request.endpoint
    else:
        from okn_benchmark.graphs.service import serve_graphs
        from okn_benchmark.sparql.embedded import rdf_files
        from okn_benchmark.sparql.endpoint import SAMPLE

        files = None if request.endpoint == SAMPLE else rdf_files(Path(request.endpoint).expanduser())
        with serve_graphs(files) as served:
            yield served.federation_url
