"""Every command's own --help, as docs/reference/cli.md.

uv run python docs/build_cli_reference.py            write the page if it is out of date
uv run python docs/build_cli_reference.py --check    write nothing; exit with 1 when it is
"""

# ruff: noqa: INP001 - a script beside the pages it writes, not a package
import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# Read by the libraries when they are imported: plain text, the same on every terminal.
os.environ |= {"TYPER_USE_RICH": "0", "NO_COLOR": "1", "COLUMNS": "80"}

import typer
from typer.main import get_command

from okn_benchmark.cli.app import build
from okn_benchmark.files import replace_whole
from okn_benchmark.launch import parser as proxy_parser

PAGE = Path(__file__).resolve().parent / "reference" / "cli.md"
PROGRAM = "okn-benchmark"
INTRO = f"""\
# Every command

After this page you know every command and every option, in the program's own words.

The text below is what `{PROGRAM} COMMAND --help` prints. It is generated: change the program, then run
`uv run python docs/build_cli_reference.py`.

A command exits with 0 when it is done, 1 when the work itself found something wrong (a failed check, drift, an audit
with findings), 2 when what you gave cannot be used, 3 when it refuses (a frozen root, another run in the same place,
missing ground truth), 4 when something outside failed (an endpoint, a server, the agent program, a login), and 130
when you interrupted it. An error is one sentence on stderr and a second line with the way out.
"""


def contexts(context: typer.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], typer.Context]]:
    """Every command that does something, by the words that reach it; groups are walked through."""
    children = getattr(context.command, "commands", None)
    if children is None:
        yield path, context
        return
    for name, child in children.items():
        yield from contexts(typer.Context(child, info_name=name, parent=context), (*path, name))


def help_text(context: typer.Context) -> str:
    """What ``--help`` prints."""
    if context.info_name == "proxy":  # has a parser of its own, since it is a process of its own
        return proxy_parser().format_help()
    # The backslash keeps rich from reading a bracket as markup; without rich it would be printed.
    return context.get_help().replace("\\[", "[")


def page() -> str:
    """The whole page."""
    command: Any = get_command(build())
    top = typer.Context(command, info_name=PROGRAM, **command.context_settings)
    found = dict(contexts(top))
    parts = [INTRO]
    parts += [" ·\n".join(f"[{' '.join(path)}](#{'-'.join(path)})" for path in found) + "\n"]
    parts += ["## Options of the program itself\n", _block(help_text(top))]
    for path, context in found.items():
        parts += [f"## {' '.join(path)}\n", _block(help_text(context))]
    return "\n".join(parts)


def _block(text: str) -> str:
    lines = (line.rstrip() for line in text.strip().splitlines())
    return "\n".join(("```text", *lines, "```")) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the page is out of date")
    check = parser.parse_args(arguments).check
    wanted = page()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        print("docs/reference/cli.md is up to date")
        return 0
    if check:
        print(f"docs/reference/cli.md is out of date: run python docs/{Path(__file__).name}", file=sys.stderr)
        return 1
    replace_whole(PAGE, wanted)
    print("wrote docs/reference/cli.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
