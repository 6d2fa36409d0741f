"""Whole sweeps without an agent program: a host that writes an episode's files, and writers that stop half-way."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from okn_benchmark.host.episode import EpisodePlan, Event, Host, Watch
from okn_benchmark.jobs.prepare import Sweep, prepare
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.run import OpenHost
from okn_benchmark.jsonio import JsonObject, line, pretty
from okn_benchmark.reference.cache import Cache
from okn_benchmark.runs.readers import calls_json
from okn_benchmark.runs.shapes import Episode
from okn_benchmark.runs.store import Write
from tests.roots import CLOCK, ROWS, answer, calls, episode, truth

ENDPOINT = "http://127.0.0.1:9/sparql"
RECORDS = ("apples_easy", "bears_easy", "crows_easy")
RECORD = """\
#+ summary: >-
#+   List every thing with its amount, as {name} has it, in order of the thing.
#+ tags:
#+   - demo-graph
SELECT ?thing ?amount WHERE {{ ?thing <http://example.org/{name}> ?amount }} ORDER BY ?thing
"""
ANSWERS = {1: answer(), 2: answer(ROWS[:2])}
"""By attempt: the first is right, the second short of a row."""


@dataclass
class CountedWrite:
    """Three moments of every write: before it, half-way through its temporary file, and after it.

    At moment ``stop_at`` (counted from 0; None never) ``stop`` is called and does not return.
    """

    stop_at: int | None = None
    stop: Callable[[], NoReturn] = lambda: os._exit(137)
    moments: int = 0

    def __call__(self, path: Path, data: bytes) -> None:
        self._pass()
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.0123456789ab.tmp")
        temporary.write_bytes(data[: len(data) // 2])
        self._pass()
        temporary.write_bytes(data)
        temporary.replace(path)
        self._pass()

    def _pass(self) -> None:
        if self.moments == self.stop_at:
            self.stop()
        self.moments += 1


@dataclass(frozen=True)
class PaperHost:
    """Writes the files an episode leaves, in the order it leaves them, and notes each episode in ``journal``."""

    put: Write
    journal: Path
    endings: Mapping[str, str] = field(default_factory=dict)
    """``<record> <attempt folder>`` of the episodes that are blocked or timed out."""
    name: str = "oracle"

    def version(self) -> str | None:
        return "1"

    def argv(self, plan: EpisodePlan) -> list[str]:
        return ["paper", "--log", str(plan.attempt_dir)]

    def flags(self, plan: EpisodePlan) -> JsonObject:
        return {"host": self.name, "agent_timeout_s": plan.agent_timeout_s}

    def variables(self, plan: EpisodePlan) -> dict[str, str]:
        del plan
        return {}

    def run(self, plan: EpisodePlan, watch: Watch) -> Episode:
        watch(Event(kind="connected"))
        with self.journal.open("a", encoding="utf-8") as stream:
            stream.write(f"{plan.record_id} {plan.attempt_dir.name}\n")
        folder, number = plan.attempt_dir, int(plan.attempt_dir.name.removeprefix("attempt-"))
        ending = self.endings.get(f"{plan.record_id} {plan.attempt_dir.name}")
        seen = calls(startup_error="no such file", submissions=0) if ending == "blocked" else calls()
        self.put(folder / "calls.jsonl", (line({"event": "begin", "at": CLOCK}) + "\n").encode())
        self.put(folder / "transcript.jsonl", (line({"type": "system"}) + "\n").encode())
        if ending is None:
            self.put(folder / "answer.csv", ANSWERS[number])
        self.put(folder / "calls.json", pretty(calls_json(seen)).encode())
        self.put(folder / "agent.json", pretty({"type": "result", "duration_ms": 12_500}).encode())
        return episode(host=self.name, host_version="1", init=None, timed_out=ending == "timeout")


def opener(put: Write, journal: Path, endings: Mapping[str, str] = MappingProxyType({})) -> OpenHost:
    """``opened`` of a sweep whose episodes are on paper."""

    @contextlib.contextmanager
    def opened(request: RunRequest, records: Sequence[Any], profile: object) -> Iterator[Host]:
        del request, records, profile
        yield PaperHost(put, journal, endings)

    return opened


@dataclass(frozen=True)
class Paper:
    """A prepared sweep of three questions, two attempts each."""

    sweep: Sweep

    def into(self, out: Path, **changes: Any) -> Sweep:
        """The same sweep over another root."""
        return replace(self.sweep, request=replace(self.sweep.request, out=out, **changes))

    def altered(self, out: Path, **changes: Any) -> Sweep:
        """Another sweep over the same corpus, prepared anew from a changed request."""
        return prepare(replace(self.sweep.request, out=out, **changes))


def paper_sweep(folder: Path) -> Paper:
    """Prepared by the real ``prepare`` from a corpus and a cache written into ``folder``."""
    corpus, cache = folder / "corpus", folder / "cache"
    corpus.mkdir(parents=True)
    for name in RECORDS:
        (corpus / f"{name}.rq").write_text(RECORD.format(name=name.partition("_")[0]), encoding="utf-8")
    request = RunRequest(
        corpus=str(corpus),
        out=folder / "root",
        level="sparql-only",
        kg_hint="tags",
        endpoint=ENDPOINT,
        cache=cache,
        host="oracle",
        repeat=2,
    )
    from okn_benchmark.corpus.record import fingerprint
    from okn_benchmark.corpus.source import open_corpus

    for record in open_corpus(str(corpus), cache).records:
        key = truth(endpoint=ENDPOINT, query=record.query, fingerprint=fingerprint(record.query), tier=record.tier)
        Cache.at(cache).keep(key, record)
    return Paper(prepare(request))


def settled(root: Path) -> dict[str, Any]:
    """Every file of a root but set-aside evidence, with clocks taken out: relative path to comparable content."""
    out: dict[str, Any] = {}
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        if name.startswith(".replaced/"):
            continue
        out[name] = path.read_bytes()
        if path.name == "attempt.json":
            out[name] = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "started_at"}
        if path.name == "command.txt":
            out[name] = out[name].replace(str(root.resolve()).encode(), b"ROOT")
    return out
