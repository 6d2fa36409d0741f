"""Compare two conditions, of one root or of two, or all conditions two roots share by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from okn_benchmark.errors import InputError
from okn_benchmark.jobs.report import read_report
from okn_benchmark.jobs.reported import Reported
from okn_benchmark.jsonio import JsonObject, digest
from okn_benchmark.report import prose
from okn_benchmark.report.contrasts import BLOCKED_GAP, Contrast, Rows, contrast, with_families
from okn_benchmark.report.tally import ConditionRow, QuestionRow
from okn_benchmark.report.words import as_json
from okn_benchmark.runs.tree import RootView
from okn_benchmark.stats.family import benjamini_hochberg, max_t
from okn_benchmark.stats.intervals import Interval
from okn_benchmark.stats.paired import SEED
from okn_benchmark.stats.reference import OddsRatio, bca_paired, fisher, pooled_odds, versions

SEPARATOR: Final = "::"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """One question of a comparison: exact attempts on either side, p and its false-discovery adjustment."""

    record: str
    left: tuple[int, int]
    right: tuple[int, int]
    f1: tuple[float, float]
    p: float
    """Fisher's exact test on this question's attempts."""
    adjusted_p: float
    """Benjamini-Hochberg over the questions: a screen, not a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A contrast with what takes scipy and statsmodels: BCa, the pooled odds ratio, max-T over its family."""

    contrast: Contrast
    sides: tuple[str, str]
    """Who answered on either side: model, effort, agent program."""
    bca: Interval | None
    odds: OddsRatio | None
    max_t_p: float | None
    questions: tuple[Screened, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """A condition of a loaded root."""

    row: ConditionRow
    rows: Rows
    root: RootView

    @property
    def where(self) -> str:
        return self.row.about.name


def compare(
    left: str, right: str, *, margin: float | None = None, blocked_gap: float = BLOCKED_GAP
) -> list[Comparison]:
    """``ROOT::condition`` on both sides compares the two; two roots compare every condition both have.

    Raises:
        InputError: a side is no runs root or names no condition of it, the two sides share no condition or no
            question, or they differ in corpus or tier.
    """
    pairs = _pairs(left, right)
    for one, other in pairs:
        _require_one_scope(one, other)
    made = with_families(
        [
            contrast(
                "asked",
                f"{_label(one, left)} − {_label(other, right)}",
                one.row,
                other.row,
                (one.rows, other.rows),
                blocked_gap=blocked_gap,
                margin=margin,
                apart=_apart(one, other),
            )
            for one, other in pairs
        ]
    )
    adjusted = _max_t(made)
    return [_deepened(c, one, other, p) for c, (one, other), p in zip(made, pairs, adjusted, strict=True)]


def comparison_json(comparisons: list[Comparison]) -> JsonObject:
    """Every number, with the seed and the libraries behind it."""
    return {
        "schema": "comparison/1",
        "comparisons": as_json(comparisons),
        "statistics": {"seed": SEED, "libraries": versions(), "unit": "question"},
    }


def _pairs(left: str, right: str) -> list[tuple[_Side, _Side]]:
    read = {root: read_report(Path(root)) for root in {_root(left), _root(right)}}
    named = [_condition(side) for side in (left, right)]
    if all(named):
        return [(_side(read[_root(left)], left), _side(read[_root(right)], right))]
    if any(named):
        raise InputError(
            f"One side of {left!r} and {right!r} names a condition and the other does not.",
            hint=f"Write both as ROOT{SEPARATOR}CONDITION, or neither.",
        )
    if _root(left) == _root(right):
        raise InputError(
            f"{left} cannot be compared with itself.", hint=f"Name two conditions of it: {left}{SEPARATOR}CONDITION."
        )
    ours, theirs = read[_root(left)], read[_root(right)]
    there = {row.about.name for row in theirs.view.conditions}
    names = [row.about.name for row in ours.view.conditions if row.about.name in there]
    if not names:
        raise InputError(
            f"{left} and {right} share no condition by name.", hint=f"Name one on each side: ROOT{SEPARATOR}CONDITION."
        )
    return [(_found(ours, name, left), _found(theirs, name, right)) for name in names]


def _root(side: str) -> str:
    return side.partition(SEPARATOR)[0]


def _condition(side: str) -> str:
    return side.partition(SEPARATOR)[2]


def _side(read: Reported, side: str) -> _Side:
    return _found(read, _condition(side), _root(side))


def _found(read: Reported, name: str, root: str) -> _Side:
    row = next((row for row in read.view.conditions if row.about.name == name), None)
    if row is None:
        there = ", ".join(r.about.name for r in read.view.conditions) or "none"
        raise InputError(f"{root} has no condition {name!r}.", hint=f"Its conditions: {there}.")
    rows = {q.record: r for q in read.view.questions for r in q.rows if r.condition == name}
    return _Side(row, rows, read.root)


def _apart(left: _Side, right: _Side) -> dict[str, str]:
    """Records of two roots that share an id and not a key: their answers were judged against different rows."""
    if left.root.root.path.resolve() == right.root.root.path.resolve():
        return {}
    shared = [record for record in left.rows if record in right.rows]
    return {record: why for record in shared if (why := _difference(left.root, right.root, record)) is not None}


def _difference(left: RootView, right: RootView, record: str) -> str | None:
    try:
        ours, theirs = left.truths[record], right.truths[record]
    except (InputError, KeyError):
        return "its key could not be read on both sides"
    if ours.fingerprint != theirs.fingerprint:
        return "its key is another query on either side"
    return None if digest(ours.results) == digest(theirs.results) else "its key holds other rows on either side"


def _require_one_scope(left: _Side, right: _Side) -> None:
    if left.row.about.scope != right.row.about.scope:
        shown = [_scope_words(side.row) for side in (left, right)]
        raise InputError(
            f"{left.where} and {right.where} asked different questions: {shown[0]} against {shown[1]}.",
            hint="Differences are taken inside one corpus and tier; read the two reports beside each other.",
        )


def _scope_words(row: ConditionRow) -> str:
    corpus, tier = row.about.scope
    return f"corpus {corpus or 'unknown'}, tier {tier or '–'}"


def _label(side: _Side, given: str) -> str:
    return side.row.about.name if _condition(given) else f"{Path(given).name}{SEPARATOR}{side.row.about.name}"


def _max_t(contrasts: list[Contrast]) -> list[float | None]:
    """Family-wise p from shared sign flips, over the questions every comparison has; None where that is too few."""
    there = [c.exact.differences for c in contrasts if c.exact]
    if len(there) < 2 or len(there) != len(contrasts):
        return [None] * len(contrasts)
    shared = [record for record in there[0] if all(record in d for d in there[1:])]
    if len(shared) < 2:
        return [None] * len(contrasts)
    return list(max_t([[d[record] for record in shared] for d in there]))


def _deepened(made: Contrast, left: _Side, right: _Side, max_t_p: float | None) -> Comparison:
    records = list(made.exact.differences) if made.exact else []
    rows = [(left.rows[record], right.rows[record]) for record in records]
    means = [(fmean(a.exact), fmean(b.exact)) for a, b in rows]
    return Comparison(
        contrast=made,
        sides=(prose.who(left.row), prose.who(right.row)),
        bca=bca_paired([a for a, _ in means], [b for _, b in means]) if means else None,
        odds=pooled_odds([(a.exact, b.exact) for a, b in rows]) if rows else None,
        max_t_p=max_t_p,
        questions=tuple(_screen(records, rows)),
    )


def _screen(records: list[str], rows: list[tuple[QuestionRow, QuestionRow]]) -> Iterator[Screened]:
    p_values = [fisher(a.exact, b.exact) for a, b in rows]
    for record, (a, b), p, adjusted in zip(records, rows, p_values, benjamini_hochberg(p_values), strict=True):
        yield Screened(
            record=record,
            left=(sum(a.exact), len(a.exact)),
            right=(sum(b.exact), len(b.exact)),
            f1=(fmean(a.f1), fmean(b.f1)),
            p=p,
            adjusted_p=adjusted,
        )
