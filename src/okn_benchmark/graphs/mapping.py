"""``mapping.toml``: which columns of which CSV become which triples of a sample graph.

A mapping is data, so that a graph can be reviewed row by row without reading code. ``sources/README.md`` explains the
notation; this module only reads it and says what is wrong with it.
"""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from okn_benchmark.errors import InputError
from okn_benchmark.graphs.terms import STANDARD_PREFIXES, TermTemplate, read_template

SCHEMA_FILE = "schema.csv"
SYNTHETIC = "synthetic"
PUBLISHED = "published:"

Triple3 = tuple[TermTemplate, TermTemplate, TermTemplate]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTemplate:
    """A triple with values on it: the plain triple (if ``plain``) and an rdf:Statement that carries the values."""

    triple: Triple3
    values: tuple[tuple[TermTemplate, TermTemplate], ...]
    statement: TermTemplate | None = None
    plain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """One CSV file. Cells of the columns in ``many`` hold several values with ``|`` between them."""

    file: str
    triples: tuple[Triple3, ...]
    edges: tuple[EdgeTemplate, ...]
    many: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosureMapping:
    """Child-parent rows stored as their transitive closure, as ubergraph does.

    With ``through`` (the name of another closure's file) the relation is also carried down and up that hierarchy: what
    is a kind of something that is part of a whole is part of that whole.
    """

    file: str
    predicate: TermTemplate
    reflexive: bool = False
    through: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """Everything about one sample graph; ``rows`` holds each CSV by file name."""

    shortname: str
    about: str
    release: str
    licence: str
    notes: tuple[str, ...]
    prefixes: Mapping[str, str]
    tables: tuple[TableMapping, ...]
    closures: tuple[ClosureMapping, ...]
    rows: Mapping[str, tuple[Mapping[str, str], ...]] = field(repr=False)


def read_mapping(folder: Path) -> GraphMapping:
    """Read ``mapping.toml`` of a source folder and every CSV it names.

    Raises:
        InputError: the file is missing or malformed, a CSV lacks a column or a provenance, a CSV is named nowhere.
    """
    path = folder / "mapping.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path.parent.name} has no mapping.toml", hint="See graphs/sources/README.md.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{folder.name}/mapping.toml is not TOML: {error}") from error
    prefixes = {**STANDARD_PREFIXES, **data.get("prefixes", {})}
    tables = tuple(_table(item, prefixes) for item in data.get("table", ()))
    closures = tuple(_closure(item, prefixes) for item in data.get("closure", ()))
    graph = data["graph"]
    mapping = GraphMapping(
        shortname=folder.name,
        about=graph["about"],
        release=graph["release"],
        licence=graph["licence"],
        notes=tuple(graph.get("notes", ())),
        prefixes=prefixes,
        tables=tables,
        closures=closures,
        rows=_all_rows(folder, {t.file for t in tables} | {c.file for c in closures}),
    )
    _check_columns(mapping)
    return mapping


def _table(item: Mapping[str, Any], prefixes: Mapping[str, str]) -> TableMapping:
    return TableMapping(
        file=item["file"],
        triples=tuple(_triple(three, prefixes) for three in item.get("triples", ())),
        edges=tuple(_edge(edge, prefixes) for edge in item.get("edges", ())),
        many=tuple(item.get("many", ())),
    )


def _triple(three: list[str], prefixes: Mapping[str, str]) -> Triple3:
    if len(three) != 3:
        raise InputError(f"a triple template has {len(three)} terms instead of three: {three}")
    subject, predicate, object_ = (read_template(text, prefixes) for text in three)
    return subject, predicate, object_


def _edge(item: Mapping[str, Any], prefixes: Mapping[str, str]) -> EdgeTemplate:
    statement = item.get("statement")
    return EdgeTemplate(
        triple=_triple(item["triple"], prefixes),
        values=tuple((read_template(p, prefixes), read_template(o, prefixes)) for p, o in item.get("values", ())),
        statement=read_template(statement, prefixes) if statement else None,
        plain=item.get("plain", True),
    )


def _closure(item: Mapping[str, Any], prefixes: Mapping[str, str]) -> ClosureMapping:
    return ClosureMapping(
        file=item["file"],
        predicate=read_template(item["predicate"], prefixes),
        reflexive=item.get("reflexive", False),
        through=item.get("through", ""),
    )


def _all_rows(folder: Path, named: set[str]) -> dict[str, tuple[Mapping[str, str], ...]]:
    there = {path.name for path in folder.glob("*.csv")} - {SCHEMA_FILE}
    if strange := sorted(there ^ named):
        raise InputError(
            f"{folder.name}: {', '.join(strange)} stands in the folder or in mapping.toml, but not in both",
            hint="Name each CSV in a [[table]] or [[closure]], or remove it.",
        )
    return {name: _rows(folder / name) for name in sorted(there)}


def _rows(path: Path) -> tuple[Mapping[str, str], ...]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    seen: set[tuple[str, ...]] = set()
    where = f"{path.parent.name}/{path.name}"
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise InputError(f"{where}, row {number}: another number of cells than the header")
        provenance = row.get("provenance", "")
        if provenance != SYNTHETIC and not (provenance.startswith(PUBLISHED) and provenance != PUBLISHED):
            raise InputError(
                f"{where}, row {number}: provenance is {provenance!r}",
                hint=f"Write {SYNTHETIC!r} or {PUBLISHED + '<source>'!r}.",
            )
        key = tuple(value for name, value in row.items() if name != "provenance")
        if key in seen:
            raise InputError(f"{where}, row {number}: the same row stands above it already")
        seen.add(key)
    return tuple(rows)


def _check_columns(mapping: GraphMapping) -> None:
    for table in mapping.tables:
        rows = mapping.rows[table.file]
        have = set(rows[0]) if rows else set()
        for template in _templates(table):
            if rows and (missing := set(template.columns) - have):
                raise InputError(f"{mapping.shortname}/{table.file} has no column {', '.join(sorted(missing))}")
    for closure in mapping.closures:
        rows = mapping.rows[closure.file]
        if rows and not {"child", "parent"} <= set(rows[0]):
            raise InputError(f"{mapping.shortname}/{closure.file} needs the columns child and parent")


def _templates(table: TableMapping) -> list[TermTemplate]:
    found = [term for triple in table.triples for term in triple]
    for edge in table.edges:
        found += [*edge.triple, *(term for pair in edge.values for term in pair)]
        found += [edge.statement] if edge.statement else []
    return found
