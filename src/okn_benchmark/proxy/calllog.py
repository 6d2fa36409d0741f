"""The record of one episode: ``calls.jsonl`` with a line per event, on disk at once; ``calls.json`` compiled from it.

Nothing that happens to the log may happen to the conversation: a full disk is counted and said on stderr once, and
the calls go on.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from okn_benchmark.errors import OutsideFailure

EVENTS_FILE: Final = "calls.jsonl"
CALLS_FILE: Final = "calls.json"
_NAMES: Final = frozenset({"tool", "names", "shown", "withheld"})
"""Facts that are names of tools: counted by, and no place for a secret."""
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def now_iso() -> str:
    """The wall clock as the log writes it."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03d}Z"


class CallLog:
    """Append events; ``folder`` None keeps nothing. ``redact`` masks secrets in every string."""

    def __init__(
        self,
        folder: Path | None,
        redact: Callable[[str], str] = str,
        clock: Callable[[], str] = now_iso,
    ) -> None:
        self.folder = folder
        self._redact = redact
        self._clock = clock
        self._seq = 0
        self._fd: int | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            # A log of an earlier process in the same folder would be added up with this one.
            self._fd = os.open(folder / EVENTS_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)

    def event(self, kind: str, **facts: Any) -> None:
        """Write one event; returns when the line has reached the operating system."""
        if self._fd is None:
            return
        if self._redact is not str:
            facts = {key: value if key in _NAMES else self._clean(value) for key, value in facts.items()}
        line = _COMPACT.encode({"event": kind, "at": self._clock(), **facts})
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            self._give_up(str(error.strerror or error))

    def next_call(self) -> int:
        """A ``tools/call`` has arrived; its number in this episode."""
        self._seq += 1
        return self._seq

    def close(self) -> None:
        """Enter nothing more: how the upstream takes its own end is no part of the episode."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def finish(self) -> None:
        """Compile ``calls.json``. Safe to call again."""
        if self.folder is None:
            return
        # At the end and not before: none of it is needed while messages pass.
        from okn_benchmark.files import replace_whole
        from okn_benchmark.jsonio import pretty
        from okn_benchmark.runs.call_events import compile_calls, read_events
        from okn_benchmark.runs.readers import calls_json

        try:
            text = (self.folder / EVENTS_FILE).read_text(encoding="utf-8", errors="replace")
            replace_whole(self.folder / CALLS_FILE, pretty(calls_json(compile_calls(read_events(text)))))
        except (OSError, OutsideFailure) as error:
            self._give_up(str(error))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {self._redact(str(key)): self._clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(item) for item in value]
        return value

    def _give_up(self, reason: str) -> None:
        self.close()
        sys.stderr.write(f"okn-benchmark proxy: the call log cannot be written any more: {reason}\n")
