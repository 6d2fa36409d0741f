"""A root of 540 episodes: how long ``report`` takes as a whole process, and how large its page is.

    uv run python perf/bench_report.py [--episodes 540] [--keep DIR]

Budgets: markdown at most 2 s, HTML at most 10 s and 5 MB.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import roots

from okn_benchmark.jobs.report import regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.shapes import Call

MARKDOWN_S, HTML_S, HTML_BYTES = 2.0, 10.0, 5_000_000
CONDITIONS = 5


def words(rng: random.Random, count: int) -> str:
    """Prose of about the right length; nobody reads it."""
    return " ".join(
        rng.choice(("graph", "county", "measure", "joined", "schema", "label", "rows")) for _ in range(count)
    )


def transcript(rng: random.Random) -> bytes:
    """Some 40 events of the size an agent leaves: about 80 kB."""
    lines = []
    for turn in range(20):
        call = {"type": "tool_use", "name": "mcp__okn__query", "input": {"query": roots.QUERY + words(rng, 40)}}
        said = {"type": "text", "text": words(rng, 60)}
        lines.append({"type": "assistant", "message": {"id": f"m{turn}", "content": [said, call]}})
        result = {"type": "tool_result", "content": [{"type": "text", "text": words(rng, 400)}]}
        lines.append({"type": "user", "message": {"content": [result]}})
    return "\n".join(map(json.dumps, lines)).encode()


def calls(rng: random.Random) -> roots.Calls:
    """Twenty queries over two minutes."""
    made = tuple(
        Call(
            seq=n + 1,
            tool="query",
            arguments={"query": roots.QUERY + words(rng, 40)},
            started_at=f"2026-11-30T12:{n // 6:02d}:{n % 6 * 10:02d}Z",
            elapsed_s=rng.uniform(0.2, 9),
            ok=rng.random() > 0.1,
            is_query=True,
            response_chars=rng.randint(100, 9_000),
        )
        for n in range(20)
    )
    base = roots.calls()
    return roots.Calls(calls=made, metrics=base.metrics)


def build(folder: Path, episodes: int) -> RunsRoot:
    """Questions × five conditions × three attempts, judged, with pages."""
    rng, root = random.Random(1), RunsRoot(folder)
    rows = tuple((f"http://example.org/thing/{n}", str(n)) for n in range(100))
    arms = {
        "sparql-only__kg-named": roots.identity(level="sparql-only", server=None),
        "demo-all-tools__kg-named": roots.identity(),
        "demo-all-tools__kg-named__without-route": roots.identity(withheld=("route",)),
        "demo-all-tools__kg-not-named": roots.identity(kg_hint="none"),
        "demo-all-tools__kg-not-named__without-route": roots.identity(kg_hint="none", withheld=("route",)),
    }
    questions = [f"graph-{n:03d}_easy" for n in range(episodes // (3 * CONDITIONS))]
    for question in questions:
        roots.write_truth(root, question, roots.truth(rows))
        for name, who in arms.items():
            for number in (1, 2, 3):
                kept = rows if rng.random() < 0.7 else tuple(row for row in rows if rng.random() < 0.8)
                attempt = roots.Attempt(
                    answer=roots.answer(kept),
                    calls=calls(rng),
                    episode=roots.episode(wall_s=round(rng.lognormvariate(4, 0.6), 2)),
                    raw={"transcript.jsonl": transcript(rng)},
                )
                roots.write_attempt(root, question, name, number, attempt, who)
    for name, who in arms.items():
        roots.write_condition(root, name, who, questions)
    rescore(root, regenerate)
    return root


def timed(*arguments: str) -> tuple[float, bytes]:
    """Seconds and stdout of one whole process."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "okn_benchmark", *arguments], capture_output=True, check=True)
    return time.perf_counter() - start, done.stdout


def main() -> int:
    """Build, measure three times, print the best; 1 where a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=540)
    parser.add_argument("--keep", type=Path, help="build the root there and leave it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = build(given.keep or Path(scratch) / "root", given.episodes)
        markdown = min(timed("report", str(root.path), "--markdown", "-")[0] for _ in range(3))
        pages = [timed("report", str(root.path), "--html", "-") for _ in range(2)]
        html, size = min(seconds for seconds, _ in pages), len(pages[0][1])
        terminal = min(timed("report", str(root.path))[0] for _ in range(2))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{given.episodes} episodes, whole processes, best of a few:")
    print(f"  report --markdown -  {markdown:6.2f} s  (budget {MARKDOWN_S} s)")
    print(f"  report               {terminal:6.2f} s")
    print(
        f"  report --html -      {html:6.2f} s  (budget {HTML_S} s), {size / 1e6:.2f} MB (budget {HTML_BYTES / 1e6} MB)"
    )
    print(f"  largest process      {peak:6.0f} MB")
    return int(markdown > MARKDOWN_S or html > HTML_S or size > HTML_BYTES)


if __name__ == "__main__":
    sys.exit(main())
