"""What the page shows beyond numbers, read from a root: answers held against keys, calls, conversations.

The report never scores; here the judge's explanation of each answer is asked for and handed to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from okn_benchmark.errors import InputError
from okn_benchmark.files import replace_whole
from okn_benchmark.jobs.derive import Key, read_key, settings_of
from okn_benchmark.jobs.reported import Reported, frozen_words
from okn_benchmark.report import figures
from okn_benchmark.report.about import place
from okn_benchmark.report.detail import Evidence, Limits, Marked, MarkedRow, read_said
from okn_benchmark.report.html import Extras, Reading, page
from okn_benchmark.runs.layout import AttemptPaths
from okn_benchmark.runs.readers import read_calls
from okn_benchmark.runs.shapes import Call
from okn_benchmark.runs.tree import RootView, read_file
from okn_benchmark.scoring.answer import Malformed, read_answer
from okn_benchmark.scoring.cells import lexical
from okn_benchmark.scoring.explain import Explanation, explain
from okn_benchmark.scoring.settings import Settings
from okn_benchmark.table import Table

FILES: Final = ("answer.csv", "calls.json", "transcript.jsonl", "prompt.txt", "episode.json")
_LARGEST_ANSWER: Final = 20_000_000


def html_of(reported: Reported, *, linked: bool = True) -> str:
    """The page of a root. ``linked``: whether it will lie in the root, beside the files it links to."""
    reader = _Reader(reported.root)
    extras = Extras(keys=dict(_keys(reported.root)), frozen=frozen_words(reported), linked=linked)
    return page(reported.view, Reading(evidence=reader.evidence, prompt=reader.prompt), extras)


def write_figures(reported: Reported, folder: Path) -> list[Path]:
    """Every figure of a root, as SVG and PNG.

    Raises:
        OutsideFailure: the disk would not take it.
    """
    return figures.write(reported.view, folder, replace_whole)


def _keys(root: RootView) -> Iterator[tuple[str, Mapping[str, str]]]:
    for record in root.questions:
        try:
            truth = root.truths[record]
        except (InputError, KeyError):
            continue
        yield record, {"query": truth.query, "endpoint": place(truth.endpoint) or ""}


@dataclass(slots=True)
class _Reader:
    """Reads one attempt at a time; a file that cannot be read is simply not shown, and named elsewhere."""

    root: RootView
    keys: dict[str, Key | None] = field(default_factory=dict)
    settings: dict[str, Settings] = field(default_factory=dict)

    def prompt(self, record: str, condition: str, attempt: int) -> str | None:
        data = _read(self._paths(record, condition, attempt).prompt)
        return None if data is None else data.decode("utf-8", "replace")

    def evidence(self, record: str, condition: str, attempt: int, limits: Limits) -> Evidence:
        paths = self._paths(record, condition, attempt)
        return Evidence(
            marked=self._marked(record, condition, paths, limits),
            calls=_calls(paths.calls),
            said=read_said((_read(paths.transcript) or b"").splitlines(), limits),
            folder=paths.folder.relative_to(self.root.root.path).as_posix(),
            files=tuple(name for name in FILES if (paths.folder / name).is_file()),
        )

    def _paths(self, record: str, condition: str, attempt: int) -> AttemptPaths:
        return self.root.root.attempt(record, condition, attempt)

    def _marked(self, record: str, condition: str, paths: AttemptPaths, limits: Limits) -> Marked | None:
        key = self._key(record)
        rejected = paths.rejected()
        data = _read(paths.answer) if paths.answer.is_file() or not rejected else _read(rejected[-1])
        if key is None or data is None or len(data) > _LARGEST_ANSWER:
            return None
        found = explain(key.reference, data, self._settings(condition), limits.rows)
        return marked(found, key.reference, data)

    def _key(self, record: str) -> Key | None:
        if record not in self.keys:
            try:
                self.keys[record] = read_key(self.root.root, record)
            except InputError:
                self.keys[record] = None
        return self.keys[record]

    def _settings(self, condition: str) -> Settings:
        if condition not in self.settings:
            self.settings[condition] = settings_of(self.root.conditions[condition].meta, condition)
        return self.settings[condition]


def marked(found: Explanation, reference: Table, submitted: bytes) -> Marked:
    """An explanation as rows to show: the key's in its order, then what only the answer has."""
    answer = read_answer(submitted)
    malformed = isinstance(answer, Malformed)
    headers = [header for _, header in found.columns]
    in_order = [header or "" for header in headers] if all(h is not None for h in headers) else None
    own = () if isinstance(answer, Malformed) else tuple(answer.columns)
    by_key = sorted([*_matched(found, reference), *_near(found, reference), *_missing(found)], key=lambda item: item[0])
    extra = [MarkedRow(mark="extra", answer=row.cells, key=None) for row in found.extra]
    counts = {"matched": found.matched_count, "near": found.near_count}
    counts |= {"missing": found.missing_count, "extra": found.extra_count}
    shown = {"matched": len(found.matched), "near": len(found.near)}
    shown |= {"missing": len(found.missing), "extra": len(found.extra)}
    return Marked(
        answer_columns=own if in_order is None else tuple(in_order),
        key_columns=reference.columns,
        rows=(*(row for _, row in by_key), *extra),
        left_out={kind: counts[kind] - shown[kind] for kind in counts},
        note="The submission could not be read as a table." if malformed else None,
    )


def _matched(found: Explanation, reference: Table) -> Iterator[tuple[int, MarkedRow]]:
    for row in found.matched:
        place_ = (row.key_row or 1) - 1
        yield place_, MarkedRow(mark="matched", answer=row.cells, key=_key_cells(reference, place_))


def _near(found: Explanation, reference: Table) -> Iterator[tuple[int, MarkedRow]]:
    for row in found.near:
        differs = (reference.columns.index(row.column),)
        key = _key_cells(reference, row.key_row - 1)
        yield row.key_row - 1, MarkedRow(mark="near", answer=row.cells, key=key, differs=differs)


def _missing(found: Explanation) -> Iterator[tuple[int, MarkedRow]]:
    for row in found.missing:
        yield (row.key_row or 1) - 1, MarkedRow(mark="missing", answer=None, key=row.cells)


def _key_cells(reference: Table, row: int) -> tuple[str, ...]:
    return tuple(map(lexical, reference.rows[row]))


def _calls(path: Path) -> tuple[Call, ...]:
    data = _read(path)
    if data is None:
        return ()
    try:
        return read_calls(data, path.name).calls
    except InputError:
        return ()


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except InputError:
        return None
