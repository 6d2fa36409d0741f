"""Where words meet the terminal: plain lines when piped, colour on a terminal, nothing hostile on either."""

import io
import os
import re
import sys
from typing import Any, Final

import typer

from okn_benchmark.errors import OknBenchmarkError

# C0 and C1 controls except tab and newline, and the bidirectional overrides: what a server or an agent sends must not
# move the cursor, change the title or reorder what a person reads.
_UNSAFE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")

_quiet = False


def settle(*, quiet: bool) -> None:
    """Remember how talkative to be; called once, before any command."""
    global _quiet  # noqa: PLW0603
    _quiet = quiet


def speak_any_encoding() -> None:
    """A terminal that lacks a character is shown its escape: no command may fail for a dash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def harmless(text: str) -> str:
    """``text`` with every terminal control shown as its escape."""
    return _UNSAFE.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def say(text: str = "") -> None:
    """A result: always printed, on stdout."""
    typer.echo(harmless(text))


def tell(text: str = "") -> None:
    """Progress or comment: on stderr, and not with ``--quiet``."""
    if not _quiet:
        typer.echo(harmless(text), err=True)


def warn(text: str) -> None:
    """Something to notice: on stderr even with ``--quiet``."""
    typer.echo(harmless(text), err=True)


def complain(error: OknBenchmarkError) -> None:
    """One of our errors: a sentence, then the way out."""
    typer.echo(f"error: {harmless(error.sentence)}", err=True)
    if error.hint:
        typer.echo(f"  {harmless(error.hint)}", err=True)


def on_terminal() -> bool:
    """Whether a person is watching stderr."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def plain() -> bool:
    """Whether colour is unwanted (https://no-color.org) or stdout is not a terminal."""
    return bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()


def page(text: str) -> None:
    """A whole document on stdout, in UTF-8 whatever the terminal speaks."""
    typer.echo(text.encode(), nl=False)


def json_out(value: Any) -> None:
    """A JSON document on stdout, exactly as given: escapes are JSON's own."""
    from okn_benchmark.jsonio import pretty

    page(pretty(value))
