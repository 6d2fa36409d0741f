"""The two ways in: stdin and stdout, or streamable HTTP on loopback."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.sample_server.server import build_server, open_graphs

if TYPE_CHECKING:
    import uvicorn

    from okn_benchmark.sparql.result import Endpoint

PATH: Final = "/mcp"
_STOP_TIMEOUT_S: Final = 10.0


def run_stdio(graphs_url: str | None = None, log: Path | None = None) -> None:
    """Serve until stdin closes or an interrupt comes; the process ends with it."""
    with open_graphs(graphs_url) as endpoint:

        def leave(*_: object) -> None:
            endpoint.close()
            os._exit(130)  # the thread that waits for a line of stdin would be waited for

        signal.signal(signal.SIGINT, leave)
        build_server(endpoint, log).run("stdio")


def run_http(port: int, graphs_url: str | None, log: Path | None, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; ``ready`` hears the URL first.

    Raises:
        OutsideFailure: the port is taken.
    """
    with open_graphs(graphs_url) as endpoint:
        server, listener, url = _prepared(endpoint, port, log)
        ready(url)
        server.run(sockets=[listener])


@contextmanager
def serve_http(port: int = 0, graphs_url: str | None = None, log: Path | None = None) -> Iterator[str]:
    """Serve from a background thread while the context is open; gives the URL. Raises like ``run_http``."""
    with open_graphs(graphs_url) as endpoint:
        server, listener, url = _prepared(endpoint, port, log)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(_STOP_TIMEOUT_S)


def _prepared(endpoint: "Endpoint", port: int, log: Path | None) -> "tuple[uvicorn.Server, socket.socket, str]":
    import uvicorn

    app = build_server(endpoint, log).streamable_http_app(streamable_http_path=PATH)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise OutsideFailure(
            f"Port {port} cannot be used: {error.strerror}.", hint="Give another one, or 0."
        ) from error
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    return uvicorn.Server(config), listener, f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
