"""The host's files of one attempt: the stream as it comes, the final message, and no secret in either."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.files import replace_whole
from okn_benchmark.host.episode import FINAL_MESSAGE, TRANSCRIPT
from okn_benchmark.jsonio import JsonObject, line, pretty
from okn_benchmark.runs.call_events import read_events

TRANSCRIPT_BYTES: Final = 128 * 1024 * 1024
"""Above this only the final message is still stored; the facts are taken from the stream itself."""
CALL_EVENTS: Final = "calls.jsonl"
_SECRET_NAME: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|CUSTOM_HEADERS|AUTH")
_SECRET_CHARS: Final = 8
"""Shorter values would blank out ordinary words."""


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables that are named like secrets, longest first."""
    found = {v for k, v in env.items() if _SECRET_NAME.search(k.upper()) and len(v) >= _SECRET_CHARS}
    return tuple(sorted(found, key=lambda v: (-len(v), v)))


def scrubber(env: Mapping[str, str]) -> Callable[[bytes], bytes]:
    """Takes out every secret of ``env``, as it stands and as JSON writes it."""
    needles = [n for v in secret_values(env) for n in dict.fromkeys((v.encode(), json.dumps(v)[1:-1].encode()))]

    def scrub(data: bytes) -> bytes:
        for needle in needles:
            data = data.replace(needle, b"[redacted]")
        return data

    return scrub


@dataclass(slots=True)
class TranscriptFile:
    """``transcript.jsonl`` while it grows: a flushed line per event, readable at any instant of a crash."""

    stream: BinaryIO
    limit: int = TRANSCRIPT_BYTES
    written: int = 0
    dropped: int = 0
    failed: str | None = None
    _noted: bool = field(default=False)

    def add(self, data: bytes, *, always: bool = False) -> None:
        """Append one line; one that does not fit any more is counted instead, unless it must be kept."""
        if self.failed is not None:
            return
        if self.written + len(data) > self.limit and not always:
            self.dropped += 1
            if self._noted:
                return
            self._noted = True
            data = line({"type": "okn-benchmark", "note": "the transcript is full; later events are not kept"}).encode()
        try:
            self.stream.write(data + b"\n")
            self.stream.flush()
        except OSError as error:
            self.failed = error.strerror or str(error)
        self.written += len(data) + 1


def open_transcript(attempt_dir: Path) -> BinaryIO:
    """A new ``transcript.jsonl``; an attempt's stream is never written twice.

    Raises:
        OutsideFailure: the folder is not writable, or a transcript is there already.
    """
    path = attempt_dir / TRANSCRIPT
    try:
        return path.open("xb")
    except OSError as error:
        raise OutsideFailure(f"{path} could not be created: {error.strerror or error}.") from error


def close_transcript(file: TranscriptFile, attempt_dir: Path) -> None:
    """Flush to disk.

    Raises:
        OutsideFailure: the disk did not take everything.
    """
    try:
        os.fsync(file.stream.fileno())
        file.stream.close()
    except OSError as error:
        file.failed = file.failed or error.strerror or str(error)
    if file.failed is not None:
        raise OutsideFailure(f"{attempt_dir / TRANSCRIPT} could not be written: {file.failed}.")


def protocol_facts(log_dir: Path | None) -> tuple[str | None, str | None]:
    """Era and version of the conversation between agent and server, as the proxy logged them; None where it did not."""
    if log_dir is None:
        return None, None
    try:
        events = read_events((log_dir / CALL_EVENTS).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None, None
    opened = [event for event in events if event.get("event") == "opened"]
    if not opened:
        return None, None
    era, version = opened[-1].get("era"), opened[-1].get("protocol_version")
    return era if isinstance(era, str) else None, version if isinstance(version, str) else None


def write_final_message(attempt_dir: Path, message: JsonObject | None) -> None:
    """``agent.json``; nothing is written for a host that ended without one."""
    if message is not None:
        replace_whole(attempt_dir / FINAL_MESSAGE, pretty(message))
