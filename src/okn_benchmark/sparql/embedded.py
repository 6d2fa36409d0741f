"""SPARQL over RDF files inside this program: an engine in a child process that is killed when time is up.

The default graph is the union of all graphs unless the query names its own with FROM: with a union the engine would
ignore FROM and return rows of every graph.
"""

import hashlib
import json
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

from okn_benchmark.errors import InputError
from okn_benchmark.sparql.result import EndpointFailure, QueryRejected, QueryTimeout, Result, UnreadableData, legible
from okn_benchmark.sparql.results import read_results
from okn_benchmark.sparql.tokens import expand_dotted, line_of, outline

LARGEST_RESULT: Final = 64 * 1024 * 1024
MEMORY_BOUND: Final = 8 * 1024**3
LARGEST_QUERY: Final = 1_000_000
_LOAD_TIMEOUT_S: Final = 300.0
_ENDINGS: Final = (".trig", ".ttl", ".nt", ".nq", ".rdf", ".jsonld", ".n3")
_SERVICE: Final = (
    "SERVICE (line {line}) asks another endpoint, which the embedded engine does not do: it never uses the network."
)


def sample_files() -> tuple[Path, ...]:
    """The sample graphs that come with this package, by listing."""
    return tuple(sorted((Path(__file__).parent.parent / "graphs" / "data").glob("*.trig")))


def rdf_files(path: Path) -> tuple[Path, ...]:
    """``path`` itself, or the RDF files of a folder, sorted.

    Raises:
        InputError: nothing there, or no RDF file in it.
    """
    if path.is_file():
        return (path,)
    found = tuple(sorted(p for p in path.iterdir() if p.suffix.lower() in _ENDINGS)) if path.is_dir() else ()
    if not found:
        what = "holds no RDF file" if path.is_dir() else "is not there"
        raise InputError(
            f"The endpoint {path} {what}.",
            hint="Give an http(s) URL, a path to RDF (" + " ".join(_ENDINGS) + "), or sample.",
        )
    return found


def content_name(label: str, files: Sequence[Path]) -> str:
    """``label@<12 hex>``: the same name for the same triples' text, wherever the files lie."""
    whole = hashlib.sha256()
    try:
        for path in files:
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    return f"{label}@{whole.hexdigest()[:12]}"


