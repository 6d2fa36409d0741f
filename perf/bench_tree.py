"""How report and rescore grow with a root: 500 and 5,000 attempts, each command a process of its own.

    python perf/bench_tree.py [--attempts 500 5000] [--json FILE]

Bars: report of 5,000 attempts in at most 5 s and 300 MiB, rescore in at most 20 s, both linear in the attempts.
Times are wall clock of the whole process, start included; memory is the child's peak resident set.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.roots import Attempt, answer, identity, truth, write_attempt, write_condition, write_truth

from okn_benchmark.runs.layout import RunsRoot

REPEAT = 5
CONDITIONS = 4
ROWS = tuple((f"http://example.org/thing/{n:04d}", str(n * 7)) for n in range(60))
ENDINGS = (ROWS, ROWS, ROWS[::-1], ROWS[:40], tuple((thing, "0") for thing, _ in ROWS))


def unsynced(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def build(folder: Path, attempts: int) -> RunsRoot:
    root = RunsRoot(folder)
    records = [f"question-{n:04d}_easy" for n in range(attempts // (REPEAT * CONDITIONS))]
    endings = [Attempt(answer=answer(rows)) for rows in ENDINGS]
    for record in records:
        write_truth(root, record, truth(ROWS), put=unsynced)
    for number in range(CONDITIONS):
        who, name = identity(server=f"server-{number}", repeat=REPEAT), f"server-{number}-all-tools__kg-named"
        for record in records:
            for attempt, ending in enumerate(endings, start=1):
                write_attempt(root, record, name, attempt, ending, who, put=unsynced)
        write_condition(root, name, who, records, put=unsynced)
    return root


def measured(command: str, root: RunsRoot) -> tuple[float, float]:
    """Seconds and MiB of one command in a process of its own."""
    code = (
        "import resource, sys; from okn_benchmark.cli.app import build; app = build()\n"
        "try: app(sys.argv[1:], standalone_mode=False)\n"
        "finally: print('PEAK', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, command, str(root.path)], capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stderr[-2000:]}")
    peak = int(next(line for line in done.stderr.splitlines() if line.startswith("PEAK")).split()[1])
    return elapsed, peak / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--attempts", type=int, nargs="+", default=[500, 5000])
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    rows = []
    print(f"{'attempts':>8}  {'command':<22}  {'s':>6}  {'MiB':>5}")
    for attempts in asked.attempts:
        with tempfile.TemporaryDirectory() as folder:
            root = build(Path(folder) / "root", attempts)
            for command, label in (
                ("rescore", "rescore, first"),
                ("rescore", "rescore, again"),
                ("report", "report"),
            ):
                seconds, mib = measured(command, root)
                rows.append({"attempts": attempts, "command": label, "seconds": round(seconds, 2), "mib": round(mib)})
                print(f"{attempts:>8}  {label:<22}  {seconds:>6.2f}  {mib:>5.0f}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps({"cpus": os.cpu_count(), "rows": rows}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
