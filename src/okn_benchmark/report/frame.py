"""Attempts as a typed pandas table, for those who go on in a notebook.

from okn_benchmark.report.frame import attempts
attempts(Path("runs/x")).groupby("condition").exact.mean()
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from okn_benchmark.report.csvs import COLUMNS, attempt_row
from okn_benchmark.report.refused import GATE_FAILED
from okn_benchmark.report.view import ReportView, build_view
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.ledger import CONTEXT_KEYS
from okn_benchmark.runs.tree import load_root

if TYPE_CHECKING:
    import pandas as pd

FLAGS: Final = ("blocked", "exact", "ordered", "submitted", "strict_exact", "strict_ordered", "contended")
COUNTS: Final = (
    "attempt", "attempts_total", "queries", "answer_rows", "reference_rows", "queries_ok", "queries_errored", "calls",
    "withheld_calls", "host_clipped", "turns", "tokens_input", "tokens_output", "tokens_cache_read",
    "tokens_cache_write", *CONTEXT_KEYS,
)  # fmt: skip
NUMBERS: Final = (
    "f1", "wall_s", "server_s", "strict_f1", "precision", "recall", "agent_s", "api_retry_s", "cost_usd",
)  # fmt: skip


def attempts(root: Path | str) -> "pd.DataFrame":
    """The attempts of a runs root.

    Raises:
        InputError: the folder is no runs root.
    """
    found = load_root(RunsRoot(Path(root)))
    return frame_of(build_view(Path(root).name, list(found.conditions.values()), found.questions))


def frame_of(view: ReportView) -> "pd.DataFrame":
    """One row per attempt, the columns of ``summary.csv``; unknown is ``<NA>``, and a blocked attempt has no score."""
    import pandas as pd

    about = {row.about.name: row.about for row in view.conditions}
    rows = [
        attempt_row(about[row.condition], row, a, q.graphs)
        for q in view.questions
        for row in q.rows
        for a in row.attempts
    ]
    rows = [{name: None if value == GATE_FAILED else value for name, value in row.items()} for row in rows]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    kinds = dict.fromkeys(COLUMNS, "string")
    kinds |= dict.fromkeys(FLAGS, "boolean") | dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(NUMBERS, "Float64")
    return frame.astype(kinds)
