"""Each key gives the same table on two engines; it is empty exactly where its author says so."""

import unicodedata
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest
import rdflib

from okn_benchmark.corpus.record import Record, ScaleTrap
from okn_benchmark.sparql.endpoint import Endpoint
from okn_benchmark.table import Cell, Row, Table
from tests.corpora.conftest import RECORDS, each_record

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")

NUMERIC = {"integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger"}


def number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def value(cell: Cell) -> tuple[str, object]:
    """What a cell denotes: engines print 0.1 and 1.0E-1 for the same number."""
    if cell is None:
        return ("unbound", "")
    local = cell.datatype.rpartition("#")[2]
    if cell.kind == "literal" and local in NUMERIC and (n := number(cell.value)) is not None and n.is_finite():
        return ("number", float(f"{n:.12g}"))
    return (cell.kind, unicodedata.normalize("NFC", cell.value))


def values(table: Table) -> list[tuple[tuple[str, object], ...]]:
    return [tuple(value(cell) for cell in row) for row in table.rows]


def cell_of(node: Any) -> tuple[str, object]:
    if node is None:
        return ("unbound", "")
    if isinstance(node, rdflib.URIRef):
        return ("uri", str(node))
    local = str(node.datatype or "").rpartition("#")[2]
    if local in NUMERIC and (n := number(str(node))) is not None and n.is_finite():
        return ("number", float(f"{n:.12g}"))
    return ("literal", unicodedata.normalize("NFC", str(node)))


def test_there_are_twelve_records_a_corpus() -> None:
    assert Counter(record.tier for record in RECORDS) == {"single": 12, "cross": 12, "ontology": 12}


def test_one_record_a_corpus_is_declared_empty() -> None:
    assert Counter(record.tier for record in RECORDS if record.empty) == {"single": 1, "cross": 1, "ontology": 1}


@each_record
def test_a_key_has_rows_unless_it_is_declared_empty(record: Record, sample: Endpoint) -> None:
    table = sample.select(record.query).table
    assert (len(table) == 0) == record.empty


@each_record
def test_a_key_leaves_no_cell_unbound_and_no_blank_node(record: Record, sample: Endpoint) -> None:
    table = sample.select(record.query).table
    kinds = {cell.kind if cell else "unbound" for row in table.rows for cell in row}
    assert kinds <= {"uri", "literal"}


@each_record
def test_no_two_rows_of_a_key_are_the_same(record: Record, sample: Endpoint) -> None:
    rows: list[Row] = list(sample.select(record.query).table.rows)
    assert len(set(rows)) == len(rows)


@each_record
def test_two_engines_give_the_same_table_in_the_same_order(
    record: Record, sample: Endpoint, second_engine: rdflib.Dataset
) -> None:
    table = sample.select(record.query).table
    result = second_engine.query(record.query)
    assert [str(name) for name in result.vars or ()] == list(table.columns)
    assert [tuple(cell_of(node) for node in row) for row in result] == values(table)


@each_record
def test_the_summary_names_every_column(record: Record, sample: Endpoint) -> None:
    columns = sample.select(record.query).table.columns
    assert [name for name in columns if name not in record.summary] == []


@each_record
def test_every_trap_differs_from_the_key_and_from_the_other_traps(record: Record, sample: Endpoint) -> None:
    assert record.traps, "a record without a wrong reading"
    key = sample.select(record.query).table
    tables = {"the key": Counter(values(key))}
    for name, trap in record.traps.items():
        if isinstance(trap, ScaleTrap):
            place = key.columns.index(trap.column)
            cells = [row[place] for row in key.rows]
            assert any(cell and (number(cell.value) or 0) != 0 for cell in cells), f"{name} scales nothing"
            continue
        table = sample.select(trap.query).table
        assert len(table.columns) == len(key.columns), f"{name} has another number of columns"
        tables[name] = Counter(values(table))
    same = [(a, b) for a in tables for b in tables if a < b and tables[a] == tables[b]]
    assert same == []


def test_the_three_header_only_answers_are_right_and_no_other() -> None:
    assert len([record for record in RECORDS if record.empty]) == 3


@pytest.mark.parametrize("text", ["1", "1.0", "1e0"])
def test_numbers_are_compared_by_value(text: str) -> None:
    double = rdflib.Literal(text, datatype=rdflib.XSD.double)
    assert cell_of(double) == ("number", 1.0)
