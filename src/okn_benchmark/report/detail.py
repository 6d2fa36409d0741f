"""One attempt for the page: its answer beside the key, its tool calls on a time line, what was said. Values only."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from okn_benchmark.report.words import one_line, visible
from okn_benchmark.runs.shapes import Call

Mark: TypeAlias = Literal["matched", "near", "missing", "extra"]

MARKS: dict[Mark, tuple[str, str]] = {
    "matched": ("=", "in both"),
    "near": ("≈", "differs in the marked cells"),
    "missing": ("−", "in the key only"),
    "extra": ("+", "in the answer only"),
}
"""Sign and meaning of each kind of row, so that colour is never the only carrier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRow:
    """A row of the answer beside a row of the key; ``differs`` are positions in the key's columns."""

    mark: Mark
    answer: tuple[str, ...] | None
    key: tuple[str, ...] | None
    differs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """An answer held against its key. ``left_out`` counts rows of each kind that are not shown."""

    answer_columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    rows: tuple[MarkedRow, ...]
    left_out: dict[str, int]
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One entry of a transcript. ``chars`` is how long it was before it was cut."""

    who: str
    what: str
    text: str
    chars: int
    left_out: int = 0
    """For a gap: how many entries it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One tool call: times in seconds after the first call; ``x`` and ``width`` in percent of the line."""

    seq: int
    tool: str
    at_s: float | None
    elapsed_s: float | None
    kind: str
    arguments: str
    reply: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of one attempt a page shows. Characters and rows."""

    rows: int = 60
    cell: int = 300
    columns: int = 20
    calls: int = 200
    argument: int = 600
    said: int = 60
    said_chars: int = 1_500

    def smaller(self) -> "Limits":
        """About half of everything."""
        return Limits(
            rows=max(2, self.rows // 2),
            cell=max(24, self.cell * 2 // 3),
            columns=max(4, self.columns * 2 // 3),
            calls=max(4, self.calls // 2),
            argument=max(40, self.argument // 2),
            said=max(2, self.said // 2),
            said_chars=max(80, self.said_chars // 2),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the job read from disk about one attempt; None or empty where a file is missing."""

    marked: Marked | None = None
    calls: tuple[Call, ...] = ()
    said: tuple[Said, ...] = ()
    folder: str | None = None
    """The attempt's folder, relative to the root."""
    files: tuple[str, ...] = ()


def timeline(calls: Sequence[Call], limits: Limits) -> list[Shown]:
    """Calls with their place on the line. Clocks that cannot be read leave a call at the left edge, without a time."""
    starts = [_clock(call.started_at) for call in calls]
    known = [start for start in starts if start is not None]
    first = min(known, default=0.0)
    ends = [s + (c.elapsed_s or 0.0) for s, c in zip(starts, calls, strict=True) if s is not None]
    whole = max(max(ends, default=first) - first, 0.001)
    return [_shown(c, s, first, whole, limits) for c, s in zip(calls[: limits.calls], starts, strict=False)]


def _shown(call: Call, start: float | None, first: float, whole: float, limits: Limits) -> Shown:
    x = 0.0 if start is None else 100 * (start - first) / whole
    width = 100 * (call.elapsed_s or 0.0) / whole
    return Shown(
        seq=call.seq,
        tool=one_line(call.tool, 60),
        at_s=None if start is None else start - first,
        elapsed_s=call.elapsed_s,
        kind=call_kind(call),
        arguments=one_line(_argument_words(call.arguments), limits.argument),
        reply=one_line(call.error or call.soft_error or f"{call.response_chars:,} characters", limits.argument),
        x=round(min(x, 99.6), 2),
        width=round(min(max(width, 0.4), 100 - min(x, 99.6)), 2),
    )


def call_kind(call: Call) -> str:
    """One word for how a call went."""
    if call.withheld:
        return "withheld"
    if call.timed_out:
        return "timed out"
    if not call.ok:
        return "error"
    return "soft error" if call.soft_error else "ok"


def _argument_words(arguments: Any) -> str:
    if isinstance(arguments, dict) and len(arguments) == 1 and isinstance(only := next(iter(arguments.values())), str):
        return only
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _clock(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError, OSError):
        return None


def read_said(lines: Iterable[bytes | str], limits: Limits) -> tuple[Said, ...]:
    """The conversation of a host's event stream, one entry per block; lines that are no events are passed over."""
    return cut_said(tuple(_said(lines, limits.said_chars)), limits)


def cut_said(said: tuple[Said, ...], limits: Limits) -> tuple[Said, ...]:
    """The beginning and the end of a conversation, each entry cut, what is left out counted."""
    gone = sum(entry.left_out for entry in said)
    kept = [entry for entry in said if not entry.left_out]
    if len(kept) > limits.said:
        gone += len(kept) - limits.said
        head = limits.said // 2
        kept = [*kept[:head], *kept[head - limits.said :]]
    shown = [_shorter(entry, limits.said_chars) for entry in kept]
    if not gone:
        return tuple(shown)
    gap = Said(who="", what="left out", text=f"{gone} entries between are not shown", chars=0, left_out=gone)
    middle = len(shown) // 2
    return (*shown[:middle], gap, *shown[middle:])


def _shorter(said: Said, limit: int) -> Said:
    if len(said.text) <= limit + 40:
        return said
    text = f"{said.text[:limit]}… (+{max(said.chars - limit, 0):,} characters)"
    return Said(who=said.who, what=said.what, text=text, chars=said.chars)


def _said(lines: Iterable[bytes | str], limit: int) -> Iterator[Said]:
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict) or event.get("type") not in ("assistant", "user"):
            continue
        message = event.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            if isinstance(block, dict) and (entry := _entry(str(event["type"]), block, limit)).text:
                yield entry


def _entry(who: str, block: dict[str, Any], limit: int) -> Said:
    what = str(block.get("type"))
    label = what.replace("_", " ")
    match what:
        case "text" | "thinking":
            text = str(block.get(what) or block.get("text") or "")
        case "tool_use":
            label = f"calls {one_line(str(block.get('name')), 80)}"
            text = _argument_words(block.get("input"))
        case "tool_result":
            text = _result_text(block.get("content"))
        case _:
            text = json.dumps(block, ensure_ascii=False)
    said = Said(who=who, what=one_line(label, 90), text=visible(text[: limit * 2]), chars=len(text))
    return _shorter(said, limit)


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(str(p.get("text", p)) if isinstance(p, dict) else str(p) for p in parts)


def cut(marked: Marked, limits: Limits) -> Marked:
    """The rows a page has room for, wrong ones first; cells and columns cut, what is left out counted."""
    order: list[Mark] = ["near", "missing", "extra", "matched"]
    wrong = any(row.mark != "matched" for row in marked.rows)
    room = limits.rows if wrong else min(limits.rows, 5)
    ranked = sorted(range(len(marked.rows)), key=lambda at: order.index(marked.rows[at].mark))
    gone = dict(marked.left_out)
    for at in ranked[room:]:
        mark = marked.rows[at].mark
        gone[mark] = gone.get(mark, 0) + 1
    kept = sorted(ranked[:room])
    return Marked(
        answer_columns=_cells(marked.answer_columns, limits) or (),
        key_columns=_cells(marked.key_columns, limits) or (),
        rows=tuple(_cut_row(marked.rows[at], limits) for at in kept),
        left_out=gone,
        note=marked.note,
    )


def _cut_row(row: MarkedRow, limits: Limits) -> MarkedRow:
    return MarkedRow(mark=row.mark, answer=_cells(row.answer, limits), key=_cells(row.key, limits), differs=row.differs)


def _cells(cells: tuple[str, ...] | None, limits: Limits) -> tuple[str, ...] | None:
    if cells is None:
        return None
    shown = tuple(one_line(cell, limits.cell) for cell in cells[: limits.columns])
    return shown if len(cells) <= limits.columns else (*shown, f"… {len(cells) - limits.columns} more columns")
