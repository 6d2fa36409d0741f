"""Everything a sweep needs, found and checked before a byte is written.

A typo in a flag, a missing key, a server that does not answer: each is met here, while nothing has been spent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.condition import condition_name
from okn_benchmark.corpus.record import Record
from okn_benchmark.corpus.select import Selection, select
from okn_benchmark.corpus.source import Corpus, open_corpus
from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.interventions.arm_file import load_arm, tools_named
from okn_benchmark.jobs.request import RunRequest, check_request
from okn_benchmark.jobs.server import ServerFacts, check_arm, check_oracle, check_withheld, inspect_server
from okn_benchmark.jobs.truths import load_truths
from okn_benchmark.launch import ProxyLaunch
from okn_benchmark.profile import Profile, load_profile
from okn_benchmark.prompt import build_prompt
from okn_benchmark.runs.identity import Identity
from okn_benchmark.runs.shapes import TruthRecord
from okn_benchmark.scoring.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One condition over one selection of questions, ready to run."""

    request: RunRequest
    corpus: Corpus
    selection: Selection
    truths: Mapping[str, TruthRecord]
    prompts: Mapping[str, str]
    profile: Profile | None
    server: ServerFacts | None
    """None for the control, and where the server did not answer (``server_fault`` says what it did)."""
    server_fault: str | None
    identity: Identity
    condition: str
    settings: Settings
    arm: Arm | None = None

    @property
    def records(self) -> tuple[Record, ...]:
        """The questions, in corpus order."""
        return self.selection.records

    @property
    def expected_tools(self) -> tuple[str, ...] | None:
        """What the agent should be offered; None where nobody could look."""
        if self.server is None:
            return None
        gone = {*self.request.withheld, *(self.arm.without_tools if self.arm else ())}
        return tuple(name for name in self.server.tool_names if name not in gone)


def prepare(request: RunRequest) -> Sweep:
    """Open the corpus, the truth, the profile and the server; name the condition.

    Raises:
        InputError: what was asked for cannot be used.
        Refusal: the ground truth is missing or stale.
        OutsideFailure: names were given to withhold and the server, which alone knows its tools, did not answer.
    """
    check_request(request)
    arm = None if request.arm is None else load_arm(request.arm)
    profile = None if request.level == "sparql-only" or request.profile is None else load_profile(request.profile)
    corpus = open_corpus(request.corpus, request.cache)
    corpus.require_good()
    selection = select(corpus.records, request.tier, request.exclude, request.limit)
    prompts = {record.id: _prompt(record, request.kg_hint) for record in selection.records}
    truths = load_truths(request, selection.records)
    server, fault = _server(request, profile, arm)
    identity = _identity(request, profile, selection, arm)
    return Sweep(
        request=request,
        corpus=corpus,
        selection=selection,
        truths=truths,
        prompts=prompts,
        profile=profile,
        server=server,
        server_fault=fault,
        identity=identity,
        condition=condition_name(
            level=request.level,
            kg_hint=request.kg_hint,
            server=None if profile is None else profile.name,
            withheld=request.withheld,
            strict=request.strict_upstream_errors,
            arm=None if arm is None else arm.name,
            label=request.label,
        ),
        settings=Settings(
            significant_digits=request.significant_digits,
            numeric_rel_tol=request.numeric_rel_tol,
        ),
        arm=arm,
    )


def launch_of(request: RunRequest, *, endpoint: str | None, log_dir: Path | None) -> ProxyLaunch:
    """The proxy of one episode; ``endpoint`` is where the control's queries go."""
    control = request.level == "sparql-only"
    return ProxyLaunch(
        level=request.level,
        log_dir=log_dir,
        profile=None if control or request.profile is None else request.profile.resolve(),
        endpoint=endpoint if control else None,
        withheld=request.withheld,
        call_timeout_s=request.call_timeout_s,
        strict_upstream_errors=request.strict_upstream_errors,
        result_limit=request.result_limit,
        arm=None if request.arm is None else request.arm.resolve(),
        keep_payloads=request.keep_payloads,
        record=None if request.record is None else request.record.resolve(),
        replay=None if request.replay is None else request.replay.resolve(),
        then_live=request.then_live,
    )


def _prompt(record: Record, kg_hint: str) -> str:
    if kg_hint == "tags" and not record.tags:
        raise InputError(
            f"{record.path_name} has no tags, so --kg-hint tags has no graph to name.",
            hint="Add `#+ tags:` to the record, leave it out with --exclude, or use --kg-hint none.",
        )
    return build_prompt(record.summary, record.tags if kg_hint == "tags" else ())


def _server(request: RunRequest, profile: Profile | None, arm: Arm | None) -> tuple[ServerFacts | None, str | None]:
    """What the server offers. One that cannot be reached is a finding about it, unless names depend on it."""
    if profile is None:
        return None, None
    bare = RunRequest.without_interventions(request)
    try:
        server = inspect_server(launch_of(bare, endpoint=None, log_dir=None))
    except OutsideFailure as failure:
        if request.withheld or (arm is not None and any(tools_named(arm))):
            raise OutsideFailure(
                f"The server of {request.profile} did not answer, so the tool names given cannot be checked: "
                f"{failure.message}",
                hint=f"{failure.hint or 'Try it with `okn-benchmark probe`.'} Nothing was written.",
            ) from failure
        return None, failure.message
    check_withheld(request.withheld, server)
    if arm is not None:
        check_arm(arm, server)
    if request.host == "oracle" and profile.oracle is not None:
        check_oracle(profile.oracle, server, str(request.profile))
    return server, None


def _identity(request: RunRequest, profile: Profile | None, selection: Selection, arm: Arm | None) -> Identity:
    return Identity(
        level=request.level,
        kg_hint=request.kg_hint,
        server=None if profile is None else profile.name,
        model=request.shown_model,
        effort=request.effort,
        tier=request.tier,
        repeat=request.repeat,
        host=request.host,
        excluded=tuple(excluded.id for excluded in selection.excluded),
        withheld=request.withheld,
        strict_upstream_errors=request.strict_upstream_errors,
        arm=None if arm is None else arm.digest(),
        result_limit=request.result_limit,
        tool_search=True if request.host == "claude" else None,
        protocol_negotiation=request.protocol_negotiation if request.host == "claude" else None,
        agent_timeout_s=request.agent_timeout_s,
        max_turns=request.max_turns,
        call_timeout_s=request.call_timeout_s,
    )
