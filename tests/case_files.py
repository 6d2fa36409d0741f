"""Read ``.case`` files; the format is described beside them, in ``tests/cases/scoring/README.md``."""

import codecs
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from okn_benchmark.scoring.settings import Settings
from okn_benchmark.table import XSD, Cell, Table, Term, table

FOLDER = Path(__file__).parent / "cases" / "scoring"

_TOKEN = re.compile(
    r'<(?P<iri>[^>]*)>|"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<lang>[A-Za-z0-9-]+)|\^\^(?:xsd:(?P<xsd>\w+)|<(?P<type>[^>]*)>))?'
    r"|_:(?P<blank>\S+)|(?P<bare>\S+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One dispute."""

    name: str
    reason: str
    reference: Table
    submitted: bytes | None
    verdict: dict[str, Any]
    settings: Settings = field(default_factory=Settings)
    traps: dict[str, Table] = field(default_factory=dict)


def case_paths() -> list[Path]:
    """Every case there is."""
    return sorted(FOLDER.glob("*.case"))


def read_case(path: Path) -> Case:
    """Parse one file; ValueError where it is not in the format."""
    reason, _, rest = path.read_bytes().decode("utf-8").partition("\n")
    if not reason.startswith("# ") or len(reason) < 12:
        raise ValueError(f"{path.name}: the first line must give the reason")
    sections = dict(_sections(rest))
    submitted = None if "no answer" in sections else _answer(sections)
    return Case(
        name=path.stem,
        reason=reason[2:],
        reference=read_table(sections["reference"]),
        submitted=submitted,
        verdict=tomllib.loads(sections["verdict"]),
        settings=Settings(**tomllib.loads(sections.get("settings", ""))),
        traps={
            title.removeprefix("trap "): read_table(text)
            for title, text in sections.items()
            if title.startswith("trap ")
        },
    )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^--- (.+)\n", text, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError("text before the first section")
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _answer(sections: dict[str, str]) -> bytes:
    if "answer escaped" in sections:
        line = sections["answer escaped"].removesuffix("\n")
        return codecs.escape_decode(line.encode("ascii"))[0]  # type: ignore[attr-defined,no-any-return]
    return sections["answer"].encode("utf-8")


def read_table(text: str) -> Table:
    """A table in the shorthand: names, then rows of Turtle-like cells."""
    names, *rows = text.splitlines()
    return table(names.split(), ([cell(match) for match in _TOKEN.finditer(row)] for row in rows))


def cell(match: re.Match[str]) -> Cell:
    """One cell of the shorthand."""
    if match["iri"] is not None:
        return Term("uri", match["iri"])
    if match["blank"] is not None:
        return Term("bnode", match["blank"])
    if match["text"] is not None:
        datatype = XSD + match["xsd"] if match["xsd"] else match["type"] or ""
        value = json.loads(f'"{match["text"]}"')
        return Term("literal", value, "" if datatype == XSD + "string" else datatype, match["lang"] or "")
    bare = match["bare"]
    if bare == "null":
        return None
    if bare in {"true", "false"}:
        return Term("literal", bare, XSD + "boolean")
    if re.fullmatch(r"[+-]?\d+", bare):
        return Term("literal", bare, XSD + "integer")
    if re.fullmatch(r"[+-]?\d*\.\d+", bare):
        return Term("literal", bare, XSD + "decimal")
    return Term("literal", bare, XSD + "double")
