"""A study with everything in it that a report has to say: misses, traps, repeats, blocks, drift, a rehearsal.

    python -m tests.troubled FOLDER

Seven conditions over twelve questions, three attempts each, on disk and judged. Seeded: the same bytes every time.
"""

import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from okn_benchmark.jobs.pages import html_of
from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.runs.identity import Identity
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.shapes import Call, Calls, Tokens
from tests.roots import (
    QUERY,
    Attempt,
    answer,
    calls,
    episode,
    identity,
    quick_put,
    results,
    truth,
    write_attempt,
    write_condition,
    write_truth,
)

SCRIPT = "5c" * 32
SERVER = "mcp-proto-okn"
CONTROL = "sparql-only__kg-named"
FULL = f"{SERVER}-all-tools__kg-named"
ABLATED = f"{SERVER}-all-tools__kg-named__without-get_descendants+lookup_label"
UNNAMED = f"{SERVER}-all-tools__kg-not-named"
BOTH = f"{SERVER}-all-tools__kg-not-named__without-get_descendants+lookup_label"
REHEARSED = f"{SERVER}-all-tools__kg-named__rehearsal"
UNSOUND = f"{SERVER}-all-tools__kg-named__older-agent"
TOOLS = ("get_descendants", "lookup_label")

WHO: dict[str, Identity] = {
    CONTROL: identity(level="sparql-only", server=None),
    FULL: identity(server=SERVER),
    ABLATED: identity(server=SERVER, withheld=TOOLS),
    UNNAMED: identity(server=SERVER, kg_hint="none"),
    BOTH: identity(server=SERVER, kg_hint="none", withheld=TOOLS),
    REHEARSED: identity(server=SERVER),
    UNSOUND: identity(server=SERVER),
}
LEVELS = {CONTROL: 0.4, FULL: 0.9, ABLATED: 0.6, UNNAMED: 0.75, BOTH: 0.35, REHEARSED: 0.5, UNSOUND: 0.85}
GRAPHS = ("spoke-okn", "climatepub4-kg", "sawgraph", "wildlifekn", "dreamkg", "fiokg", "scales", "ruralkg", "gene-kg")
NAMES = (
    "approved_drugs_by_disease", "counties_above_threshold", "descendants_of_a_disease", "expressed_in_liver_orthologs",
    "flood_claims_per_capita", "genes_without_a_pathway", "highest_ratio_of_cases", "inspected_sites_near_wells",
    "joined_through_the_taxon", "known_sources_of_a_publication", "latest_year_of_each_station", "missing_coordinates",
)  # fmt: skip
RECORDS = tuple(f"{name}_easy" for name in NAMES)
DRIFTED, RECUT = RECORDS[4], RECORDS[8]
ROWS = tuple((f"http://example.org/thing/{n:02d}", str(17 * n % 90 + 3)) for n in range(9))
TRAPPED = tuple((thing, f"{int(amount) + 100}") for thing, amount in ROWS)


def _talk(rng: random.Random, rows: int) -> bytes:
    words = ("the", "graph", "joins", "counties", "through", "their", "FIPS", "code", "so", "I", "count", "rows")
    events: list[dict[str, Any]] = []
    for turn in range(rng.randint(3, 6)):
        said = " ".join(rng.choice(words) for _ in range(rng.randint(8, 60)))
        call = {"type": "tool_use", "name": "mcp__okn__run_query", "input": {"query": QUERY}}
        block = [{"type": "text", "text": f"{turn + 1}. {said}."}, call]
        events.append({"type": "assistant", "message": {"content": block}})
        result = {"type": "tool_result", "content": [{"type": "text", "text": answer(ROWS[:rows]).decode()}]}
        events.append({"type": "user", "message": {"content": [result]}})
    return "\n".join(map(json.dumps, events)).encode()


def _calls(rng: random.Random, *, soft: bool, submitted: bool) -> Calls:
    made, clock = [], 0.0
    for seq in range(1, rng.randint(3, 9)):
        took = round(rng.lognormvariate(0.2, 0.8), 2)
        ok = rng.random() > 0.12
        made.append(
            Call(
                seq=seq,
                tool=rng.choice(("get_schema", "run_query", "run_query", "lookup_label")),
                arguments={"query": QUERY},
                started_at=f"2026-11-30T12:{int(clock) // 60:02d}:{clock % 60:06.3f}Z",
                elapsed_s=took,
                ok=ok,
                error=None if ok else "malformed query: expected }} at line 4",
                soft_error="503 behind a 200" if soft and seq == 2 else None,
                is_query=True,
                response_chars=rng.randint(80, 9_000),
            )
        )
        clock += took + rng.uniform(1, 9)
    queries = sum(c.ok for c in made)
    metrics = calls(
        submissions=int(submitted),
        tools_called=tuple(c.tool for c in made),
        queries_ok=queries,
        queries_errored=len(made) - queries,
        server_s=round(sum(c.elapsed_s or 0 for c in made), 2),
        upstream_soft_errors={"run_query": 1} if soft else {},
    ).metrics
    return Calls(calls=tuple(made), metrics=metrics)


