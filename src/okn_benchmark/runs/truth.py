"""One truth per record and root: attempts judged against different rows do not stand in one table."""

from collections.abc import Mapping

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.readers import read_truth
from okn_benchmark.runs.shapes import TruthRecord
from okn_benchmark.runs.tree import read_file
from okn_benchmark.sparql.results import read_results

_NAMED = 5


def require_same_truth(root: RunsRoot, planned: Mapping[str, TruthRecord]) -> None:
    """Hold the rows a run would judge against to those the root has for the same records.

    Raises:
        Refusal: the root holds other rows; the sentence names the records.
        InputError: a recorded truth cannot be read.
    """
    differing = [record for record, truth in planned.items() if _differs(root, record, truth)]
    if differing:
        more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        raise Refusal(
            f"{root.path} was measured against other ground truth for {', '.join(differing[:_NAMED])}{more}.",
            hint="The answer key or its data changed since then: keep the old results and choose another --out.",
        )


def _differs(root: RunsRoot, record: str, planned: TruthRecord) -> bool:
    path = root.truth_json(record)
    if not path.exists():
        return False
    recorded = read_truth(read_file(path), str(path))
    if recorded.endpoint != planned.endpoint:
        return True
    try:
        return read_results(recorded.results, str(path)) != read_results(planned.results, f"the truth of {record}")
    except InputError as error:
        raise InputError(
            error.message, hint=f"{path} was changed by hand; put it back or choose another --out."
        ) from error
