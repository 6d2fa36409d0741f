"""One ``.rq`` text to a record: the prose question, its answer key, and the wrong answers it expects. Pure.

The ``#+`` lines are one YAML document by convention, but published files are not tidy: a summary often holds a bare
colon or a number sign. The summary is therefore read as plain text unless it opens with ``>``, ``|`` or a quote.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

import yaml

from okn_benchmark.errors import InputError

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_KEY: Final = re.compile(r"([a-z][a-z0-9_-]*):(?=\s|$)")
_NEARLY_KEY: Final = re.compile(r"([A-Za-z]+)\s*:(?=\s|$)")
KEYS: Final = ("summary", "tags", "traps", "empty")
"""What is read of the ``#+`` lines; published files carry other keys too, which are left alone."""
_PREFIX_LINE: Final = re.compile(r"^\s*PREFIX\s+([^\s:]*):\s*<[^>]*>", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class QueryTrap:
    """A wrong reading as a query; ``query`` has the key's prefixes where it declares none of its own."""

    query: str


@dataclass(frozen=True, slots=True)
class ScaleTrap:
    """The key with one numeric column multiplied."""

    column: str
    by: Decimal


Trap: TypeAlias = QueryTrap | ScaleTrap


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A question. ``query`` is the author's text without the ``#+`` lines; ``query_line`` is its first line, from 1."""

    id: str
    tier: str | None
    summary: str
    tags: tuple[str, ...] = ()
    traps: Mapping[str, Trap] = field(default_factory=dict)
    query: str
    empty: bool = False
    """Whether the author declares that the right answer has no rows."""
    path_name: str
    query_line: int = 1
    other_keys: tuple[tuple[str, int], ...] = ()
    """Keys of the ``#+`` lines that mean nothing here, each with its line in the file."""


class RecordError(InputError):
    """A text that is no record. ``line`` counts from 1; ``reason`` leaves the place out."""

    def __init__(self, name: str, line: int, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"{name}:{line}: {reason}", hint=hint)
        self.name, self.line, self.reason = name, line, reason


def fingerprint(query: str) -> str:
    """SHA-256 of a query text, 64 hex digits; line endings and outer blank space do not count."""
    return hashlib.sha256(_unix(query).strip().encode("utf-8")).hexdigest()


def tier_of(record_id: str) -> str | None:
    """What follows the last underscore of an id, or None."""
    stem, mark, tier = record_id.rpartition("_")
    return tier if mark and stem and tier else None


def parse_record(text: str, name: str) -> Record:
    """Read one record; ``name`` is its file name and gives the id.

    Raises:
        RecordError: with the line at fault and what to write instead.
    """
    record_id = name.removesuffix(".rq")
    if not _ID.fullmatch(record_id):
        raise RecordError(
            name, 1, f"{record_id!r} cannot be a record id, since folders are named after it; "
            "use letters, digits, '.', '_', '+' and '-'",
        )  # fmt: skip
    lines = _unix(text.removeprefix("\ufeff")).split("\n")
    header = _dedented([(n, line) for n, line in enumerate(lines, start=1) if line.startswith("#+")])
    body = [(n, line) for n, line in enumerate(lines, start=1) if not line.startswith("#+")]
    blocks = _blocks(header, name)
    query_line = next((n for n, line in body if line.strip()), None)
    if query_line is None:
        raise RecordError(name, len(lines), "there is no query below the '#+' lines; write the SPARQL answer key there")
    query = "\n".join(line for _, line in body).strip()
    return Record(
        id=record_id,
        tier=tier_of(record_id),
        summary=_summary(blocks, name),
        tags=_tags(blocks, name),
        traps=_traps(blocks, name, query),
        query=query,
        empty=_empty(blocks, name),
        path_name=name,
        query_line=query_line,
        other_keys=_others(blocks),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """One top-level key with all its lines; ``line`` is where it starts."""

    line: int
    key: str
    lines: tuple[str, ...]


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _dedented(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The text behind ``#+``, one blank dropped and then the indentation that all lines share."""
    texts = [line[2:].expandtabs(2).removeprefix(" ").rstrip() for _, line in lines]
    shared = min((len(text) - len(text.lstrip()) for text in texts if text), default=0)
    return [(number, text[shared:]) for (number, _), text in zip(lines, texts, strict=True)]


def _blocks(header: list[tuple[int, str]], name: str) -> dict[str, _Block]:
    found: dict[str, _Block] = {}
    current: tuple[int, str, list[str]] | None = None
    for number, line in header:
        opening = _KEY.match(line)
        if opening:
            key = opening.group(1)
            if key in found or (current and current[1] == key):
                raise RecordError(name, number, f"'{key}' is given twice; keep one")
            if current:
                found[current[1]] = _Block(current[0], current[1], tuple(current[2]))
            current = (number, key, [line])
        elif current:
            current[2].append(line)
        elif line.strip():
            raise RecordError(
                name, number, "the '#+' lines open with text that belongs to no key; write '#+ summary: …'"
            )
    if current:
        found[current[1]] = _Block(current[0], current[1], tuple(current[2]))
    return found


def _others(blocks: Mapping[str, _Block]) -> tuple[tuple[str, int], ...]:
    """Unknown keys, and lines such as ``Traps:`` that were taken for text of the key before."""
    found = [(block.key, block.line) for block in blocks.values() if block.key not in KEYS]
    for block in blocks.values():
        for offset, line in enumerate(block.lines[1:], start=1):
            nearly = _NEARLY_KEY.match(line)
            if nearly and nearly.group(1).lower() in KEYS:
                found.append((nearly.group(1), block.line + offset))
    return tuple(sorted(found, key=lambda item: item[1]))


def meant(key: str) -> str | None:
    """The known key that an unknown one is a misspelling of, or None."""
    return next(iter(get_close_matches(key.lower(), KEYS, n=1, cutoff=0.75)), None)


def _yaml(block: _Block, name: str) -> Any:
    try:
        loaded = yaml.safe_load("\n".join(block.lines))
    except yaml.MarkedYAMLError as error:
        offset = error.problem_mark.line if error.problem_mark else 0
        raise RecordError(
            name, block.line + offset, f"'{block.key}' is not YAML ({error.problem or 'unreadable'})",
            hint="Indent with blanks and put text that holds ': ' or ' #' in quotes.",
        ) from error  # fmt: skip
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecordError(name, block.line, f"'{block.key}' is not YAML ({str(error).splitlines()[0]})") from error
    return loaded.get(block.key) if isinstance(loaded, dict) else None


def _summary(blocks: Mapping[str, _Block], name: str) -> str:
    block = blocks.get("summary")
    if block is None:
        nearly = next((other for other in blocks.values() if meant(other.key) == "summary"), None)
        if nearly is not None:
            raise RecordError(name, nearly.line, f"there is no summary; '{nearly.key}' is not 'summary'")
        raise RecordError(name, 1, "there is no summary; write the question on lines '#+ summary: …' above the query")
    first = block.lines[0].partition(":")[2].strip()
    if first[:1] in (">", "|", '"', "'"):
        value = _yaml(block, name)
        summary = value.strip() if isinstance(value, str) else ""
    else:
        summary = _folded([first, *block.lines[1:]])
    if not summary:
        raise RecordError(name, block.line, "the summary is empty; it is the whole question the agent gets")
    return summary


def _folded(lines: list[str]) -> str:
    """Lines joined by a blank, an empty line kept as a break: how YAML folds plain text."""
    paragraphs = "\n".join(line.strip() for line in lines).strip().split("\n\n")
    return "\n".join(" ".join(part.split()) for part in paragraphs)


def _tags(blocks: Mapping[str, _Block], name: str) -> tuple[str, ...]:
    block = blocks.get("tags")
    value = _yaml(block, name) if block else None
    if value is None:
        return ()
    items = value.split(",") if isinstance(value, str) else value
    if block and (not isinstance(items, list) or not all(isinstance(item, str) for item in items)):
        raise RecordError(name, block.line, "'tags' is a list of graph shortnames; write each as '#+   - shortname'")
    return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))


def _empty(blocks: Mapping[str, _Block], name: str) -> bool:
    block = blocks.get("empty")
    value = _yaml(block, name) if block else False
    if block and not isinstance(value, bool):
        raise RecordError(name, block.line, "'empty' is true or false; write '#+ empty: true' for a key without rows")
    return bool(value)


def _traps(blocks: Mapping[str, _Block], name: str, key: str) -> dict[str, Trap]:
    block = blocks.get("traps")
    value = _yaml(block, name) if block else None
    if block is None or value is None:
        return {}
    if not isinstance(value, dict):
        raise RecordError(
            name, block.line, "'traps' maps names to queries; write '#+   name: |' and the query below it"
        )
    return {_trap_name(trap, block, name): _trap(trap, body, block, name, key) for trap, body in value.items()}


def _trap_name(trap: Any, block: _Block, name: str) -> str:
    if not isinstance(trap, str) or not _ID.fullmatch(trap):
        raise RecordError(name, block.line, f"{trap!r} is no name for a trap; use letters, digits and '-'")
    return trap


def _trap(trap: str, body: Any, block: _Block, name: str, key: str) -> Trap:
    match body:
        case str(query) | {"query": str(query)} if query.strip():
            return QueryTrap(_with_prefixes(query.strip(), key))
        case {"scale": {"column": str(column), "by": int() | float() | str() as by}} if not isinstance(by, bool):
            try:
                factor = Decimal(str(by))
            except InvalidOperation:
                factor = Decimal("NaN")
            if factor.is_finite() and factor not in (0, 1):
                return ScaleTrap(column.removeprefix("?"), factor)
    raise RecordError(
        name, block.line,
        f"trap '{trap}' is neither a query nor 'scale: {{column: name, by: factor}}' with a factor other than 0 and 1",
    )  # fmt: skip


def _with_prefixes(query: str, key: str) -> str:
    """A trap may lean on the key's prefixes: those it does not declare itself are put in front."""
    own = {match.group(1) for match in _PREFIX_LINE.finditer(query)}
    lent = [match.group().strip() for match in _PREFIX_LINE.finditer(key) if match.group(1) not in own]
    return "\n".join([*lent, query])
