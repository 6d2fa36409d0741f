"""The whole path offline: ground truth, three conditions of every bundled corpus, reports. No model takes part.

One sample server over HTTP serves all of it, so that the time goes into episodes and not into starting servers.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from okn_benchmark.corpus.source import bundled_names
from okn_benchmark.errors import InputError, OutsideFailure, Refusal
from okn_benchmark.files import replace_whole
from okn_benchmark.jobs.choose import Choice
from okn_benchmark.jobs.pages import html_of
from okn_benchmark.jobs.prepare import Sweep, prepare
from okn_benchmark.jobs.reference import reference
from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.reported import Reported
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.run import Swept, run
from okn_benchmark.jobs.sweep_events import SweepEvent
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.sparql.endpoint import DEFAULT_TIMEOUT_S, SAMPLE

SHORT: Final = 3
"""Records of each corpus without ``--full``."""
WITHHELD: Final = ("get_descendants", "lookup_label")
"""What the third condition does without: the tools that expand a hierarchy and find a term by its name."""

_PROFILE: Final = """\
name = "sample"

[upstream]
transport = "http"
url = "{url}"

[oracle]
tool = "run_query"
arguments = {{ query = "{{query}}" }}
reply = "sparql-json"
"""

Watch = Callable[[Sweep], Callable[[SweepEvent], None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrated:
    """One corpus, run under every condition, and its report."""

    corpus: str
    swept: tuple[Swept, ...]
    reported: Reported

    @property
    def exact(self) -> int:
        """Attempts whose table equals the key."""
        return sum(bool((a.verdict or {}).get("exact")) for swept in self.swept for a in swept.attempts)

    @property
    def attempts(self) -> int:
        """All attempts, blocked ones too."""
        return sum(len(swept.attempts) for swept in self.swept)


def demo(out: Path, work: Path, watch: Watch, *, full: bool = False) -> Iterator[Demonstrated]:
    """Run corpus after corpus into ``out``; ``work`` holds the profile and the ground truth.

    Raises:
        InputError: ``out`` is a file.
        Refusal: ``out`` holds runs already.
        OutsideFailure: a server did not start, or the disk is full.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out names the folder the runs are kept in.")
    names = bundled_names()
    roots = {name: out / f"oracle-{name.removeprefix('benchmarks-')}" for name in names}
    for root in roots.values():
        if RunsRoot(root).records():
            raise Refusal(f"{root} holds a run already.", hint="Give the demo an --out of its own.")
    with _profile(work) as profile:
        for name in names:
            yield _corpus(name, roots[name], profile, work / "cache", watch, full=full)


@contextmanager
def _profile(work: Path) -> Iterator[Path]:
    """A profile of a sample server that runs while the context is open."""
    from okn_benchmark.sample_server.serving import serve_http

    with serve_http() as url:
        path = work / "sample.toml"
        replace_whole(path, _PROFILE.format(url=url))
        yield path


def _corpus(name: str, root: Path, profile: Path, cache: Path, watch: Watch, *, full: bool) -> Demonstrated:
    requests = list(_requests(name, root, profile, cache, full=full))
    first = requests[0]
    choice = Choice(corpus=first.corpus, limit=first.limit, cache=cache)
    built = reference(choice, SAMPLE, DEFAULT_TIMEOUT_S, lambda _: None)
    if built.exit_code():
        raise OutsideFailure(f"The ground truth of {name} could not be built: {built.summary()}")
    swept = []
    for request in requests:
        sweep = prepare(request)
        swept.append(run(sweep, watch(sweep)))
    # The page is there from the first `report` on, and kept up to date by later ones.
    replace_whole(RunsRoot(root).html, html_of(read_report(root)))
    regenerate(root)
    return Demonstrated(corpus=name, swept=tuple(swept), reported=read_report(root))


def _requests(name: str, root: Path, profile: Path, cache: Path, *, full: bool) -> Iterator[RunRequest]:
    control = RunRequest(
        corpus=name,
        out=root,
        level="sparql-only",
        kg_hint="tags",
        endpoint=SAMPLE,
        cache=cache,
        limit=None if full else SHORT,
        host="oracle",
        agent_timeout_s=120.0,
    )
    yield control
    for withheld in ((), WITHHELD):
        yield RunRequest(
            corpus=control.corpus,
            out=root,
            level="all-tools",
            kg_hint="tags",
            endpoint=SAMPLE,
            cache=cache,
            limit=control.limit,
            host="oracle",
            agent_timeout_s=control.agent_timeout_s,
            profile=profile,
            withheld=withheld,
        )
