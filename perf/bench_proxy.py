"""What the proxy costs, as ratios to the direct way in one run: start, and calls of four sizes over stdio and HTTP.

    python perf/bench_proxy.py [--fastmcp PYTHON] [--mcp-proxy PROGRAM] [--arm FILE] [--quick] [--markdown FILE]

The ways to one upstream are interleaved in random order, so that a busy moment falls on all alike. Other proxies are
measured where they are given: ``--fastmcp`` a Python that has fastmcp, ``--mcp-proxy`` that program. With ``--arm`` our
proxy is measured with that arm too, and before a server that answers with a table of ids, values and units. ``--check``
exits 1 when a bar is missed.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from proxy_clients import Http, Stdio, load, profile, proxy

HERE = Path(__file__).parent
SERVER = [sys.executable, str(HERE / "proxy_servers.py")]
SIZES = {100: 400, 10_000: 300, 1_000_000: 60, 10_000_000: 10}
BARS = {
    ("stdio", 100): 3.0,
    ("stdio", 1_000_000): 2.0,
    ("stdio", 10_000_000): 2.0,
    ("http", 100): 1.6,
    ("http", 10_000_000): 2.5,
}
ADDED_MS, START = 0.5, 4.0
HTTP = {"http sse": "sdk-sse", "http json": "sdk-json", "bare http": "json"}
"""Bars hold against servers on the SDK, which is what one meets; the bare one shows what our own side costs."""
OURS = "okn-benchmark"
ARMED = "okn-benchmark --arm"
FASTMCP = """
import sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
target = sys.argv[1] if sys.argv[1].startswith("http") else StdioTransport(sys.argv[1], sys.argv[2:])
create_proxy(Client(target)).run(show_banner=False)
"""


@contextmanager
def http_server(kind: str) -> Iterator[str]:
    server = subprocess.Popen([*SERVER, kind], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with server.stdout as said:
        try:
            yield said.readline().strip()
        finally:
            server.kill()  # asked politely, it waits for streams that nobody closes
            server.wait(10)


def ways(folder: Path, urls: dict[str, str], got: argparse.Namespace) -> dict[tuple[str, str], Callable[[], Any]]:
    """Everything to compare: upstream and path to a client that is not yet open."""
    log = folder / "log"
    made: dict[tuple[str, str], Callable[[], Any]] = {
        ("stdio", "direct"): lambda: Stdio(SERVER),
        ("stdio", OURS): lambda: Stdio(proxy(profile(folder, "stdio", command=SERVER), log / "stdio")),
    }
    for kind, url in urls.items():
        made[kind, "direct"] = partial(Http, url)
        path = profile(folder, kind.replace(" ", "-"), url=url)
        made[kind, OURS] = partial(Stdio, proxy(path, log / path.stem))
    if got.arm:
        table = [*SERVER[:-1], SERVER[-1], "table"]
        made["table", "direct"] = lambda: Stdio(table)
        made["table", OURS] = lambda: Stdio(proxy(profile(folder, "table", command=table), log / "table"))
        for upstream in ("stdio", "table"):
            path, where = folder / f"{upstream}.toml", log / f"{upstream}-armed"
            made[upstream, ARMED] = lambda path=path, where=where: Stdio([*proxy(path, where), "--arm", str(got.arm)])
    if got.fastmcp:
        made["stdio", "fastmcp"] = lambda: Stdio([got.fastmcp, "-c", FASTMCP, *SERVER])
        made["http sse", "fastmcp"] = lambda: Stdio([got.fastmcp, "-c", FASTMCP, urls["http sse"]])
    if got.mcp_proxy:
        made["http sse", "mcp-proxy"] = lambda: Stdio(
            [got.mcp_proxy, "--transport", "streamablehttp", urls["http sse"]]
        )
    return made


def starts(made: dict[tuple[str, str], Callable[[], Any]], rounds: int) -> dict[tuple[str, str], float]:
    """Median milliseconds from the start of a process to its first answer."""
    taken: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for key, make in _shuffled(made):
            if key[1] != "direct" or key[0] == "stdio":
                started = time.perf_counter()
                client = make()
                with suppress(OSError, EOFError):
                    client.open()
                    taken.setdefault(key, []).append((time.perf_counter() - started) * 1e3)
                client.close()
    return {key: statistics.median(times) for key, times in taken.items()}


def calls(live: dict[tuple[str, str], Any], size: int, rounds: int) -> dict[tuple[str, str], list[float] | str]:
    """Milliseconds of each call, or why there are none."""
    taken: dict[tuple[str, str], list[float] | str] = {}
    for key, client in live.items():
        try:
            reply = client.call(size)
            # An arm may leave less of a result; how much, its own check says.
            taken[key] = [] if len(reply) >= size or key[1] == ARMED else f"fails: {reply[:80]!r}"
        except (OSError, EOFError) as error:
            taken[key] = f"fails: {error}"
    for _ in range(rounds):
        for key, client in _shuffled(live):
            times = taken[key]
            if isinstance(times, list):
                started = time.perf_counter()
                try:
                    client.call(size)
                except (OSError, EOFError) as error:
                    taken[key] = f"fails: {error}"
                times.append((time.perf_counter() - started) * 1e3)
    return taken


def _shuffled(made: dict[tuple[str, str], Any]) -> list[tuple[tuple[str, str], Any]]:
    return random.sample(list(made.items()), len(made))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastmcp")
    parser.add_argument("--mcp-proxy")
    parser.add_argument("--arm", type=Path, help="an arm file: what its changes add to a call")
    parser.add_argument("--quick", action="store_true", help="a fifth of the calls")
    parser.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    parser.add_argument("--markdown", type=Path, help="write the tables here too")
    got = parser.parse_args()
    report, missed = Report(), []
    report.add([f"Python {sys.version.split()[0]}, {load()}", ""])
    part = 5 if got.quick else 1
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        urls = {kind: servers.enter_context(http_server(script)) for kind, script in HTTP.items()}
        made = ways(Path(name), urls, got)
        report.add(_start_table(starts(made, 20 // part), missed))
        live = {key: make() for key, make in made.items()}
        try:
            for key, client in list(live.items()):
                try:
                    client.open()
                except (OSError, EOFError) as error:
                    report.add([f"{' '.join(key)} does not open: {error}", ""])
                    live.pop(key).close()
            for size, rounds in SIZES.items():
                taken: dict[tuple[str, str], list[float] | str] = {}
                for upstream in dict.fromkeys(key[0] for key in live):
                    group = {key: client for key, client in live.items() if key[0] == upstream}
                    taken |= calls(group, size, max(5, rounds // part))
                report.add(_call_table(size, taken, missed))
            report.add(_memory(live))
        finally:
            for client in live.values():
                client.close()
    report.add(["every bar met" if not missed else "missed: " + "; ".join(missed)])
    if got.markdown:
        got.markdown.write_text("\n".join(report.lines))
    return 1 if missed and got.check else 0


class Report:
    """Printed as it grows."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, lines: list[str]) -> None:
        """Some more of it."""
        print("\n".join(lines), flush=True)
        self.lines += lines


