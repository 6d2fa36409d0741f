"""Calls for some minutes: memory must stay flat, nothing may be lost, the log must equal what the client saw.

    python perf/soak_proxy.py [--minutes 30] [--http]

Sizes are mixed, some calls are bursts in flight together, some are submissions; the last line says what was found.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bench_proxy import SERVER, http_server
from proxy_clients import HELLO, load, profile, proxy, request

from okn_benchmark.runs.call_events import compile_calls, read_events

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
WEIGHTS = (30, 30, 20, 15, 4, 1)
BURST = 8
GROWTH_MIB = 12.0
"""What the memory may grow by after the first tenth: an allocator is never quite still."""


class Client:
    """Sends bursts, checks every answer, remembers what was asked and what came."""

    def __init__(self, command: list[str]) -> None:
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self._to, self._from = self.child.stdin, self.child.stdout
        self._number = 0
        self.seen: list[tuple[str, int, str]] = []
        self._send("initialize", HELLO)
        self._from.readline()

    def _send(self, method: str, params: dict[str, object]) -> int:
        self._number += 1
        self._to.write(request(self._number, method, params) + b"\n")
        self._to.flush()
        return self._number

    def burst(self, sizes: list[int]) -> None:
        """Several calls in flight; answers in any order."""
        asked = {}
        for size in sizes:
            if size:
                asked[self._send("tools/call", {"name": "blob", "arguments": {"n": size}})] = size
            else:
                asked[self._send("tools/call", {"name": "submit_csv", "arguments": {"csv": "a,b\n1,2\n"}})] = 0
        answers: dict[int, str] = {}
        while len(answers) < len(asked):
            reply = json.loads(self._from.readline())
            answers[reply["id"]] = reply["result"]["content"][0]["text"]
        for number, size in asked.items():
            text = answers[number]
            if size and text != "x" * size:
                raise SystemExit(f"call {number}: asked for {size} characters, got {len(text)}")
            name, chars = ("blob", size) if size else ("submit_csv", len(text))
            self.seen.append((name, chars, hashlib.sha256(text.encode() + b"\0").hexdigest() if size else ""))

    def memory_mib(self) -> float:
        """Resident memory of the proxy."""
        pages = int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20

    def close(self) -> int:
        """End of input; the exit code."""
        self._to.close()
        code = self.child.wait(10)
        self._from.close()
        return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--http", action="store_true", help="an HTTP upstream with event streams instead of stdio")
    got = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        folder = Path(name)
        if got.http:
            path = profile(folder, "soak", url=servers.enter_context(http_server("sdk-sse")))
        else:
            path = profile(folder, "soak", command=SERVER)
        client = Client(proxy(path, folder / "log"))
        memory = _run(client, got.minutes * 60)
        code = client.close()
        faults = _compare(client, folder / "log")
    tenth = max(1, len(memory) // 10)
    early, late = max(memory[tenth : 2 * tenth + 1]), max(memory[-tenth:])
    if late - early > GROWTH_MIB:
        faults.append(f"memory grew from {early:.0f} to {late:.0f} MiB")
    if code != 0:
        faults.append(f"exit code {code}")
    print(f"{load()}; {len(client.seen):,} calls in {got.minutes:g} min; memory {early:.0f} -> {late:.0f} MiB")
    print("nothing lost, log equal to what the client saw" if not faults else "; ".join(faults))
    return 1 if faults else 0


def _run(client: Client, seconds: float) -> list[float]:
    chance, memory, until, told = random.Random(1), [], time.monotonic() + seconds, 0.0
    while time.monotonic() < until:
        sizes = chance.choices(SIZES, WEIGHTS, k=chance.randint(1, BURST))
        client.burst([0 if chance.random() < 0.02 else size for size in sizes])
        if time.monotonic() - told > max(0.2, seconds / 200):
            told = time.monotonic()
            memory.append(client.memory_mib())
    return memory


def _compare(client: Client, log: Path) -> list[str]:
    """Where the record differs from what the client saw."""
    # From the event log: so many calls take longer to add up than the proxy gives itself at its end.
    calls = compile_calls(read_events((log / "calls.jsonl").read_text())).calls
    entered = [(call.tool, call.response_chars, call.sha256 or "") for call in calls]
    faults = [f"call {call.seq} is entered as failed" for call in calls if not call.ok]
    if len(entered) != len(client.seen):
        faults.append(f"{len(client.seen)} calls made, {len(entered)} entered")
    pairs = zip(entered, client.seen, strict=False)
    faults += [f"call {i}: {a} entered, {b} seen" for i, (a, b) in enumerate(pairs) if a != b]
    return faults[:5]


if __name__ == "__main__":
    sys.exit(main())
