"""Runs roots made by hand: the files an episode leaves, without an episode."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from okn_benchmark.jsonio import JsonObject, digest, pretty
from okn_benchmark.runs.identity import Identity
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import calls_json
from okn_benchmark.runs.shapes import (
    AttemptHeader,
    Call,
    Calls,
    ConditionRecord,
    Episode,
    Metrics,
    Tokens,
    TruthRecord,
)
from okn_benchmark.runs.store import DEFAULT_WRITE, EvidenceWriter, Write

CLOCK = "2026-11-30T12:00:00Z"
QUERY = "SELECT ?thing ?amount WHERE { ?thing <http://example.org/amount> ?amount } ORDER BY ?thing"
ROWS = (("http://example.org/a", "1"), ("http://example.org/b", "2"), ("http://example.org/c", "3"))
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def quick_put(path: Path, data: bytes) -> None:
    """The real writer without its flush to the disk, which these tests do not outlive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.0123456789ab.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def identity(**changes: Any) -> Identity:
    """A full-toolkit condition with the graph named, with some fields changed."""
    settings: dict[str, Any] = {
        "level": "all-tools",
        "kg_hint": "tags",
        "server": "demo",
        "model": "claude-opus-5",
        "effort": "high",
        "tier": "easy",
        "repeat": 3,
        "host": "claude",
        "agent_timeout_s": 900.0,
        "call_timeout_s": 120.0,
        "protocol_negotiation": "legacy",
        "tool_search": True,
    }
    return Identity(**(settings | changes))


def results(rows: Iterable[tuple[str, str]] = ROWS) -> JsonObject:
    """W3C JSON of a table of things and whole numbers."""
    return {
        "head": {"vars": ["thing", "amount"]},
        "results": {
            "bindings": [
                {
                    "thing": {"type": "uri", "value": thing},
                    "amount": {"type": "literal", "value": amount, "datatype": XSD_INTEGER},
                }
                for thing, amount in rows
            ]
        },
    }


def truth(rows: Iterable[tuple[str, str]] = ROWS, **changes: Any) -> TruthRecord:
    """One key's rows."""
    settings: dict[str, Any] = {
        "endpoint": "sample",
        "engine": "oxigraph 0.5.13",
        "query": QUERY,
        "fingerprint": hashlib.sha256(QUERY.encode()).hexdigest(),
        "results": results(rows),
        "retrieved_at": CLOCK,
        "elapsed_s": 0.25,
        "tier": "easy",
        "tags": ("demo-graph",),
    }
    return TruthRecord(**(settings | changes))


def answer(rows: Iterable[tuple[str, str]] = ROWS, header: str = "thing,amount") -> bytes:
    """The CSV an agent would hand in."""
    return "".join(f"{line}\n" for line in (header, *(",".join(row) for row in rows))).encode()


def episode(**changes: Any) -> Episode:
    """An episode that ended well."""
    settings: dict[str, Any] = {
        "host": "claude",
        "host_version": "2.1.332",
        "exit_code": 0,
        "wall_s": 12.5,
        "timed_out": False,
        "started_at": CLOCK,
        "model_requested": "claude-opus-5",
        "model_resolved": "claude-opus-5",
        "effort": "high",
        "init": {
            "version": "2.1.332",
            "tools": ["ToolSearch", "mcp__okn__query", "mcp__okn__submit_csv"],
            "mcp_servers": {"okn": "connected"},
            "skills": [],
            "server_in_turn_1": True,
        },
        "final": {"subtype": "success", "is_error": False, "api_error_status": None, "num_turns": 3, "result": "Done."},
        "turns": 3,
        "tokens": Tokens(input=100, output=50, cache_read=1000, cache_write=200),
        "usage_by_model": {"claude-opus-5": {"input": 100, "output": 50}},
        "cost_usd": 0.02,
        "api_retries": 0,
        "api_retry_s": 0.0,
        "host_clipped": 0,
        "protocol_era": "2025",
        "protocol_version": "2025-11-25",
    }
    return Episode(**(settings | changes))


