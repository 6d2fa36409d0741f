"""Options that several commands share: one spelling, one help text, one meaning."""

from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

DAY_S: Final = 86_400.0
"""More than any episode takes, and little enough for every clock of the operating system."""

CorpusOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--corpus",
        metavar="DIR|git+URL",
        help="Folder of .rq records, git+<url>\\[@ref]\\[#subdir], or the name of a bundled corpus.",
        show_default=False,
    ),
]
TierOption: TypeAlias = Annotated[
    str | None, typer.Option("--tier", help="Only records whose name ends in _TIER.", show_default=False)
]
ExcludeOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        help="Keep out records whose id matches this glob; repeatable. Matching nothing is an error.",
        show_default=False,
    ),
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, help="At most this many records, after the other filters.")
]
EndpointOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--endpoint",
        envvar="OKN_BENCHMARK_ENDPOINT",
        metavar="URL|PATH|sample",
        help="SPARQL endpoint: an http(s) URL, a path to RDF, or the bundled sample graphs.",
    ),
]
CacheOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Keep ground truth and clones here, not in the user cache folder."),
]
QueryTimeoutOption: TypeAlias = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.001, max=DAY_S, help="Time limit of one query.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for a script to read.")]
ProfileOption: TypeAlias = Annotated[
    Path | None, typer.Option("--profile", metavar="FILE", help="TOML file naming the MCP server.", show_default=False)
]
