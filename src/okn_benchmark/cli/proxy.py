"""``proxy``: listed here for ``--help``; the script hands over to the proxy process before this is ever imported."""

import os
import sys

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "proxy",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
        help="The filtering MCP server itself, on stdin and stdout, for any MCP client.",
    )(_hand_over)


def _hand_over(ctx: typer.Context) -> None:
    os.execv(sys.executable, [sys.executable, "-P", "-m", "okn_benchmark.proxy", *ctx.args])  # noqa: S606
