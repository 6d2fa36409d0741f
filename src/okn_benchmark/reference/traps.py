"""The wrong answers a record expects, as tables: asked at the same endpoint, or the key with one column scaled."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from okn_benchmark.corpus.record import QueryTrap, Record, ScaleTrap, Trap, fingerprint
from okn_benchmark.errors import InputError
from okn_benchmark.sparql.result import Endpoint
from okn_benchmark.table import XSD, Cell, Table, Term


def trap_marks(record: Record) -> dict[str, str]:
    """Name to a short text that changes whenever the trap does; kept with the truth to see what is stale."""
    return {name: _mark(trap) for name, trap in record.traps.items()}


def _mark(trap: Trap) -> str:
    match trap:
        case QueryTrap(query):
            return fingerprint(query)
        case ScaleTrap(column, by):
            return f"scale {column} {by}"


def trap_tables(record: Record, key: Table, endpoint: Endpoint) -> Mapping[str, Table]:
    """Every trap's table.

    Raises:
        InputError: a trap's query is rejected, or it scales a column the key does not have.
        OutsideFailure: the endpoint failed.
    """
    made = {}
    for name, trap in record.traps.items():
        try:
            match trap:
                case QueryTrap(query):
                    made[name] = endpoint.select(query).table
                case ScaleTrap(column, by):
                    made[name] = scaled(key, column, by)
        except InputError as error:
            raise InputError(f"{record.path_name}: trap '{name}': {error.message}", hint=error.hint) from error
    return made


def scaled(table: Table, column: str, by: Decimal) -> Table:
    """``table`` with the numbers of one column multiplied; cells that are no numbers stay.

    Raises:
        InputError: no such column.
    """
    if column not in table.columns:
        raise InputError(f"there is no column {column!r} to scale; there is {', '.join(table.columns)}.")
    at = table.columns.index(column)
    rows = (tuple(_times(cell, by) if i == at else cell for i, cell in enumerate(row)) for row in table.rows)
    return Table(table.columns, tuple(rows))


def _times(cell: Cell, by: Decimal) -> Cell:
    if cell is None or cell.kind != "literal":
        return cell
    try:
        product = Decimal(cell.value) * by
    except InvalidOperation:
        return cell
    if not product.is_finite():
        return cell
    whole = product == product.to_integral_value()
    text = f"{product.to_integral_value():f}" if whole else f"{product.normalize():f}"
    becomes_decimal = not whole and cell.datatype == XSD + "integer"
    return Term("literal", text, XSD + "decimal" if becomes_decimal else cell.datatype, cell.language)
