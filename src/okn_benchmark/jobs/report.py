"""Read a runs root, make its pages, and keep the generated ones up to date."""

from collections.abc import Iterator
from pathlib import Path

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.files import replace_whole
from okn_benchmark.jobs.declared import read_declared
from okn_benchmark.jobs.reported import Reported
from okn_benchmark.report.csvs import summary_csv
from okn_benchmark.report.markdown import markdown
from okn_benchmark.report.view import ReportView, build_view
from okn_benchmark.report.words import plural
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.store import DEFAULT_WRITE, DerivedWriter, Write
from okn_benchmark.runs.tree import RootView, load_root


def read_report(path: Path) -> Reported:
    """Load and count; writes nothing.

    Raises:
        InputError: ``path`` is no runs root, or its declaration cannot be read.
    """
    found = load_root(RunsRoot(path))
    return Reported(root=found, view=view_of(found))


def view_of(found: RootView) -> ReportView:
    """The values of a loaded root."""
    return build_view(
        found.root.path.resolve().name,
        list(found.conditions.values()),
        found.questions,
        problems=list(_problems(found)),
        declared=read_declared(found.root),
        graphs=graphs_of(found),
    )


def graphs_of(found: RootView) -> dict[str, tuple[str, ...]]:
    """The graphs each question's key reads, as its record's tags say; a key that cannot be read has none."""
    out = {}
    for record in found.questions:
        try:
            out[record] = found.truths[record].tags
        except (InputError, KeyError):
            continue
    return out


def _problems(found: RootView) -> Iterator[str]:
    for name in found.unfinished:
        yield f"condition {name} has attempts here and no record: its sweep was cut off; run it again with --resume"
    for problem in found.problems:
        yield f"{problem.path} was left out: {problem.reason}"


def regenerate(path: Path, put: Write = DEFAULT_WRITE) -> list[Path]:
    """Rewrite every derived page of a root and name those whose bytes changed; a frozen root is left alone.

    ``README.md``, ``summary.csv`` of the root and of each question, and ``report.html`` where there is one.

    Raises:
        InputError: ``path`` is no runs root.
        OutsideFailure: the disk would not take it.
    """
    return write_derived(read_report(path), put)


def write_derived(reported: Reported, put: Write = DEFAULT_WRITE) -> list[Path]:
    """``regenerate`` for a root that is loaded already."""
    if reported.root.frozen is not None:
        return []
    writer = DerivedWriter(reported.root.root, put)
    return [path for path, page in _derived(reported) if writer.write(path, page)]


def _derived(reported: Reported) -> Iterator[tuple[Path, str]]:
    root, view = reported.root.root, reported.view
    yield root.readme, markdown(view)
    yield root.summary, summary_csv(view)
    for question in view.questions:
        yield root.question_summary(question.record), summary_csv(view, question.record)
    if root.html.is_file():
        from okn_benchmark.jobs.pages import html_of  # draws; most roots have no page to keep

        yield root.html, html_of(reported)


def write_page(reported: Reported, target: Path, page: str) -> None:
    """Write a page where the user said, unless that is inside a frozen root.

    Raises:
        InputError: the folder it should lie in is not there; a typo would otherwise make one.
        Refusal: the place belongs to a frozen root.
        OutsideFailure: the disk would not take it.
    """
    root = reported.root.root.path.resolve()
    marker = reported.root.frozen
    if marker is not None and target.resolve().is_relative_to(root):
        raise Refusal(
            f"{root} is frozen: {marker.reason}",
            hint=f"Write {target.name} outside of it, or print it with - as the file name.",
        )
    require_parent(target)
    replace_whole(target, page)


def require_parent(target: Path) -> None:
    """What a user asked to be written lies in a folder that is there: a typo would otherwise make one.

    Raises:
        InputError: it is not there.
    """
    if not target.parent.is_dir():
        raise InputError(
            f"{target} cannot be written: there is no folder {target.parent}.",
            hint="Make the folder, or mend the path.",
        )


def changed_words(changed: list[Path], root: Path) -> str:
    """Which derived files are new or different."""
    if not changed:
        return "Derived files were up to date."
    names = [path.relative_to(root).as_posix() for path in changed]
    more = f" and {plural(len(names) - 3, 'more file')}" if len(names) > 3 else ""
    return f"Rewrote {', '.join(names[:3])}{more}."