def _tokens(rng: random.Random) -> Tokens:
    cached = {"cache_read": rng.randint(9_000, 250_000), "cache_write": rng.randint(2_000, 30_000)}
    return Tokens(input=rng.randint(80, 900), output=rng.randint(900, 9_000), **cached)


def _attempt(rng: random.Random, name: str, right: bool, kind: float) -> Attempt:
    rows = (
        ROWS
        if right
        else ROWS[: rng.randint(3, 8)]
        if kind < 0.5
        else TRAPPED
        if kind < 0.7
        else ROWS[2:] + TRAPPED[:2]
    )
    wall = round(rng.lognormvariate(4.2 if name == CONTROL else 3.7, 0.5), 1)
    seen = episode(
        wall_s=wall,
        turns=rng.randint(4, 22),
        tokens=_tokens(rng),
        cost_usd=round(rng.uniform(0.05, 0.9), 4),
        host_clipped=1 if name == UNNAMED and kind < 0.2 else 0,
        api_retry_s=12.5 if kind > 0.97 else 0.0,
        withheld_reached=("get_descendants",) if name == ABLATED and kind < 0.3 else (),
        model_resolved="claude-scripted" if name == REHEARSED else "claude-opus-5",
    )
    made = Attempt(
        answer=answer(rows),
        calls=_calls(rng, soft=name == FULL and kind < 0.1, submitted=True),
        episode=seen,
        raw={"transcript.jsonl": _talk(rng, len(rows))},
    )
    if right or kind < 0.85:
        return made
    quiet = replace(made, answer=None, calls=_calls(rng, soft=False, submitted=False))
    if kind < 0.92:
        return replace(
            quiet, episode=replace(seen, timed_out=True, exit_code=None, signal=15, wall_s=900.1, final=None)
        )
    return quiet


def _blocked(reason: str) -> Attempt:
    limit = {"subtype": "success", "is_error": True, "api_error_status": 429, "result": reason}
    start = calls(submissions=0, startup_error=reason, tools_called=(), tool_counts={}, queries_ok=0)
    if "limit" in reason:
        return Attempt(answer=None, calls=calls(submissions=0), episode=episode(final=limit))
    return Attempt(answer=None, calls=start)


def build(folder: Path) -> RunsRoot:
    """The root with every page."""
    rng, root = random.Random(11), RunsRoot(folder)
    for place, record in enumerate(RECORDS):
        tags = (GRAPHS[place % len(GRAPHS)], *([GRAPHS[(place + 1) % len(GRAPHS)]] if place % 4 == 0 else []))
        write_truth(root, record, truth(ROWS, tags=tags, traps={"string-order": results(TRAPPED)}), quick_put)
        ease = rng.uniform(-0.35, 0.35)
        for name, who in WHO.items():
            for number in (1, 2, 3):
                made = _attempt(rng, name, rng.random() < LEVELS[name] + ease, rng.random())
                if (name, place) == (UNNAMED, 5) or (name, place, number) == (FULL, 2, 1):
                    made = _blocked("the server exited with status 1: no module named okn_graphs")
                elif name == CONTROL and place == 10 and number > 1:
                    made = _blocked("You've hit your session limit")
                write_attempt(root, record, name, number, made, who, quick_put)
    for name, who in WHO.items():
        write_condition(root, name, who, RECORDS, quick_put, **_meta(name))
    (folder / "declared.toml").write_text(
        'hypotheses = ["the hierarchy tools raise exact answers"]\n'
        'declared = ["ablation", "tools"]\nprimary = "exact"\n'
        'margin = 0.05\nstop_rule = "three attempts of every question, no looking in between"\n',
        encoding="utf-8",
    )
    rescore(root, regenerate)
    root.html.write_text(html_of(read_report(root.path)), encoding="utf-8")
    return root


def _meta(name: str) -> dict[str, Any]:
    server = None if name == CONTROL else {"name": SERVER, "version": "0.9.1", "tools": {"run_query": "ab" * 32}}
    told: dict[str, Any] = {
        "corpus": {"source": "git+https://example.org/corpus.git", "commit": "0123abcd4567", "dirty": name == BOTH},
        "endpoint": "https://example.org/federation/sparql",
        "server_info": server,
        "audit": {"digest": "sha256:" + "7a" * 32, "clean": True, "findings": []},
    }
    if name == UNSOUND:
        told["audit"] |= {"clean": False, "findings": ["the tool Bash is offered", "a skill named pdf is loaded"]}
        told["server_fault"] = "it did not answer within 30 s"
        told["label"] = "older-agent"
    if name == REHEARSED:
        told |= {"model_script": SCRIPT, "label": "rehearsal"}
    if name in (FULL, ABLATED):
        changed = {"state": "drifted", "rows_then": 9, "rows_now": 11, "lost": 1, "gained": 3}
        recut = {"state": "tie-unstable", "rows_then": 9, "rows_now": 9, "lost": 1, "gained": 1}
        told["drift"] = {"start": {RECUT: recut}, "end": {DRIFTED: changed, RECUT: recut}}
    if name == CONTROL:
        told["drift"] = {"start": {}, "end": {}}
    return told


if __name__ == "__main__":
    print(build(Path(sys.argv[1])).html)
