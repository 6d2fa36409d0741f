"""``score``: one truth against one answer, without a runs root."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import JsonObject, parse_object
from okn_benchmark.scoring.explain import Explanation, explain
from okn_benchmark.scoring.settings import Settings
from okn_benchmark.scoring.verdict import Verdict, judge
from okn_benchmark.sparql.results import read_results
from okn_benchmark.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The verdict, and the rows behind it."""

    verdict: Verdict
    explanation: Explanation

    def to_json(self) -> JsonObject:
        """The verdict's keys."""
        return {"schema": "score/1", **self.verdict.to_json()}


def score(truth: Path, answer: Path, settings: Settings, rows: int = 10) -> Scored:
    """Judge the file ``answer`` against the file ``truth``; explain at most ``rows`` rows of each sort.

    Raises:
        InputError: a file is missing, or ``truth`` is neither a ground_truth.json nor SPARQL JSON results.
    """
    reference, traps = read_key(_bytes(truth), truth.name)
    submitted = _bytes(answer)
    verdict = judge(reference, submitted, settings, traps)
    return Scored(verdict=verdict, explanation=explain(reference, submitted, settings, rows))


def read_key(data: bytes, source: str) -> tuple[Table, Mapping[str, Table]]:
    """The key and the traps in a ground_truth.json; any SPARQL JSON results document is a key without traps.

    Raises:
        InputError: it is neither.
    """
    document = parse_object(data, source)
    if "head" in document:
        return read_results(document, source), {}
    if not isinstance(document.get("results"), dict):
        raise InputError(
            f"{source} is neither a ground_truth.json nor SPARQL JSON results.",
            hint="Give a record's ground_truth.json, or what an endpoint answers as application/sparql-results+json.",
        )
    traps = document.get("traps") or {}
    if not isinstance(traps, dict):
        raise InputError(f"{source}: traps is not an object.")
    tables = {str(name): read_results(rows, f"{source}: traps.{name}") for name, rows in traps.items()}
    return read_results(document["results"], f"{source}: results"), tables


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
