"""The door: commands are found here, our errors become one sentence and an exit code, bugs keep their traceback."""

from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from okn_benchmark import __version__
from okn_benchmark.cli import console
from okn_benchmark.errors import OknBenchmarkError

STAGES: Final = (
    "corpus",
    "reference",
    "selfcheck",
    "probe",
    "audit",
    "run",
    "report",
    "rescore",
    "compare",
    "power",
    "score",
    "freeze",
    "proxy",
    "graphs",
    "sample_server",
    "demo",
)
"""One module of ``cli`` per stage, in the order a study meets them; each has ``register(app)``."""


class ExplainingGroup(TyperGroup):
    """Turn our own errors into a sentence and a way out; let every other exception crash loudly."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """An empty argument is an unset variable of the shell, and as a path it would mean the current folder."""
        for before, value in pairwise(["", *args]):
            if not value or (value.startswith("--") and value.endswith("=")):
                option = value.rstrip("=") or (before if before.startswith("-") else "an argument")
                raise typer.BadParameter(f"{option} is empty: is a variable of the shell not set?", ctx=ctx)
        return super().parse_args(ctx, _anywhere(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors of ours end as exit codes, an interrupt as 130."""
        debug = bool(ctx.params.get("debug"))
        try:
            return super().invoke(ctx)
        except OknBenchmarkError as error:
            if debug:
                raise
            console.complain(error)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            console.warn("interrupted")
            raise typer.Exit(130) from error


def _anywhere(args: list[str]) -> list[str]:
    """The two switches of the whole program may also stand after the command, where most people type them."""
    end = args.index("--") if "--" in args else len(args)
    moved = [value for value in args[:end] if value in ("--quiet", "--debug")]
    return moved + [value for value in args[:end] if value not in moved] + args[end:]


def _show_version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        typer.echo(f"okn-benchmark {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="okn-benchmark",
        cls=ExplainingGroup,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,  # they print local variables, and a profile's headers are among those
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        *,
        version: Annotated[
            bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
        ] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what was asked for, and errors.")] = False,
        debug: Annotated[bool, typer.Option("--debug", help="Show a traceback instead of a sentence.")] = False,
    ) -> None:
        """How well does an agent answer with SPARQL, and how much of that does your MCP server add?"""
        del version, debug
        console.settle(quiet=quiet)

    for stage in STAGES:
        import_module(f"okn_benchmark.cli.{stage}").register(app)
    return app
