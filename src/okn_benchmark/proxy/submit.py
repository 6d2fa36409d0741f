"""The answer channel. It lives in this process and needs no upstream, so it works whatever has happened to the server.

Every submission is kept; the last accepted one is ``answer.csv``, those it replaced are ``superseded-<k>.csv``,
refused ones ``rejected-<k>.csv``.
"""

import json
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from okn_benchmark.errors import OutsideFailure

ANSWER_FILE: Final = "answer.csv"
BYTES_BOUND: Final = 50 * 1000 * 1000
ROWS_BOUND: Final = 1_000_000
_SHOWN_COLUMNS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of one submission. ``rows`` and ``columns`` where it was read."""

    accepted: bool
    text: str
    file: str | None = None
    rows: int | None = None
    columns: tuple[str, ...] = ()
    size: int = 0

    def facts(self) -> dict[str, Any]:
        """For the log."""
        names = ("accepted", "file", "rows", "columns", "size")
        return {name: getattr(self, name) for name in names}


class Submissions:
    """Take submissions one after the other, in a thread; ``folder`` None checks them and keeps nothing."""

    def __init__(self, folder: Path | None, *, bytes_bound: int = BYTES_BOUND, rows_bound: int = ROWS_BOUND) -> None:
        self._folder = folder
        self._bytes_bound = bytes_bound
        self._rows_bound = rows_bound
        self._queue: queue.SimpleQueue[tuple[Any, Callable[[Receipt], None]]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._accepted: bytes | None = None
        self._superseded = 0
        self._rejected = 0

    def hand_in(self, arguments: Any, done: Callable[[Receipt], None]) -> None:
        """Check and keep one submission; ``done`` is called from the thread, in the order things came in."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="submissions", daemon=True)
            self._thread.start()
        self._queue.put((arguments, done))

    def _work(self) -> None:
        while True:
            arguments, done = self._queue.get()
            try:
                receipt = self.take(arguments)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with us, the agent must be told to try again
                receipt = Receipt(accepted=False, text=f"The table could not be read ({type(error).__name__}).")
            done(receipt)

    def take(self, arguments: Any) -> Receipt:
        """Check and keep one submission now."""
        table = arguments.get("csv") if isinstance(arguments, dict) else None
        if not isinstance(table, str):
            kept = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "backslashreplace")
            return self._refuse(kept, "The argument csv is missing: it must be one string that holds the whole table.")
        try:
            data = table.encode("utf-8")
        except UnicodeEncodeError as error:
            row = table.count("\n", 0, error.start) + 1
            kept = table.encode("utf-8", "backslashreplace")
            return self._refuse(kept, f"Line {row} holds half a character (a lone surrogate).")
        reason = self._too_big(data)
        return self._refuse(data, reason) if reason else self._judge(data)

    def _judge(self, data: bytes) -> Receipt:
        from okn_benchmark.scoring.answer import Answer, Malformed, read_answer

        match read_answer(data):
            case Malformed() as found:
                named = found.row is None or str(found.row) in found.reason
                where = "" if named else f" (row {found.row}, counted from 1 after the header)"
                return self._refuse(data, f"{found.reason.rstrip('.')}{where}.")
            case Answer() as read if len(read.rows) > self._rows_bound:
                return self._refuse(data, f"The table has {len(read.rows):,} rows; {self._rows_bound:,} is the limit.")
            case Answer() as read:
                return self._accept(data, read.columns, len(read.rows))

    def _too_big(self, data: bytes) -> str | None:
        if len(data) > self._bytes_bound:
            return f"The table has {len(data):,} bytes; {self._bytes_bound:,} is the limit."
        # Twice the bound in line breaks cannot be an honest table near it, and parsing it would cost gigabytes.
        if data.count(b"\n") > 2 * self._rows_bound:
            return f"The table has more than {self._rows_bound:,} rows, which is the limit."
        return None

    def _accept(self, data: bytes, columns: tuple[str, ...], rows: int) -> Receipt:
        try:
            if self._accepted is not None:
                self._superseded += 1
                self._keep(f"superseded-{self._superseded}.csv", self._accepted)
            self._keep(ANSWER_FILE, data)
        except OutsideFailure as error:
            text = f"The table could not be stored ({error}). Please submit it once more."
            return Receipt(accepted=False, text=text, size=len(data))
        self._accepted = data
        names = ", ".join(columns[:_SHOWN_COLUMNS]) + (", …" if len(columns) > _SHOWN_COLUMNS else "")
        count = f"{rows:,} row{'' if rows == 1 else 's'}"
        what = count if rows else "the header alone, which says that the result is empty"
        return Receipt(
            accepted=True,
            text=f"Accepted: {what}; columns: {names[:1000]}.",
            file=ANSWER_FILE,
            rows=rows,
            columns=columns,
            size=len(data),
        )

    def _refuse(self, data: bytes, reason: str) -> Receipt:
        self._rejected += 1
        name = f"rejected-{self._rejected}.csv"
        text = f"Not accepted. {reason[:1200]} Mend the table and submit it again, complete."
        try:
            self._keep(name, data[: self._bytes_bound])
        except OutsideFailure:
            return Receipt(accepted=False, text=text, size=len(data))
        return Receipt(accepted=False, text=text, file=name, size=len(data))

    def _keep(self, name: str, data: bytes) -> None:
        if self._folder is not None:
            from okn_benchmark.files import replace_whole

            replace_whole(self._folder / name, data)
