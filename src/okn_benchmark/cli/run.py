"""``run``: one condition over the corpus."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from okn_benchmark.cli import console
from okn_benchmark.cli.options import (
    DAY_S,
    CacheOption,
    CorpusOption,
    EndpointOption,
    ExcludeOption,
    LimitOption,
    TierOption,
)
from okn_benchmark.errors import OutsideFailure
from okn_benchmark.jobs.request import DEFAULT_AGENT_TIMEOUT_S, DEFAULT_MODEL, Effort, RunRequest, default_hint
from okn_benchmark.launch import DEFAULT_CALL_TIMEOUT_S, Level
from okn_benchmark.sparql.endpoint import FEDERATION_URL


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(
    *,
    corpus: CorpusOption,
    tools: Annotated[Level, typer.Option("--tools", help="The whole server, or a bare query tool as the control.")],
    out: Annotated[Path, typer.Option("--out", help="The runs root; conditions of one study share it.")],
    endpoint: EndpointOption = FEDERATION_URL,
    kg_hint: Annotated[
        Literal["none", "tags"] | None,
        typer.Option(
            "--kg-hint",
            help="Name the graphs in the prompt (tags), or let them be found (none). By default tags for sparql-only, "
            "which takes no other, and none for all-tools.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[Path | None, typer.Option("--profile", help="TOML file naming the server under test.")] = None,
    without_tool: Annotated[
        list[str] | None,
        typer.Option("--without-tool", metavar="NAME", help="Take this tool away from the agent; repeat."),
    ] = None,
    tier: TierOption = None,
    exclude: ExcludeOption = None,
    limit: LimitOption = None,
    model: Annotated[str, typer.Option("--model", help="Exact model id, or an alias that moves over time.")] = (
        DEFAULT_MODEL
    ),
    effort: Annotated[
        Effort | None, typer.Option("--effort", help="Thinking effort; by default the host's own.")
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Attempts of each question.")] = 1,
    host: Annotated[
        Literal["claude", "oracle"],
        typer.Option("--host", help="The agent program, or an oracle that runs the key and uses no model."),
    ] = "claude",
    label: Annotated[str | None, typer.Option("--label", help="Keep this run apart under another name.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Run anew; what was recorded moves to .replaced/.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Keep what was measured, run what is missing.")] = False,
    agent_timeout: Annotated[
        float, typer.Option("--agent-timeout", min=0.1, max=DAY_S, help="Seconds one episode may take.")
    ] = DEFAULT_AGENT_TIMEOUT_S,
    max_turns: Annotated[int | None, typer.Option("--max-turns", min=1, help="Turns one episode may take.")] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=DAY_S, help="Seconds one proxied call may take.")
    ] = DEFAULT_CALL_TIMEOUT_S,
    strict_upstream_errors: Annotated[
        bool, typer.Option("--strict-upstream-errors", help="Flag failures a server hides in successful replies.")
    ] = False,
    result_limit: Annotated[
        int | None,
        typer.Option("--result-limit", min=1, help="Ask the host for whole results up to this many characters."),
    ] = None,
    precision: Annotated[
        int, typer.Option("--precision", help="Significant digits of a decimal that have to agree.")
    ] = 6,
    numeric_rel_tol: Annotated[
        float, typer.Option("--numeric-rel-tol", help="Relative distance within which a decimal is taken as the key's.")
    ] = 5e-4,
    protocol_negotiation: Annotated[
        Literal["legacy", "auto"], typer.Option("--protocol-negotiation", help="How the host greets the server.")
    ] = "legacy",
    arm: Annotated[Path | None, typer.Option("--arm", help="TOML file of interventions at the wire.")] = None,
    keep_payloads: Annotated[
        bool, typer.Option("--keep-payloads", help="With --arm: keep each result it is about, before and after.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Record every reply of the server in this folder.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="DIR", help="Answer from replies recorded here; the server is not asked."),
    ] = None,
    then_live: Annotated[
        bool, typer.Option("--then-live", help="With --replay: ask the server for what is not there, and record it.")
    ] = False,
    model_script: Annotated[
        Path | None, typer.Option("--model-script", help="Rehearse: a script answers in the model's place, for free.")
    ] = None,
    claude: Annotated[str | None, typer.Option("--claude", help="The agent binary; by default claude on PATH.")] = None,
    allow_failed_audit: Annotated[
        bool, typer.Option("--allow-failed-audit", help="Go on though the host audit found something; recorded.")
    ] = False,
    drift_check: Annotated[
        bool, typer.Option("--drift-check", help="Ask the keys again before and after, and set changed ones apart.")
    ] = False,
    cache: CacheOption = None,
) -> None:
    """Run one condition: every question of the corpus, one at a time, each in an agent process of its own."""
    from okn_benchmark.cli.watching import watcher
    from okn_benchmark.jobs import run as job
    from okn_benchmark.jobs.prepare import prepare

    request = RunRequest(
        corpus=corpus,
        out=out,
        level=tools,
        kg_hint=kg_hint or default_hint(tools),
        endpoint=endpoint,
        cache=cache,
        tier=tier,
        exclude=tuple(exclude or ()),
        limit=limit,
        profile=profile,
        withheld=tuple(without_tool or ()),
        model=model,
        effort=effort,
        repeat=repeat,
        host=host,
        label=label,
        force=force,
        resume=resume,
        agent_timeout_s=agent_timeout,
        max_turns=max_turns,
        call_timeout_s=timeout,
        strict_upstream_errors=strict_upstream_errors,
        significant_digits=precision,
        numeric_rel_tol=numeric_rel_tol,
        result_limit=result_limit,
        protocol_negotiation=protocol_negotiation,
        arm=arm,
        keep_payloads=keep_payloads,
        record=record,
        replay=replay,
        then_live=then_live,
        model_script=model_script,
        claude=claude,
        allow_failed_audit=allow_failed_audit,
        drift_check=drift_check,
    )
    sweep = prepare(request)
    try:
        with watcher(sweep) as watch:
            swept = job.run(sweep, watch)
    except KeyboardInterrupt as interrupt:
        console.warn("interrupted; what was measured is kept, and the same command with --resume goes on from here")
        raise typer.Exit(130) from interrupt
    console.say(job.summary_line(swept))
    if not swept.measured:
        raise OutsideFailure(
            f"{swept.condition} measured nothing: {_all(len(swept.attempts))} blocked.",
            hint="The reasons stand in the report; mend the cause and run again with --resume.",
        )
    if swept.refused is not None:
        raise typer.Exit(1)


def _all(attempts: int) -> str:
    return "its one attempt was" if attempts == 1 else f"all {attempts} attempts were"