def calls(*, submissions: int = 1, **metrics: Any) -> Calls:
    """One query and, unless there was none, one submission."""
    query = Call(
        seq=1,
        tool="query",
        arguments={"query": QUERY},
        started_at=CLOCK,
        elapsed_s=0.4,
        ok=True,
        is_query=True,
        response_chars=120,
        sha256=digest("rows"),
    )
    submit = Call(
        seq=2, tool="submit_csv", arguments={"csv": "…"}, started_at=CLOCK, elapsed_s=0.001, ok=True, response_chars=20
    )
    made = (query, submit) if submissions else (query,)
    settings: dict[str, Any] = {
        "tools_called": tuple(call.tool for call in made),
        "tool_counts": {call.tool: 1 for call in made},
        "queries_ok": 1,
        "server_s": 0.4,
        "definition_chars": 900,
        "instructions_chars": 300,
        "response_chars": 140,
        "submissions_accepted": submissions,
    }
    return Calls(calls=made, metrics=Metrics(**(settings | metrics)))


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What one attempt leaves on disk. None: that file is not there. ``raw``: name → bytes written as they are."""

    answer: bytes | None = field(default_factory=answer)
    episode: Episode | None = field(default_factory=episode)
    calls: Calls | None = field(default_factory=calls)
    header: bool = True
    rejected: tuple[bytes, ...] = ()
    raw: Mapping[str, bytes] = field(default_factory=dict)


def write_truth(root: RunsRoot, record: str, key: TruthRecord | None = None, put: Write = DEFAULT_WRITE) -> None:
    """The key of one record, as both files."""
    EvidenceWriter(root, put).truth(record, key or truth(), answer())


def write_attempt(
    root: RunsRoot,
    record: str,
    condition: str,
    number: int,
    attempt: Attempt,
    who: Identity,
    put: Write = DEFAULT_WRITE,
) -> None:
    """The files of one attempt in the order an episode writes them."""
    writer, paths = EvidenceWriter(root, put), root.attempt(record, condition, number)
    prompt = f"What is the amount of each thing in {record}?\n"
    if attempt.header:
        parts = {"prompt": digest(prompt), "flags": digest({}), "proxy": digest({})}
        header = AttemptHeader(
            record=record,
            condition=condition,
            attempt=number,
            started_at=CLOCK,
            identity_digest=who.digest(),
            identity=who.to_json(),
            resume_digest=digest(parts),
            resume_parts=parts,
            host=who.host,
            host_version="2.1.332",
        )
        writer.header(paths, header)
    writer.write(paths.prompt, prompt)
    writer.write(paths.command, "claude -p --output-format stream-json\n")
    for index, data in enumerate(attempt.rejected, start=1):
        writer.write(paths.folder / f"rejected-{index}.csv", data)
    if attempt.answer is not None:
        writer.write(paths.answer, attempt.answer)
    if attempt.calls is not None:
        writer.write(paths.calls, pretty(calls_json(attempt.calls)))
    for name, data in attempt.raw.items():
        writer.write(paths.folder / name, data)
    if attempt.episode is not None:
        writer.episode(paths, attempt.episode)


def meta(who: Identity, **changes: Any) -> JsonObject:
    """The evidence part of a condition record."""
    settings: JsonObject = {
        "identity": who.to_json(),
        "corpus": {"source": "corpus", "commit": None, "dirty": None},
        "endpoint": "sample",
        "engine": "oxigraph 0.5.13",
        "scoring": {"significant_digits": 6, "numeric_rel_tol": 5e-4},
        "model_resolved": who.model,
        "host_versions": ["2.1.332"],
        "excluded": [{"id": record, "reason": "excluded by --exclude"} for record in who.excluded],
    }
    return settings | changes


def write_condition(
    root: RunsRoot, condition: str, who: Identity, records: Iterable[str], put: Write = DEFAULT_WRITE, **changes: Any
) -> None:
    """A condition record whose questions are listed and not judged yet."""
    record = ConditionRecord(name=condition, meta=meta(who, **changes), questions={name: {} for name in records})
    EvidenceWriter(root, put).condition(record)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder: relative path to bytes."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
