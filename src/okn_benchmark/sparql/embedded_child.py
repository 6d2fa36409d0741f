"""The process that holds the RDF store and runs queries: pyoxigraph lives here and nowhere else.

An embedded query cannot be interrupted, so it runs in a process that can be killed. Wire: one JSON object per line on
stdin; on stdout a JSON line ``{"ok": …, "size": n}`` and then n bytes. The first reply tells what was loaded. When
stdin closes, the parent is gone and this process ends in the middle of whatever it is doing.
"""

import contextlib
import io
import json
import os
import queue
import resource
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyoxigraph as ox

if TYPE_CHECKING:
    from typing_extensions import Buffer

_RESULTS: Final = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}
_TRIPLES: Final = {
    "turtle": ox.RdfFormat.TURTLE,
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}


class TooLarge(Exception):
    """The result passed the size the parent allows."""


class Bounded(io.BytesIO):
    """A byte sink with a limit: a result is stopped while it is written, not after it filled the memory."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def write(self, data: "Buffer", /) -> int:
        """Keep ``data`` or raise ``TooLarge``."""
        written = super().write(data)
        if self.tell() > self.limit:
            raise TooLarge
        return written


class Shelf:
    """The whole store, and on demand a store of one named graph alone, as the endpoint of a single graph has it."""

    def __init__(self, files: list[str]) -> None:
        self.whole = ox.Store()
        for name in files:
            load(self.whole, Path(name))
        self.single: dict[str, ox.Store] = {}

    def scoped(self, graph: str | None) -> ox.Store:
        """The store a request asks for."""
        if graph is None:
            return self.whole
        if graph not in self.single:
            store, node = ox.Store(), ox.NamedNode(graph)
            store.bulk_extend(self.whole.quads_for_pattern(None, None, None, node))
            self.single[graph] = store
        return self.single[graph]

    def graphs(self) -> list[str]:
        """IRIs of the named graphs, sorted."""
        return sorted(node.value for node in self.whole.named_graphs() if isinstance(node, ox.NamedNode))


def load(store: ox.Store, path: Path) -> None:
    """Add one RDF file; the format goes by the file name. Raises ValueError, OSError or SyntaxError."""
    kind = ox.RdfFormat.from_extension(path.suffix.removeprefix(".").lower())
    if kind is None:
        raise ValueError(f"{path.name} has no RDF file ending (ttl, trig, nt, nq, rdf, jsonld …)")
    store.bulk_load(path=str(path), format=kind)


def syntax_error(query: str) -> str | None:
    """The engine's complaint about a query text, or None where it parses. Nothing is run."""
    try:
        ox.Store().query(query)
    except (SyntaxError, RuntimeError, ValueError) as error:
        return str(error)
    return None


def answer(shelf: Shelf, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Run one request; every failure of a query is a reply with a ``reason``."""
    if request.get("parse_only"):
        return {"ok": True, "complaint": syntax_error(request["query"])}, b""
    options: dict[str, Any] = {"use_default_graph_as_union": not request["has_dataset"]}
    if request.get("default_graphs") or request.get("named_graphs"):
        options = {
            "default_graph": [ox.NamedNode(name) for name in request["default_graphs"]],
            "named_graphs": [ox.NamedNode(name) for name in request["named_graphs"]],
        }
    sink = Bounded(request["limit"])
    try:
        found = shelf.scoped(request.get("scope")).query(request["query"], **options)
        if isinstance(found, ox.QueryTriples):
            found.serialize(output=sink, format=_TRIPLES[request["triples_format"]])
        else:
            found.serialize(output=sink, format=_RESULTS[request["format"]])
    except SyntaxError as error:
        return {"ok": False, "kind": "syntax", "reason": str(error)}, b""
    except TooLarge:
        return {"ok": False, "kind": "too_large", "reason": f"more than {request['limit']:,} bytes"}, b""
    except (RuntimeError, ValueError, OSError) as error:
        return {"ok": False, "kind": "evaluation", "reason": str(error)}, b""
    return {"ok": True}, sink.getvalue()


def _send(head: dict[str, Any], body: bytes = b"") -> None:
    out = sys.stdout.buffer
    out.write(json.dumps({**head, "size": len(body)}).encode() + b"\n" + body)
    out.flush()


def _listen(inbox: "queue.SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        inbox.put(line)
    os._exit(0)  # the parent closed or died; a running query would keep a core busy for nobody


def main() -> None:
    """Load, say so, then answer until stdin closes. The first line names files and the memory bound in bytes."""
    start = json.loads(sys.stdin.buffer.readline())
    with contextlib.suppress(ValueError, OSError):  # macOS does not know this bound
        resource.setrlimit(resource.RLIMIT_AS, (start["memory"], start["memory"]))
    try:
        shelf = Shelf(start["files"])
    except (SyntaxError, ValueError, OSError, RuntimeError) as error:
        _send({"ok": False, "reason": str(error)})
        return
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True).start()
    # No file is opened and no connection made from here on: SERVICE fails even if a query hides it from the parent.
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    _send({"ok": True, "graphs": shelf.graphs(), "quads": len(shelf.whole)})
    while True:
        _send(*answer(shelf, json.loads(inbox.get())))


if __name__ == "__main__":
    main()
