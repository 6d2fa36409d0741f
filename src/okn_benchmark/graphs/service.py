"""RDF files as SPARQL endpoints on loopback, in the URL shape of the real host.

``/federation/sparql`` has every graph as a named graph and their union as the default graph; ``/<shortname>/sparql``
has one graph alone. A server written for the real host needs nothing but another base URL.
"""

import queue
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from okn_benchmark.errors import InputError, OknBenchmarkError, OutsideFailure
from okn_benchmark.graphs.protocol import BadRequest, negotiate, read_request
from okn_benchmark.graphs.shortnames import GRAPH_PREFIX
from okn_benchmark.sparql.embedded import LARGEST_QUERY, EmbeddedEndpoint, rdf_files, sample_files
from okn_benchmark.sparql.endpoint import SAMPLE
from okn_benchmark.sparql.result import QueryTimeout
from okn_benchmark.sparql.tokens import outline

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

DEFAULT_TIMEOUT_S: Final = 60.0
_ENGINES: Final = 2
_STOP_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Served:
    """A running service. ``base_url`` has no trailing slash: append ``/federation/sparql``."""

    base_url: str

    @property
    def federation_url(self) -> str:
        """The endpoint over all graphs."""
        return f"{self.base_url}/federation/sparql"


class Busy(OutsideFailure):
    """More queries at once than engines, and none of them ended in time."""


class Engines:
    """A few engines over the same files, so that one long query does not hold up the next."""

    def __init__(self, files: Sequence[Path], label: str, timeout_s: float) -> None:
        self._all = [EmbeddedEndpoint(files, label, timeout_s=timeout_s) for _ in range(_ENGINES)]
        self._free: queue.LifoQueue[EmbeddedEndpoint] = queue.LifoQueue()
        self._longest_wait_s = 2 * timeout_s
        for engine in self._all:
            self._free.put(engine)
        self.graphs = self._all[-1].graphs()

    @contextmanager
    def one(self) -> Iterator[EmbeddedEndpoint]:
        """An engine nobody else uses meanwhile. Raises Busy when none comes free."""
        try:
            engine = self._free.get(timeout=self._longest_wait_s)
        except queue.Empty as error:
            raise Busy("Every engine of this service is busy; ask again later.") from error
        try:
            yield engine
        finally:
            self._free.put(engine)

    def close(self) -> None:
        """End every child process."""
        for engine in self._all:
            engine.close()


def application(engines: Engines) -> "Starlette":
    """The ASGI application; it closes ``engines`` when it shuts down."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    names = {iri.removeprefix(GRAPH_PREFIX): iri for iri in engines.graphs if iri.startswith(GRAPH_PREFIX)}

    async def sparql(request: "Request") -> "Response":
        shortname = request.path_params["shortname"]
        if shortname != "federation" and shortname not in names:
            there = ", ".join(["federation", *names])
            return PlainTextResponse(f"There is no graph {shortname!r} here; there is {there}.\n", 404)
        body = await _body(request)
        if body is None:
            return PlainTextResponse(f"A request of more than {_LARGEST_BODY:,} bytes is refused.\n", 413)
        return await run_in_threadpool(_answer, engines, request, body, names.get(shortname))

    def index(_: "Request") -> "Response":
        lines = ["SPARQL endpoints:", "  /federation/sparql", *(f"  /{name}/sparql" for name in names)]
        return PlainTextResponse("\n".join(lines) + "\n")

    @asynccontextmanager
    async def lifespan(_: "Starlette") -> AsyncIterator[None]:
        yield
        engines.close()

    routes = [Route("/", index), Route("/{shortname}/sparql", sparql, methods=["GET", "POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


_LARGEST_BODY: Final = 4 * LARGEST_QUERY


async def _body(request: "Request") -> bytes | None:
    """The request body, or None where it is larger than any query."""
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > _LARGEST_BODY:
            return None
    return bytes(received)


def _answer(engines: Engines, request: "Request", body: bytes, scope: str | None) -> "Response":
    from starlette.responses import PlainTextResponse, Response

    try:
        content_type = request.headers.get("content-type", "")
        asked = read_request(request.method, content_type, request.url.query, body)
        form = outline(asked.query).form
        media_type, name = negotiate(request.headers.get("accept", ""), form)
        triples = form in ("CONSTRUCT", "DESCRIBE")
        with engines.one() as engine:
            found = engine.ask(
                asked.query,
                result_format="json" if triples else name,
                triples_format=name if triples else "turtle",
                scope=scope,
                default_graphs=asked.default_graphs,
                named_graphs=asked.named_graphs,
            )
    except BadRequest as error:
        return PlainTextResponse(error.message + "\n", error.status)
    except OknBenchmarkError as error:
        return PlainTextResponse(error.message + "\n", _status(error))
    return Response(found, media_type=media_type)


def _status(error: OknBenchmarkError) -> int:
    match error:
        case InputError():
            return 400
        case QueryTimeout():
            return 408  # not 503, which tells a client to send the same slow query again
        case Busy():
            return 503
        case _:
            return 500


@contextmanager
def serve_graphs(
    files: Sequence[Path] | None = None, port: int = 0, timeout_s: float = DEFAULT_TIMEOUT_S
) -> Iterator[Served]:
    """Serve ``files`` (the sample graphs by default) from a background thread while the context is open.

    Port 0 takes a free one. Only this machine can connect.

    Raises:
        InputError: the files cannot be loaded.
        OutsideFailure: the port is taken.
    """
    server, listener, served = _prepared(files, port, timeout_s)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.should_exit = True
        thread.join(_STOP_TIMEOUT_S)


def run_graphs(files: Sequence[Path] | None, port: int, timeout_s: float, ready: Callable[[Served], None]) -> None:
    """Serve until interrupted; ``ready`` hears the address first. Raises like ``serve_graphs``."""
    server, listener, served = _prepared(files, port, timeout_s)
    ready(served)
    server.run(sockets=[listener])


def _prepared(
    files: Sequence[Path] | None, port: int, timeout_s: float
) -> "tuple[uvicorn.Server, socket.socket, Served]":
    import uvicorn

    chosen = sample_files() if files is None else tuple(file for path in files for file in rdf_files(path))
    if not chosen:
        raise InputError("No sample graphs came with this installation.", hint="Give --file with RDF of your own.")
    listener = _listener(port)
    try:
        engines = Engines(chosen, SAMPLE if files is None else "these files", timeout_s)
    except OknBenchmarkError:
        listener.close()
        raise
    config = uvicorn.Config(
        application(engines), log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=2
    )
    return uvicorn.Server(config), listener, Served(f"http://127.0.0.1:{listener.getsockname()[1]}")


def _listener(port: int) -> socket.socket:
    """Bound and listening before the server runs: whoever gets the address can connect at once."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise OutsideFailure(f"Port {port} cannot be used: {reason}.", hint="Give another --port, or 0.") from error
    return listener
