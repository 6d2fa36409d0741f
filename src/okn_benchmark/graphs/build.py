"""Build the sample graphs: ``python -m okn_benchmark.graphs.build [--check] [shortname…]``.

Reads ``sources/<shortname>/`` (CSV rows and ``mapping.toml``) and writes ``data/<shortname>.trig``: one named graph,
sorted, the same bytes for the same rows. Without names it builds all and refreshes the table in ``sources/README.md``.
``--check`` writes nothing and exits 1 when a file on disk is not what the sources say.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.errors import InputError, OknBenchmarkError
from okn_benchmark.files import replace_whole
from okn_benchmark.graphs.mapping import SYNTHETIC, GraphMapping, read_mapping
from okn_benchmark.graphs.triples import Triple, graph_triples

HERE = Path(__file__).parent
GRAPH_BASE = "https://purl.org/okn/frink/kg/"
TABLE_MARKS = ("<!-- built table: begin -->", "<!-- built table: end -->")

_LOCAL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One sample graph, in memory: its TriG text and the numbers the README shows."""

    mapping: GraphMapping
    text: str
    triples: int
    published: int
    synthetic: int


def build(folder: Path) -> Built:
    """Build the graph of one source folder.

    Raises:
        InputError: see ``mapping.read_mapping`` and ``triples.graph_triples``.
    """
    mapping = read_mapping(folder)
    triples = graph_triples(mapping)
    provenances = [row["provenance"] for rows in mapping.rows.values() for row in rows]
    synthetic = provenances.count(SYNTHETIC)
    published = len(provenances) - synthetic
    header = _header(mapping, published, synthetic, len(triples))
    return Built(
        mapping=mapping,
        text="\n".join([*header, *_body(mapping, triples)]) + "\n",
        triples=len(triples),
        published=published,
        synthetic=synthetic,
    )


def _header(mapping: GraphMapping, published: int, synthetic: int, triples: int) -> list[str]:
    lines = [
        f"{mapping.shortname}: {mapping.about}",
        "A sample for trying the benchmark without a network, not the graph itself.",
        f"Source release: {mapping.release}",
        f"Rows: {published} published, {synthetic} synthetic; {triples} triples. Which row is which: the provenance",
        f"column of the CSV files in graphs/sources/{mapping.shortname}/, from which this file is built.",
        f"Licence of the source, as stated: {mapping.licence}",
        *mapping.notes,
    ]
    return [f"# {line}" for line in lines]


def _body(mapping: GraphMapping, triples: Sequence[Triple]) -> list[str]:
    short = _Shortener(mapping.prefixes)
    lines = [f"    {' '.join(short(term) for term in triple)} ." for triple in triples]
    prefixes = [f"@prefix {name}: <{iri}> ." for name, iri in sorted(mapping.prefixes.items()) if name in short.used]
    return [*prefixes, "", f"<{GRAPH_BASE}{mapping.shortname}> {{", *lines, "}"]


class _Shortener:
    """Writes IRIs as prefixed names where Turtle allows it without escapes, and remembers which prefixes it used."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._known = sorted(prefixes.items(), key=lambda item: (-len(item[1]), item[0]))
        self.used: set[str] = set()

    def __call__(self, term: str) -> str:
        if term.startswith("<"):
            return self._iri(term)
        text, mark, datatype = term.rpartition("^^")
        typed = mark and datatype.startswith("<") and datatype.endswith(">")
        return f"{text}^^{self._iri(datatype)}" if typed else term

    def _iri(self, term: str) -> str:
        iri = term[1:-1]
        for name, base in self._known:
            if iri.startswith(base) and _LOCAL.fullmatch(iri[len(base) :]):
                self.used.add(name)
                return f"{name}:{iri[len(base) :]}"
        return term


def source_folders(sources: Path, names: Sequence[str] = ()) -> list[Path]:
    """The folders to build, by name; all of them when none is named.

    Raises:
        InputError: a name without a folder.
    """
    there = {path.parent.name: path.parent for path in sources.glob("*/mapping.toml")}
    if unknown := sorted(set(names) - set(there)):
        raise InputError(f"no sources for {', '.join(unknown)}", hint=f"There are: {', '.join(sorted(there))}.")
    return [there[name] for name in sorted(names or there)]


def readme_text(old: str, graphs: Sequence[Built]) -> str:
    """The README with its table rebuilt between the two marks."""
    begin, end = TABLE_MARKS
    head, mark, rest = old.partition(begin)
    _, mark_after, tail = rest.partition(end)
    if not (mark and mark_after):
        raise InputError(f"sources/README.md lacks the marks {begin} and {end}")
    rows = [
        f"| {g.mapping.shortname} | {g.triples:,} | {g.published:,} | {g.synthetic:,} | {g.mapping.release} "
        f"| {g.mapping.licence} |"
        for g in graphs
    ]
    total = "| **all** | {:,} | {:,} | {:,} | | |".format(
        *(sum(column) for column in zip(*((g.triples, g.published, g.synthetic) for g in graphs), strict=True))
    )
    table = [
        "| graph | triples | rows published | rows synthetic | source release | licence as stated |",
        "|---|---:|---:|---:|---|---|",
        *rows,
        total,
    ]
    return head + "\n".join([begin, *table, end]) + tail


def outputs(root: Path, names: Sequence[str]) -> dict[Path, str]:
    """Each file that should be on disk, with the text it should have."""
    graphs = [build(folder) for folder in source_folders(root / "sources", names)]
    wanted = {root / "data" / f"{g.mapping.shortname}.trig": g.text for g in graphs}
    readme = root / "sources" / "README.md"
    if not names and readme.exists():
        wanted[readme] = readme_text(readme.read_text(encoding="utf-8"), graphs)
    return wanted


def stale(wanted: Mapping[Path, str]) -> list[Path]:
    """The files that are missing or differ."""
    return [path for path, text in wanted.items() if not path.exists() or path.read_bytes() != text.encode()]


def main(arguments: Sequence[str] | None = None, root: Path = HERE) -> int:
    """Build or check; the exit code of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m okn_benchmark.graphs.build", description="Build the sample graphs."
    )
    parser.add_argument("shortname", nargs="*", help="graphs to build (default: all, and the README table)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when something is stale")
    options = parser.parse_args(arguments)
    try:
        wanted = outputs(root, options.shortname)
        old = stale(wanted)
        if not options.check:
            for path in old:
                replace_whole(path, wanted[path])
    except OknBenchmarkError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    word = "stale" if options.check else "written"
    sys.stdout.write("".join(f"{word}: {path.relative_to(root)}\n" for path in old) or "everything is up to date\n")
    return 1 if options.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
