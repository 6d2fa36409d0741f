"""Dates and times as values: ``Z`` is ``+00:00``, trailing zeros count for nothing, a blank may stand for ``T``."""

import re
from typing import Final

_DATE: Final = r"(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})"
_ZONE: Final = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_MOMENT: Final = re.compile(_DATE + r"(?:[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]++))?)?" + _ZONE)


def date_key(text: str) -> str | None:
    """The value of a date without a time, or None for anything else."""
    match = _MOMENT.fullmatch(text)
    if match is None or match[4] is not None:
        return None
    day, shift = _day(match[1], match[2], match[3]), _shift(match[8])
    return None if day is None or shift is None else f"date {day} {shift}"


def moment_key(text: str) -> str | None:
    """The value of a date with a time, or None. Times in a zone are moved to UTC; a time without one stays apart."""
    match = _MOMENT.fullmatch(text)
    if match is None or match[4] is None:
        return None
    day, shift = _day(match[1], match[2], match[3]), _shift(match[8])
    second = _second(int(match[4]), int(match[5]), int(match[6]), match[7])
    if day is None or shift is None or second is None:
        return None
    instant = day * 86_400 + second - (shift * 60 if isinstance(shift, int) else 0)
    return f"{'local' if shift == '' else 'utc'} {instant} {(match[7] or '').rstrip('0')}"


def _day(year_text: str, month_text: str, day_text: str) -> int | None:
    """Days since the first of March of year 0 of the proleptic Gregorian calendar."""
    year, month, day = int(year_text), int(month_text), int(day_text)
    if not 1 <= month <= 12 or not 1 <= day <= _month_length(year, month):
        return None
    shifted = year - (month <= 2)
    return (
        365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    )


def _month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def _second(hour: int, minute: int, second: int, fraction: str | None) -> int | None:
    """Seconds since midnight; 24:00:00 is the end of the day."""
    whole = hour * 3600 + minute * 60 + second
    if hour == 24:
        return whole if whole == 86_400 and not (fraction or "").strip("0") else None
    return whole if hour < 24 and minute < 60 and second < 60 else None


def _shift(zone: str | None) -> int | str | None:
    """Minutes east of UTC, "" without a zone, None for a zone that cannot be."""
    if not zone:
        return ""
    if zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    if minutes > 14 * 60 or int(zone[4:6]) > 59:
        return None
    return -minutes if zone[0] == "-" else minutes
