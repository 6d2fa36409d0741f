"""The table in a corpus's README says what its records are."""

import re

import pytest

from okn_benchmark.corpus.record import Record
from okn_benchmark.sparql.endpoint import Endpoint
from tests.corpora.conftest import CHECKOUT, RECORDS, each_record


def row_of(record: Record) -> list[str]:
    """The cells of a record's row."""
    text = (CHECKOUT / f"benchmarks-{record.tier}" / "README.md").read_text(encoding="utf-8")
    name = record.id.rpartition("_")[0]
    found = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
    assert len(found) == 1, f"{name} stands {len(found)} times in the table"
    return [cell.strip() for cell in found[0].strip("|").split("|")]


@each_record
def test_a_row_names_the_graphs_and_the_traps(record: Record) -> None:
    cells = row_of(record)
    assert cells[2].split(", ") == list(record.tags)
    assert re.findall(r"`(\w+)`", cells[-1]) == list(record.traps)


@each_record
def test_a_row_counts_the_rows_on_the_sample_graphs(record: Record, sample: Endpoint) -> None:
    rows = len(sample.select(record.query).table)
    assert row_of(record)[-2] == (f"{rows} (declared empty)" if record.empty else str(rows))


@pytest.mark.parametrize("tier", sorted({record.tier or "" for record in RECORDS}))
def test_a_table_has_no_row_of_a_record_that_is_gone(tier: str) -> None:
    text = (CHECKOUT / f"benchmarks-{tier}" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert named == {record.id.rpartition("_")[0] for record in RECORDS if record.tier == tier}
