"""Is the upstream well? A breaker over its calls, and failures it hides inside successful replies. Pure.

A hidden failure is recognised by structure: a member that is called an error, an HTTP status, or an error text that
stands beside an empty result. Rows of data are never looked into, so a value that talks about errors is data.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

THRESHOLD: Final = 3
_EXCERPT: Final = 200
_DEEPEST: Final = 4

_ERROR_MEMBERS: Final = frozenset({"error", "errors", "error_message", "errormessage", "exception"})
_STATUS_MEMBERS: Final = frozenset({"status", "status_code", "statuscode", "http_status", "httpstatus"})
_FAILED_STATUS: Final = frozenset({"error", "failed", "failure"})
_WRAPPERS: Final = frozenset({"result", "results", "data", "response", "body", "payload", "output"})
_COUNTERS: Final = re.compile(r"(?:^|_)(?:count|total|size|length|num|n|rows|hits)(?:_|$)")
_NO_ERROR: Final = frozenset({"", "none", "null", "no", "ok", "false", "n/a", "0"})

_HTTP: Final = re.compile(r"\bHTTP(?:/[\d.]+)?(?:\s+(?:error|status(?:\s+code)?))?\s*:?\s*[45]\d\d\b", re.IGNORECASE)
_STATUS_LINE: Final = re.compile(r"^\s*[45]\d\d\s+(?:client |server )?[A-Z][A-Za-z]+")
_OPENS_AS_ERROR: Final = re.compile(
    r"^\s*(?:error|exception|failure|failed|traceback \(most recent call last\)|[A-Za-z_.]+(?:Error|Exception))"
    r"(?:\s*:|\s+(?:executing|running|calling|querying|fetching|while|during|in|from|to)\b)",
    re.IGNORECASE,
)
_LIMITED: Final = re.compile(
    r"\b(?:too many requests|rate.?limit(?:ed)?|timed? ?out|service unavailable)\b", re.IGNORECASE
)


class Breaker:
    """Three failed calls in a row declare the session dead; any answer in between resets the count."""

    __slots__ = ("_failures", "_threshold")

    def __init__(self, threshold: int = THRESHOLD) -> None:
        self._threshold = threshold
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many calls in a row have failed."""
        return self._failures

    def failed(self) -> bool:
        """Count a failure; True when this one opens the breaker."""
        self._failures += 1
        return self._failures == self._threshold

    def answered(self) -> None:
        """The upstream answered, whatever it said."""
        self._failures = 0


def soft_error(result: Mapping[str, Any]) -> str | None:
    """What a ``tools/call`` result that claims success says went wrong, or None.

    Args:
        result: the ``result`` member of the reply, as it came.
    """
    if result.get("isError") or result.get("resultType", "complete") != "complete":
        return None
    for payload in _payloads(result):
        found = _in_text(payload) if isinstance(payload, str) else _in_object(payload, 0)
        if found:
            return found[:_EXCERPT]
    return None


def _payloads(result: Mapping[str, Any]) -> Iterator[Any]:
    yield result.get("structuredContent")
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            yield _opened(block["text"])


def _opened(text: str) -> Any:
    """JSON inside a text block as a value; anything else stays text."""
    if text[:64].lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _in_object(value: Any, depth: int) -> str | None:
    """Look at members by name; wrappers are opened, lists are data."""
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    for name, member in value.items():
        found = _in_member(str(name).lower(), member, depth)
        if found:
            return f"{name}: {found}"
    if _is_empty_result(value):
        for name, member in value.items():
            if isinstance(member, str) and _is_error_text(member):
                return f"{name}: {member}"
    return None


def _in_member(name: str, member: Any, depth: int) -> str | None:
    if name in _ERROR_MEMBERS:
        return _said(member)
    if name in _STATUS_MEMBERS and _is_failed_status(member):
        return str(member)
    if name in {"success", "ok"} and member is False:
        return "false"
    if isinstance(member, str) and _HTTP.match(member.lstrip()):
        return member
    if name in _WRAPPERS:
        inner = _opened(member) if isinstance(member, str) else member
        return _in_text(inner) if isinstance(inner, str) else _in_object(inner, depth + 1)
    return None


def _said(member: Any) -> str | None:
    """What an error member says; numbers are statuses or they are measurements."""
    if isinstance(member, str):
        return None if member.strip().lower() in _NO_ERROR else member
    if isinstance(member, bool):
        return "true" if member else None
    if isinstance(member, int):
        return str(member) if 400 <= member < 600 else None
    if isinstance(member, Mapping):
        # {"type": "literal", "value": …} is a SPARQL binding of a variable that happens to be called error.
        if not member or {"type", "value"} <= set(member):
            return None
        return str(member.get("message") or json.dumps(member, ensure_ascii=False))
    if isinstance(member, list) and member and all(isinstance(item, str | Mapping) for item in member):
        first = member[0]
        return first if isinstance(first, str) else str(first.get("message") or json.dumps(first, ensure_ascii=False))
    return None


def _is_failed_status(member: Any) -> bool:
    if isinstance(member, str):
        return member.strip().lower() in _FAILED_STATUS or bool(re.match(r"\s*[45]\d\d\b", member))
    return isinstance(member, int) and not isinstance(member, bool) and 400 <= member < 600


def _is_empty_result(value: Mapping[str, Any]) -> bool:
    """Nothing in it but empty containers, zero counts and texts, and at least one of the first two."""
    empty = False
    for name, member in value.items():
        if isinstance(member, list | Mapping):
            if member:
                return False
            empty = True
        elif member == 0 and not isinstance(member, bool) and _COUNTERS.search(str(name).lower()):
            empty = True
    return empty


def _is_error_text(text: str) -> bool:
    return bool(_HTTP.search(text) or _OPENS_AS_ERROR.match(text) or _STATUS_LINE.match(text) or _LIMITED.search(text))


def _in_text(text: str) -> str | None:
    """A reply that is one short sentence and an error. A table, even of one column, is data."""
    head = text.lstrip()[:_EXCERPT]
    first = head.partition("\n")[0]
    if _OPENS_AS_ERROR.match(first) or _HTTP.match(first):
        return first
    sentence = text.strip()
    if len(sentence) <= _EXCERPT * 2 and "\n" not in sentence and _HTTP.search(sentence):
        return sentence
    return None
