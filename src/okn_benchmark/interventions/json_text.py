"""JSON as text that is changed in places: a value is opened one level, and closed again to the very same characters.

Numbers, escapes and white space that nobody meant to change are never read into values and written anew, so they
cannot come out differently.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from json import JSONDecodeError
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_READ: Final = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Item:
    """One member of an object or array, and the characters around it. ``key`` is raw, quotes and all."""

    lead: str
    key: str
    colon: str
    value: str
    trail: str
    name: str = ""
    """The key as a string; empty in an array."""

    @property
    def text(self) -> str:
        """As it stood, without a comma."""
        return f"{self.lead}{self.key}{self.colon}{self.value}{self.trail}"


@dataclass(frozen=True, slots=True)
class Opened:
    """An object or array, one level deep; ``before`` and ``after`` are white space, ``inside`` that of an empty one."""

    before: str
    brackets: str
    items: tuple[Item, ...]
    inside: str
    after: str

    @property
    def is_object(self) -> bool:
        """Whether it is an object; else an array."""
        return self.brackets == "{}"

    @property
    def text(self) -> str:
        """The whole as text."""
        body = ",".join(item.text for item in self.items) if self.items else self.inside
        return f"{self.before}{self.brackets[0]}{body}{self.brackets[1]}{self.after}"

    def member(self, name: str) -> Item | None:
        """The member called ``name``; the last of several, which is the one readers take."""
        return next((item for item in reversed(self.items) if item.name == name), None) if self.is_object else None

    def with_value(self, name: str, value: str) -> "Opened":
        """With another text as the value of a member."""
        return replace(self, items=tuple(replace(i, value=value) if i.name == name else i for i in self.items))

    def holding(self, items: Sequence[Item]) -> "Opened":
        """With other members; the white space at either end stays there."""
        if not self.items or not items:
            return replace(self, items=tuple(items))
        first, last = self.items[0], self.items[-1]
        made = list(items)
        if made[0] is not first:
            made[0] = replace(made[0], lead=first.lead)
        if made[-1] is not last:
            made[-1] = replace(made[-1], trail=last.trail)
            # Where the last one has moved up it leaves that white space behind.
            between = first.trail if len(self.items) > 1 else ""
            made[:-1] = [replace(item, trail=between) if item.trail == last.trail else item for item in made[:-1]]
        return replace(self, items=tuple(made))

    def member_like(self, name: str, value: str) -> Item:
        """A new member in the style of those that are there."""
        style = self.items[0] if self.items else Item("", "", ": ", "", "")
        lead = self.items[1].lead if len(self.items) > 1 else style.lead
        return Item(lead, quoted(name) if self.is_object else "", style.colon, value, "", name)


def quoted(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def opened(text: str) -> Opened | None:
    """An object or array opened one level; None for anything else, well-formed or not."""
    try:
        start = _end_of_space(text, 0)
        if text[start : start + 1] not in ("{", "["):
            return None
        items, inside, end = _items(text, start)
        after = _end_of_space(text, end)
    except (ValueError, RecursionError):
        return None
    if after != len(text):
        return None
    brackets = "{}" if text[start] == "{" else "[]"
    return Opened(text[:start], brackets, tuple(items), inside, text[end:])


def _items(text: str, start: int) -> tuple[list[Item], str, int]:
    """The members, the white space of an empty pair of brackets, and where it ends."""
    is_object, close = text[start] == "{", "}" if text[start] == "{" else "]"
    at = _end_of_space(text, start + 1)
    if text[at : at + 1] == close:
        return [], text[start + 1 : at], at + 1
    items, begin = [], start + 1
    while True:
        key = colon = name = ""
        lead_end = key_end = value_at = _end_of_space(text, begin)
        if is_object:
            if text[lead_end : lead_end + 1] != '"':
                raise JSONDecodeError("no key", text, lead_end)
            name, key_end = _READ(text, lead_end)
            colon_at = _end_of_space(text, key_end)
            if text[colon_at : colon_at + 1] != ":":
                raise JSONDecodeError("no colon", text, colon_at)
            value_at = _end_of_space(text, colon_at + 1)
            key, colon = text[lead_end:key_end], text[key_end:value_at]
        _, value_end = _READ(text, value_at)
        trail_end = _end_of_space(text, value_end)
        lead, value, trail = text[begin:lead_end], text[value_at:value_end], text[value_end:trail_end]
        items.append(Item(lead, key, colon, value, trail, name))
        following = text[trail_end : trail_end + 1]
        if following == close:
            return items, "", trail_end + 1
        if following != ",":
            raise JSONDecodeError("no comma", text, trail_end)
        begin = trail_end + 1


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def value_of(text: str) -> Any:
    """The value a text spells. Raises ValueError."""
    return json.loads(text)


def changed_at(text: str, steps: Sequence[str | int], change: Callable[[str], str | None]) -> str | None:
    """``text`` with the value at the end of ``steps`` replaced by what ``change`` makes of it; None: as it was."""
    if not steps:
        return change(text)
    outer = opened(text)
    if outer is None:
        return None
    place = _place(outer, steps[0])
    if place is None:
        return None
    item = outer.items[place]
    inner = changed_at(item.value, steps[1:], change)
    if inner is None:
        return None
    items = (*outer.items[:place], replace(item, value=inner), *outer.items[place + 1 :])
    return replace(outer, items=items).text


def _place(outer: Opened, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if not outer.is_object and 0 <= step < len(outer.items) else None
    found = [number for number, item in enumerate(outer.items) if item.name == step]
    return found[-1] if found and outer.is_object else None


def pruned(text: str, paths: Iterable[Sequence[str | int]]) -> str:
    """Only what lies on one of ``paths`` or below its end; everything else is taken out."""
    wanted = [tuple(path) for path in paths]
    outer = opened(text)
    if () in wanted or outer is None:
        return text
    kept = []
    for number, item in enumerate(outer.items):
        step: str | int = item.name if outer.is_object else number
        below = [path[1:] for path in wanted if path[0] == step]
        if below:
            kept.append(replace(item, value=pruned(item.value, below)))
    return outer.holding(kept).text
