"""``corpus check``: every file of a corpus looked at, without an endpoint or with one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from okn_benchmark.corpus.record import Record
from okn_benchmark.corpus.select import select
from okn_benchmark.corpus.source import Corpus, open_corpus
from okn_benchmark.errors import InputError, OutsideFailure
from okn_benchmark.jobs.choose import Choice
from okn_benchmark.jobs.lint import Finding, lint_record, lint_together
from okn_benchmark.jobs.lint_rows import lint_rows, lint_traps
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.reference.traps import trap_tables
from okn_benchmark.sparql.embedded import EmbeddedEndpoint
from okn_benchmark.sparql.endpoint import open_endpoint
from okn_benchmark.sparql.result import Endpoint, QueryRejected, Unreachable
from okn_benchmark.sparql.shape import shape, with_limit
from okn_benchmark.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found. ``endpoint`` is None for a check of the text alone."""

    corpus: Corpus
    checked: int
    endpoint: str | None
    findings: tuple[Finding, ...]
    failure: OutsideFailure | None = None

    def count(self, level: str) -> int:
        """How many findings have this level."""
        return sum(finding.level == level for finding in self.findings)

    def exit_code(self) -> int:
        """4 where the endpoint failed, 1 where there is an error, else 0."""
        if self.failure is not None:
            return self.failure.exit_code
        return 1 if self.count("error") else 0

    def summary(self) -> str:
        """One sentence."""
        records = f"{self.checked} record{'' if self.checked == 1 else 's'} checked"
        asked = f" against {self.endpoint}" if self.endpoint else ""
        if not self.count("error") and not self.count("warning"):
            return f"{self.corpus.source}: {records}{asked}, nothing to mend."
        errors, warnings = self.count("error"), self.count("warning")
        return (
            f"{self.corpus.source}: {records}{asked}, {errors} error{'' if errors == 1 else 's'}, "
            f"{warnings} warning{'' if warnings == 1 else 's'}."
        )

    def to_json(self) -> JsonObject:
        """The same for a script."""
        return {
            "schema": "corpus-check/1",
            "source": self.corpus.source,
            "commit": self.corpus.commit,
            "dirty": self.corpus.dirty,
            "endpoint": self.endpoint,
            "checked": self.checked,
            "errors": self.count("error"),
            "warnings": self.count("warning"),
            "notes": self.count("note"),
            "findings": [finding.to_json() for finding in self.findings],
            "failure": self.failure.message if self.failure else None,
        }


def _ignore(_: str) -> None:
    """No progress is shown."""


def check(
    choice: Choice,
    endpoint_spec: str | None,
    timeout_s: float,
    progress: Callable[[str], None] = _ignore,
    opener: Callable[..., Endpoint] = open_endpoint,
) -> CheckReport:
    """Lint the selected records; files that are no records are findings too. ``opener`` is replaced in tests.

    Raises:
        InputError: no corpus, a filter without effect, or an endpoint that is none.
    """
    corpus = open_corpus(choice.corpus, choice.cache)
    found = [
        Finding(file=bad.name, line=bad.line, code="bad-record", level="error", message=bad.message)
        for bad in corpus.bad
    ]
    chosen: tuple[Record, ...] = ()
    if corpus.records:
        chosen = select(corpus.records, choice.tier, choice.exclude, choice.limit).records
    found += lint_together(chosen)
    with EmbeddedEndpoint((), "no data", timeout_s=30) as engine:
        for record in chosen:
            found += lint_record(record, lambda query: _complaint(engine, query))
    name, failure = None, None
    if endpoint_spec is not None:
        with opener(endpoint_spec, timeout_s=timeout_s) as endpoint:
            name = endpoint.name
            failure = _ask_all(chosen, endpoint, found, progress)
    found.sort(key=lambda finding: finding.file)
    return CheckReport(corpus=corpus, checked=len(chosen), endpoint=name, findings=tuple(found), failure=failure)


def _settle(found: list[Finding], file: str) -> None:
    """An endpoint that ran a record's queries has the last word over the parser here: the text is of its dialect."""
    for index, finding in enumerate(found):
        if finding.file == file and finding.code == "not-parsed":
            found[index] = replace(finding, level="warning")


def _complaint(engine: EmbeddedEndpoint, query: str) -> str | None:
    """A stranger's query may bring the parser down; that is a complaint too."""
    try:
        return engine.complaint(query)
    except OutsideFailure as error:
        return error.message


def _ask_all(
    records: tuple[Record, ...], endpoint: Endpoint, found: list[Finding], progress: Callable[[str], None]
) -> OutsideFailure | None:
    """Add what the rows say; the first failure of the endpoint is returned, and a dead one is not asked again."""
    failure: OutsideFailure | None = None
    for record in records:
        progress(record.id)
        try:
            told = list(_asked(record, endpoint))
            if not any(finding.code in ("query-rejected", "trap-rejected") for finding in told):
                _settle(found, record.path_name)
            found += told
        except OutsideFailure as error:
            failure = failure or error
            found.append(Finding(file=record.path_name, code="query-failed", level="error", message=error.message))
            if isinstance(error, Unreachable):
                break
    return failure


def _asked(record: Record, endpoint: Endpoint) -> Iterator[Finding]:
    try:
        first, second = endpoint.select(record.query).table, endpoint.select(record.query).table
        beyond = _one_more(record, endpoint)
    except QueryRejected as error:
        yield Finding(file=record.path_name, code="query-rejected", level="error", message=error.message)
        return
    yield from lint_rows(record, first, second, beyond)
    try:
        traps = trap_tables(record, first, endpoint)
    except InputError as error:
        yield Finding(file=record.path_name, code="trap-rejected", level="error", message=error.message)
        return
    yield from lint_traps(record, first, traps)


def _one_more(record: Record, endpoint: Endpoint) -> Table | None:
    outline = shape(record.query)
    if outline is None or not outline.limit or not outline.order:
        return None
    return endpoint.select(with_limit(record.query, outline.limit + 1)).table
