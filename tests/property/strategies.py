"""Tables as a hostile endpoint might return them, small enough that collisions are common."""

from collections.abc import Sequence

from hypothesis import strategies as st

from okn_benchmark.table import Cell, Table, Term, iri, text, typed

WORDS = st.sampled_from(
    ["A", "a", "B", "5", "5.0", "05", "true", "NA", "", " ", "x y", "Café", "Café", '"A"@en', "1e3"]
)
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
DIGITS = st.integers(-30, 30).map(str) | st.sampled_from(["007", "123456789012345678901234567890", "-0"])
FRACTIONS = st.sampled_from(
    ["0.5", "0.50001", "1.0001", "1.0002", "7.0", "0.453562", "-2.25", "6.999999999999999", "0.0"]
)
NAMESPACES = st.sampled_from(["http://a.example/x/", "https://a.example/x/", "http://b.example/y#", "urn:z:"])
LOCALS = st.sampled_from(["1", "2", "M_1", "M_2", "m_1", "x:1", "Q5", "", "5"])

iris = st.builds(lambda space, name: iri(space + name), NAMESPACES, LOCALS)
integers = DIGITS.map(lambda value: typed(value, "integer"))
decimals = st.builds(typed, FRACTIONS, st.sampled_from(["decimal", "double", "float"])) | st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=4
).map(lambda value: typed(str(value), "decimal"))
strings = (WORDS | ANY_TEXT).map(text) | st.builds(lambda value: text(value, language="en"), WORDS)
booleans = st.sampled_from(["true", "false", "1", "0"]).map(lambda value: typed(value, "boolean"))
moments = st.builds(
    typed,
    st.sampled_from(["2020-01-05", "2020-01-05Z", "2020-01-05T10:00:00Z", "2020-01-05T12:00:00+02:00", "2020-02-30"]),
    st.sampled_from(["date", "dateTime"]),
)
others = st.sampled_from(
    [typed("NaN", "double"), typed("INF", "float"), typed("x", "integer"), typed("2020", "gYear"), Term("bnode", "b0")]
)
KINDS: Sequence[st.SearchStrategy[Cell]] = (iris, integers, decimals, strings, booleans, moments, others)


def columns(rows: int) -> st.SearchStrategy[list[Cell]]:
    """A column of one kind, or of any."""
    pure = st.sampled_from(range(len(KINDS))).flatmap(lambda kind: st.lists(KINDS[kind], min_size=rows, max_size=rows))
    mixed = st.lists(st.one_of(*KINDS, st.none()), min_size=rows, max_size=rows)
    return pure | mixed


@st.composite
def tables(draw: st.DrawFn, *, min_rows: int = 0, max_rows: int = 5, min_width: int = 1, max_width: int = 4) -> Table:
    """A table of any kinds of cells."""
    count = draw(st.integers(min_rows, max_rows))
    width = draw(st.integers(min_width, max_width))
    cells = [draw(columns(count)) for _ in range(width)]
    rows = tuple(zip(*cells, strict=True)) if width else ((),) * count
    return Table(tuple(f"c{at}" for at in range(width)), rows)