def _start_table(taken: dict[tuple[str, str], float], missed: list[str]) -> list[str]:
    bare = taken["stdio", "direct"]
    rows = ["| upstream | path | start to first answer, ms | x bare stdio server |", "| --- | --- | ---: | ---: |"]
    rows += [f"| {key[0]} | {key[1]} | {ms:.0f} | {ms / bare:.1f} |" for key, ms in sorted(taken.items())]
    ratio = taken["stdio", OURS] / bare
    missed += [f"start {ratio:.1f}x, bar {START:g}x"] if ratio > START else []
    return [*rows, ""]


def _call_table(size: int, taken: dict[tuple[str, str], list[float] | str], missed: list[str]) -> list[str]:
    rows = [
        f"| {size:,} B | path | median ms | p95 ms | added ms | x direct |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for key, times in sorted(taken.items()):
        if isinstance(times, str):
            rows.append(f"| {key[0]} | {key[1]} | {times} | | | |")
            continue
        direct = taken[key[0], "direct"]
        if isinstance(direct, str):
            rows.append(f"| {key[0]} | {key[1]} | direct {direct} | | | |")
            continue
        median, base = statistics.median(times), statistics.median(direct)
        high = sorted(times)[int(len(times) * 0.95)]
        added, ratio = median - base, median / base
        rows.append(f"| {key[0]} | {key[1]} | {median:.2f} | {high:.2f} | {added:.2f} | {ratio:.1f} |")
        bar = BARS.get((key[0].partition(" ")[0], size))
        if key[1] == OURS and bar is not None and ratio > bar:
            missed.append(f"{key[0]} {size:,} B {ratio:.1f}x, bar {bar:g}x")
        if key == ("stdio", OURS) and size == 100 and added > ADDED_MS:
            missed.append(f"stdio 100 B adds {added:.2f} ms, bar {ADDED_MS:g}")
    return [*rows, ""]


def _memory(live: dict[tuple[str, str], Any]) -> list[str]:
    rows = ["| upstream | path | resident MiB | peak MiB |", "| --- | --- | ---: | ---: |"]
    for key, client in sorted(live.items()):
        if isinstance(client, Stdio) and client.child.poll() is None:
            rows.append(f"| {key[0]} | {key[1]} | {client.memory_mib():.0f} | {client.peak_mib():.0f} |")
    return [*rows, ""]


if __name__ == "__main__":
    sys.exit(main())
