"""The harness's own share of an episode: the real agent program behind our host and proxy, less the bare program.

usage: bench_host.py CLAUDE [PAIRS]

Each pair runs the same scripted episode twice, one right after the other: once as `subprocess` with the toy server
directly, once through ClaudeHost, the proxy and the same server. The bar is a median difference of 150 ms. A third
column leaves the proxy out, so that its part can be told from the host's.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.host.driving import CLEAN, toy_plan, toy_profile

from okn_benchmark.host.claude import ClaudeHost, find_claude
from okn_benchmark.host.episode import EpisodePlan, unwatched
from okn_benchmark.host.rehearsal import rehearse
from okn_benchmark.host.script import parse_script
from okn_benchmark.launch import ProxyLaunch

BAR_S = 0.150


def bare(host: ClaudeHost, plan: EpisodePlan) -> float:
    """Seconds the program takes by itself."""
    began = time.perf_counter()
    env = host.environment(host.variables(plan))
    subprocess.run(host.argv(plan), input=plan.prompt.encode(), env=env, cwd=plan.attempt_dir, capture_output=True)
    return time.perf_counter() - began


def through(host: ClaudeHost, plan: EpisodePlan) -> float:
    """Seconds of a whole recorded episode."""
    began = time.perf_counter()
    host.run(plan, unwatched)
    return time.perf_counter() - began


def one_pair(host: ClaudeHost, folder: Path) -> tuple[float, float, float]:
    """The bare program, with our host, with our host and proxy."""
    plans = [toy_plan(folder / name) for name in ("bare", "direct", "proxied")]
    launch = ProxyLaunch(level="all-tools", profile=toy_profile(folder), log_dir=plans[2].attempt_dir)
    proxied = replace(plans[2], server=None, launch=launch)
    return bare(host, plans[0]), through(host, plans[1]), through(host, proxied)


def main() -> int:
    claude, pairs = find_claude(sys.argv[1] if len(sys.argv) > 1 else None), int((sys.argv[2:] or ["9"])[0])
    rows = []
    for _ in range(pairs):
        with rehearse(claude, parse_script(CLEAN)) as stage, tempfile.TemporaryDirectory() as name:
            rows.append(one_pair(stage.host, Path(name)))
    print(f"{pairs} pairs, seconds: median bare {statistics.median(r[0] for r in rows):.3f}")
    share = {}
    for column, label in ((1, "host alone"), (2, "host and proxy")):
        differences = sorted(row[column] - row[0] for row in rows)
        share[label] = statistics.median(differences)
        least, most = differences[0] * 1000, differences[-1] * 1000
        print(f"{label}: median {share[label] * 1000:+.0f} ms, from {least:+.0f} to {most:+.0f}")
    passed = share["host and proxy"] <= BAR_S
    print(f"bar {BAR_S * 1000:.0f} ms: {'met' if passed else 'MISSED'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
