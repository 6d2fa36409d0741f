"""The verdict: one key, one submission, two tiers of sameness."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.scoring.answer import Answer, Malformed, Reading, read_answer
from okn_benchmark.scoring.compare import Comparison, Given, Key, Tier, columns_of, compare, repeats, tier
from okn_benchmark.scoring.diagnosis import diagnose
from okn_benchmark.scoring.settings import CONTRACT, Guard, Settings
from okn_benchmark.table import Table

__all__ = ["CONTRACT", "Guard", "Key", "Settings", "TrapOutcome", "Verdict", "judge", "judge_key"]

Outcome: TypeAlias = Literal["correct", "trap", "neither", "review"]

_DEFAULT: Final = Settings()
_NO_TRAPS: Final[Mapping[str, Table]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapOutcome:
    """Where an answer stands between the key and the wrong answers its record expects.

    ``review``: equal to the key and to a trap alike, so the record cannot tell them apart.
    """

    outcome: Outcome
    names: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """The two fields by name."""
        return {"outcome": self.outcome, "names": list(self.names)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Everything said about one submission. ``strict_`` is the tier of equal texts, the rest is normalized.

    ``answer_rows`` is None where there is no readable answer. ``malformed`` is the reader's sentence.
    """

    exact: bool = False
    strict_exact: bool = False
    ordered: bool = False
    strict_ordered: bool = False
    f1: float = 0.0
    strict_f1: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    submitted: bool
    malformed: str | None = None
    answer_rows: int | None = None
    reference_rows: int
    diagnosis: tuple[str, ...] = ()
    details: Mapping[str, JsonObject] = field(default_factory=dict)
    """For some labels of the diagnosis, what the repair was (``{"rounding": {"rel_tol": 0.01}}``)."""
    guards: tuple[Guard, ...] = ()
    trap: TrapOutcome = TrapOutcome(outcome="neither")
    settings: Settings

    def to_json(self) -> JsonObject:
        """The keys of ``score --json`` and of ``verdict`` in a result.json."""
        return {
            "contract": CONTRACT,
            "exact": self.exact,
            "strict_exact": self.strict_exact,
            "ordered": self.ordered,
            "strict_ordered": self.strict_ordered,
            "f1": self.f1,
            "strict_f1": self.strict_f1,
            "precision": self.precision,
            "recall": self.recall,
            "submitted": self.submitted,
            "malformed": self.malformed,
            "answer_rows": self.answer_rows,
            "reference_rows": self.reference_rows,
            "diagnosis": list(self.diagnosis),
            "details": dict(self.details),
            "guards": [guard.to_json() for guard in self.guards],
            "trap": self.trap.to_json(),
            "settings": self.settings.to_json(),
        }


def judge(
    reference: Table,
    submitted: bytes | None,
    settings: Settings = _DEFAULT,
    traps: Mapping[str, Table] = _NO_TRAPS,
) -> Verdict:
    """Judge a submission against the key. Nothing that is submitted makes it raise.

    Args:
        reference: the key.
        submitted: the accepted bytes, or None when nothing was handed in.
        settings: precision and tolerance.
        traps: wrong answers the record expects, by name.
    """
    return judge_key(Key(reference, settings), submitted, traps)


def judge_key(key: Key, submitted: bytes | None, traps: Mapping[str, Table] = _NO_TRAPS) -> Verdict:
    """The same against a prepared key: for many answers to one question."""
    if submitted is None:
        return _unread(key, submitted=False, label="no_submission")
    same = repeats(key, submitted) if not traps else None
    if same is not None:
        return _judged(key, Given(columns=key.table.columns, texts=(), count=same.answer_rows), same, traps)
    answer = read_for(key.table, submitted)
    if isinstance(answer, Malformed):
        return _unread(key, submitted=True, label="malformed", reason=answer.reason)
    given = columns_of(answer)
    del answer  # a large one is held once, not twice
    return _judged(key, given, compare(key, given), traps)


def _judged(key: Key, given: Given, comparison: Comparison, traps: Mapping[str, Table]) -> Verdict:
    exact = comparison.exact(comparison.normalized)
    diagnosis = diagnose(key, given.columns, comparison)
    trap = _trapped(given, exact, key.settings, traps)
    names = () if exact else tuple(f"trap:{name}" for name in trap.names)
    precision, recall, f1 = _rates(comparison, comparison.normalized)
    return Verdict(
        exact=exact,
        strict_exact=comparison.exact(comparison.strict),
        ordered=comparison.normalized.ordered,
        strict_ordered=comparison.strict.ordered,
        f1=f1,
        strict_f1=_rates(comparison, comparison.strict)[2],
        precision=precision,
        recall=recall,
        submitted=True,
        answer_rows=comparison.answer_rows,
        reference_rows=len(key.table),
        diagnosis=(*diagnosis.labels, *names),
        details=diagnosis.details,
        guards=(*key.guards, *_budget_guard(comparison)),
        trap=trap,
        settings=key.settings,
    )


def read_for(reference: Table, submitted: bytes) -> Reading:
    """Read a submission; for a key without columns blank lines are rows, as nothing else can write them."""
    if not reference.columns and not submitted.strip(b"\r\n"):
        return Answer(columns=(), rows=[()] * max(0, len(submitted.splitlines()) - 1))
    return read_answer(submitted)


def _unread(key: Key, *, submitted: bool, label: str, reason: str | None = None) -> Verdict:
    return Verdict(
        submitted=submitted,
        malformed=reason,
        reference_rows=len(key.table),
        diagnosis=(label,),
        guards=key.guards,
        settings=key.settings,
    )


def _rates(comparison: Comparison, tier: Tier) -> tuple[float, float, float]:
    """Precision, recall and f1. Both empty: all one. One empty: all zero."""
    if not comparison.key_rows or not comparison.answer_rows:
        both = float(comparison.key_rows == comparison.answer_rows)
        return both, both, both
    rows = comparison.key_rows + comparison.answer_rows
    return tier.matched / comparison.answer_rows, tier.matched / comparison.key_rows, 2 * tier.matched / rows


def _budget_guard(comparison: Comparison) -> tuple[Guard, ...]:
    if not (comparison.strict.exhausted or comparison.normalized.exhausted):
        return ()
    return (
        Guard(
            guard="assignment_budget",
            column=None,
            reason="The search for the assignment of columns ended with its budget, so the best one found is used.",
        ),
    )


def _trapped(given: Given, exact: bool, settings: Settings, traps: Mapping[str, Table]) -> TrapOutcome:  # noqa: FBT001
    names = tuple(name for name, table in traps.items() if _equals(Key(table, settings), given))
    if exact:
        return TrapOutcome(outcome="review" if names else "correct", names=names)
    return TrapOutcome(outcome="trap" if names else "neither", names=names)


def _equals(key: Key, given: Given) -> bool:
    if not len(key.table) and not given.count:
        return True
    return tier(key.normalized, key.table, given).matched == len(key.table) == given.count
