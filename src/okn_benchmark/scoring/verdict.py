"""The verdict: one key, one submission, two tiers of sameness."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from okn_benchmark.jsonio import JsonObject
from okn_benchmark.scoring.answer import Malformed, read_answer
from okn_benchmark.scoring.settings import CONTRACT, Guard, Settings
from okn_benchmark.table import Table

__all__ = ["CONTRACT", "Guard", "Settings", "TrapOutcome", "Verdict", "judge"]

Outcome: TypeAlias = Literal["correct", "trap", "neither", "review"]


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
    answer_rows: int | None
    reference_rows: int
    diagnosis: tuple[str, ...] = ()
    details: Mapping[str, JsonObject] = field(default_factory=dict)
    """For some labels of the diagnosis, what the repair was (``{"rounding": {"rel_tol": 0.01}}``)."""
    guards: tuple[Guard, ...] = ()
    trap: TrapOutcome
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
    settings: Settings = Settings(),
    traps: Mapping[str, Table] = {},
) -> Verdict:
    """Judge a submission against the key. Never raises for anything submitted.

    Args:
        reference: the key.
        submitted: the accepted bytes, or None when nothing was handed in.
        settings: precision and tolerance.
        traps: wrong answers the record expects, by name.
    """
    blank = TrapOutcome(outcome="neither")
    n = len(reference)
    if submitted is None:
        return Verdict(
            submitted=False,
            answer_rows=None,
            reference_rows=n,
            diagnosis=("no_submission",),
            trap=blank,
            settings=settings,
        )
    answer = read_answer(submitted)
    if isinstance(answer, Malformed):
        return Verdict(
            submitted=True,
            malformed=answer.reason,
            answer_rows=None,
            reference_rows=n,
            diagnosis=("malformed",),
            trap=blank,
            settings=settings,
        )
    want = [tuple("" if c is None else c.value for c in row) for row in reference.rows]
    same = want == answer.rows
    shared = (Counter(want) & Counter(answer.rows)).total()
    total = n + len(answer.rows)
    f1 = 2 * shared / total if total else 1.0
    exact = f1 == 1.0
    return Verdict(
        exact=exact,
        strict_exact=exact,
        ordered=same,
        strict_ordered=same,
        f1=f1,
        strict_f1=f1,
        precision=shared / len(answer.rows) if answer.rows else f1,
        recall=shared / n if n else f1,
        submitted=True,
        answer_rows=len(answer.rows),
        reference_rows=n,
        trap=TrapOutcome(outcome="correct" if exact else "neither"),
        settings=settings,
    )
