"""How a number and a stranger's text are written. Unknown is a dash everywhere, and nothing hidden stays hidden."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from okn_benchmark.stats.intervals import Interval

DASH: Final = "–"
MINUS: Final = "−"

_HIDDEN: Final = re.compile(
    # C0 but for tab and newline, DEL and C1, soft hyphen, zero-width and bidirectional marks, separators, variation
    # selectors, interlinear and tag characters, lone surrogates: whatever changes a line without being seen in it.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """``text`` with control characters, direction marks and other invisible characters spelled out: ``⟨U+202E⟩``."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def one_line(text: str, limit: int = 200) -> str:
    """``text`` made visible, on one line, cut at ``limit`` characters with what was left out counted."""
    flat = " ".join(visible(text[: limit * 4]).split())
    if len(flat) <= limit and len(text) <= limit * 4:
        return flat
    return f"{flat[:limit]}… (+{max(len(text) - limit, len(flat) - limit):,} characters)"


def number(value: float | None, digits: int = 2) -> str:
    """A fixed number of decimals, a true minus sign, a dash for unknown."""
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """Like ``number``, with a plus where it applies."""
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def whole(value: float | None) -> str:
    """A whole number with thousands separators."""
    return DASH if value is None else f"{value:,.0f}".replace("-", MINUS)


def span(interval: Interval | None, digits: int = 2, *, sign: bool = False) -> str:
    """``[low, high]``; a dash where no interval can be given."""
    if interval is None:
        return DASH
    write = signed if sign else number
    return f"[{write(interval.low, digits)}, {write(interval.high, digits)}]"


def p_value(p: float | None) -> str:
    """Three decimals, two significant digits below .001, and never a bare zero."""
    if p is None:
        return DASH
    if p >= 0.001:
        return f"{p:.3f}"
    return f"{p:.1e}" if p > 0 else "< 1e-300"


def tally(counts: Mapping[str, int]) -> str:
    """``startup 2, host_limit 1``: most frequent first; a dash over nothing."""
    parts = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{one_line(name, 60)} {count}" for name, count in parts if count) or DASH


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 question``, ``2 questions``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def listed(names: Iterable[str], limit: int = 6, chars: int = 80) -> str:
    """Names separated by commas, at most ``limit`` of them and ``chars`` of each, the rest counted."""
    names = list(names)
    shown = ", ".join(one_line(name, chars) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def as_json(value: Any) -> Any:
    """A view value as plain JSON: shapes become objects, floats that are not finite become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    slots = getattr(type(value), "__dataclass_fields__", None)
    return value if slots is None else {name: as_json(getattr(value, name)) for name in slots}