class EmbeddedEndpoint:
    """An ``Endpoint`` over files. The child starts with the first query and again after it had to be killed."""

    url: None = None

    def __init__(self, files: Sequence[Path], label: str, *, timeout_s: float, memory: int = MEMORY_BOUND) -> None:
        self.files = tuple(files)
        self.timeout_s = timeout_s
        self.memory = memory
        self._label = label
        self._name: str | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.RLock()
        self._loaded: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The label and a digest of the files' bytes: edited data is another endpoint."""
        if self._name is None:
            self._name = content_name(self._label, self.files)
        return self._name

    @property
    def engine(self) -> str:
        """``pyoxigraph <version>``."""
        return f"pyoxigraph {version('pyoxigraph')}"

    def graphs(self) -> tuple[str, ...]:
        """IRIs of the named graphs, sorted; starts the child."""
        with self._turn:
            self._start()
            return tuple(self._loaded["graphs"])

    def select(self, query: str) -> Result:
        """Ask; the result is read from the engine's JSON."""
        started = time.monotonic()
        body = self.ask(query)
        elapsed_s = time.monotonic() - started
        document = json.loads(body) if body.startswith(b"{") else None
        table = read_results(document, "The results of this query")
        return Result(table=table, document=document or {}, elapsed_s=elapsed_s)

    def ask(
        self,
        query: str,
        *,
        result_format: str = "json",
        triples_format: str = "turtle",
        scope: str | None = None,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> bytes:
        """The serialized result of any query form. ``scope`` limits the data to one named graph.

        Raises:
            QueryRejected: a syntax error, SERVICE, or something this engine cannot evaluate.
            QueryTimeout: the child was killed at the time limit.
            EndpointFailure: the result is too large, or the child ran out of memory.
        """
        request = {
            **_vetted(query),
            "format": result_format,
            "triples_format": triples_format,
            "scope": scope,
            "default_graphs": list(default_graphs),
            "named_graphs": list(named_graphs),
            "limit": LARGEST_RESULT,
        }
        with self._turn:
            self._start()
            head, body = self._exchange(request, self.timeout_s)
        if head["ok"]:
            return body
        reason = legible(head["reason"], 200)
        if head["kind"] == "too_large":
            raise EndpointFailure(f"The result has {reason}.", hint="Add a LIMIT or ask for fewer columns.")
        what = "is not valid SPARQL" if head["kind"] == "syntax" else "cannot be evaluated by this engine"
        raise QueryRejected(f"The query {what}: {reason}.")

    def complaint(self, query: str) -> str | None:
        """What the engine's parser says against a query text, or None; nothing is run.

        Raises:
            EndpointFailure: the parser did not survive it.
        """
        with self._turn:
            self._start()
            head, _ = self._exchange({"parse_only": True, "query": expand_dotted(query)}, self.timeout_s)
        found = head["complaint"]
        return None if found is None else str(found)

    def close(self) -> None:
        """End the child; a query of another thread fails then."""
        child = self._child
        if child is not None:
            child.kill()
        with self._turn:
            if child is not None and child is self._child:
                self._child = None
                child.wait()
                for pipe in (child.stdin, child.stdout):
                    assert pipe is not None
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _start(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        self.close()
        argv = [sys.executable, "-P", "-m", "okn_benchmark.sparql.embedded_child"]
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        loading = {"files": [str(path) for path in self.files], "memory": self.memory}
        head, _ = self._exchange(loading, _LOAD_TIMEOUT_S)
        if not head["ok"]:
            self.close()
            raise UnreadableData(f"The RDF behind {self._label} cannot be loaded: {legible(head['reason'])}.")
        self._loaded = head

    def _exchange(self, request: dict[str, Any], timeout_s: float) -> tuple[dict[str, Any], bytes]:
        child = self._child
        assert child is not None
        assert child.stdin is not None
        deadline = time.monotonic() + timeout_s
        received = bytearray()
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            while (end := received.find(b"\n")) < 0:
                received += _more(child, deadline)
            head = json.loads(received[:end])
            del received[: end + 1]
            while len(received) < head["size"]:
                received += _more(child, deadline)
        except TimeoutError as error:
            self.close()
            raise QueryTimeout(
                f"The query was stopped after {timeout_s:g} s.", hint="Narrow it, or raise --timeout."
            ) from error
        except (EOFError, BrokenPipeError) as error:
            self.close()
            raise EndpointFailure(
                "The embedded engine ended in the middle of a query: it needed more memory than its bound of "
                f"{self.memory // 1024**2:,} MiB, or the query is nested too deeply.",
                hint="Narrow or simplify the query.",
            ) from error
        return head, bytes(received)


def _more(child: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert child.stdout is not None
    left = deadline - time.monotonic()
    if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
        raise TimeoutError
    chunk = child.stdout.read(1 << 16)
    if not chunk:
        raise EOFError
    return bytes(chunk)


def _vetted(query: str) -> dict[str, Any]:
    """The query as the engine gets it, and whether it brings its own dataset."""
    if len(query) > LARGEST_QUERY:
        raise QueryRejected(f"A query of {len(query):,} characters is refused; the limit is {LARGEST_QUERY:,}.")
    seen = outline(query)
    if seen.service is not None:
        raise QueryRejected(
            _SERVICE.format(line=line_of(query, seen.service)), hint="Query the graphs with GRAPH blocks instead."
        )
    return {"query": expand_dotted(query), "has_dataset": seen.has_dataset}
