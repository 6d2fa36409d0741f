"""The sample-graph builder: data in, the same bytes out, and a sentence for whatever a row gets wrong."""

from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from okn_benchmark.errors import InputError
from okn_benchmark.graphs import build
from okn_benchmark.graphs.mapping import read_mapping
from okn_benchmark.graphs.terms import OBO, STANDARD_PREFIXES, XSD, read_template

MAPPING = """
[graph]
about = "a toy"
release = "none"
licence = "CC0"
notes = ["One note."]

[prefixes]
ex = "http://example.org/"

[[table]]
file = "rows.csv"
many = ["alias"]
triples = [
  ["{id}", "a", "ex:Thing"],
  ["{id}", "rdfs:label", '"{label}"@en'],
  ["{id}", "ex:alias", '"{alias}"'],
  ["{id}", "ex:size", '"{size}"^^xsd:double'],
  ["_:part {id}", "ex:of", "{id}"],
]
"""
EDGES = """
[[table]]
file = "edges.csv"
[[table.edges]]
triple = ["{one}", "ex:TREATS", "{other}"]
values = [["ex:phase", '"{phase}"^^xsd:integer'], ["ex:note", '"{note}"']]
"""
ROWS = "id,label,alias,size,provenance\nex:a,Alpha,x|y,1.5,published:a paper\nex:b,Beta,,INF,synthetic\n"

Write = Callable[..., Path]


@pytest.fixture
def toy(tmp_path: Path) -> Write:
    """Write a source folder and return the builder's root."""

    def write(mapping: str = MAPPING, **files: str) -> Path:
        folder = tmp_path / "sources" / "toy"
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data").mkdir(exist_ok=True)
        (folder / "mapping.toml").write_text(mapping, encoding="utf-8")
        for name, text in {"rows": ROWS, **files}.items():
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def loaded(root: Path) -> ox.Store:
    store = ox.Store()
    text = build.build(root / "sources" / "toy").text
    store.load(input=text.encode(), format=ox.RdfFormat.TRIG)
    return store


def ask(store: ox.Store, pattern: str) -> bool:
    query = f"PREFIX ex: <http://example.org/> ASK {{ GRAPH <https://purl.org/okn/frink/kg/toy> {{ {pattern} }} }}"
    return bool(
        store.query(
            query,
            prefixes={
                "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
                "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
                "obo": OBO,
                "xsd": XSD,
            },
        )
    )


def test_rows_become_triples_of_one_named_graph(toy: Write) -> None:
    store = loaded(toy())
    assert {str(graph) for graph in store.named_graphs()} == {"<https://purl.org/okn/frink/kg/toy>"}
    assert ask(store, 'ex:a a ex:Thing ; rdfs:label "Alpha"@en ; ex:alias "x" , "y" ; ex:size 1.5e0 . [] ex:of ex:a')
    assert ask(store, 'ex:b ex:size "INF"^^xsd:double')


def test_an_empty_cell_leaves_its_triple_out(toy: Write) -> None:
    store = loaded(toy())
    assert not ask(store, "ex:b ex:alias ?x")
    assert ask(store, "ex:b a ex:Thing")


def test_the_header_counts_published_and_synthetic_rows(toy: Write) -> None:
    text = build.build(toy() / "sources" / "toy").text
    assert "# Rows: 1 published, 1 synthetic; " in text
    assert "# One note.\n" in text
    assert "CC0" in text


def test_the_same_rows_in_another_order_give_the_same_body(toy: Write) -> None:
    first = build.build(toy() / "sources" / "toy").text
    head, *rows = ROWS.strip().split("\n")
    assert build.build(toy(rows="\n".join([head, *reversed(rows)]) + "\n") / "sources" / "toy").text == first


def test_an_edge_is_a_plain_triple_and_a_statement_with_its_values(toy: Write) -> None:
    edges = "one,other,phase,note,provenance\nex:a,ex:b,4,,synthetic\nex:a,ex:b,2,early,synthetic\n"
    store = loaded(toy(MAPPING + EDGES, edges=edges))
    assert ask(store, "ex:a ex:TREATS ex:b")
    statement = "[] a rdf:Statement ; rdf:subject ex:a ; rdf:predicate ex:TREATS ; rdf:object ex:b ; ex:phase {} ."
    assert ask(store, statement.format(4))
    assert ask(store, statement.format('2 ; ex:note "early"'))
    assert not ask(store, statement.format('4 ; ex:note "early"')), "two measurements stay two statements"


def test_an_edge_can_live_in_its_statement_alone(toy: Write) -> None:
    edges = "one,other,phase,note,provenance\nex:a,ex:b,4,,synthetic\n"
    store = loaded(toy(MAPPING + EDGES.rstrip() + "\nplain = false\n", edges=edges))
    assert not ask(store, "ex:a ex:TREATS ex:b")
    assert ask(store, "[] rdf:subject ex:a ; rdf:object ex:b")


CLOSURES = """
[[closure]]
file = "is_a.csv"
predicate = "rdfs:subClassOf"
reflexive = true
[[closure]]
file = "part_of.csv"
predicate = "obo:BFO_0000050"
through = "is_a.csv"
"""
IS_A = (
    "child,parent,provenance\nex:soleus,ex:muscle,synthetic\nex:muscle,ex:organ,synthetic\nex:fast,ex:fibre,synthetic\n"
)
PART_OF = "child,parent,provenance\nex:fibre,ex:muscle,synthetic\nex:myofibril,ex:fibre,synthetic\n"


def test_a_hierarchy_is_stored_as_its_reflexive_closure(toy: Write) -> None:
    store = loaded(toy(MAPPING + CLOSURES, is_a=IS_A, part_of=PART_OF))
    for pair in ("ex:soleus rdfs:subClassOf ex:organ", "ex:organ rdfs:subClassOf ex:organ"):
        assert ask(store, pair), pair
    assert not ask(store, "ex:organ rdfs:subClassOf ex:muscle")


@pytest.mark.parametrize(
    "pair",
    ["ex:fibre obo:BFO_0000050 ex:organ", "ex:fast obo:BFO_0000050 ex:muscle", "ex:myofibril obo:BFO_0000050 ex:organ"],
)
def test_part_of_is_carried_along_the_hierarchy(toy: Write, pair: str) -> None:
    assert ask(loaded(toy(MAPPING + CLOSURES, is_a=IS_A, part_of=PART_OF)), pair)


def test_part_of_does_not_reach_a_kind_of_the_whole(toy: Write) -> None:
    store = loaded(toy(MAPPING + CLOSURES, is_a=IS_A, part_of=PART_OF))
    assert not ask(store, "ex:fibre obo:BFO_0000050 ex:soleus")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("id,label,alias,size,provenance\nex:a,A,x,1,hearsay\n", "row 2: provenance is 'hearsay'"),
        ("id,label,alias,size,provenance\nex:a,A,x,1,published:\n", "row 2: provenance is 'published:'"),
        ("id,label,alias,size,provenance\nex:a,A,x,1.2.3,synthetic\n", "row 2: '1.2.3' is not a value of"),
        ("id,label,alias,size,provenance\nwho knows,A,x,1,synthetic\n", "row 2: 'who knows' is neither a full IRI"),
        ("id,label,alias,size,provenance\nhttp://a/b c,A,x,1,synthetic\n", "row 2: 'http://a/b c' is not an IRI"),
        ("id,label,alias,size,provenance\nex:a,A,x,1,synthetic\nex:a,A,x,1,published:p\n", "row 3: the same row"),
        ("id,label,alias,size,provenance\nex:a,A,x,1,synthetic,more\n", "row 2: another number of cells"),
        ("id,label,alias,provenance\nex:a,A,x,synthetic\n", "has no column size"),
    ],
)
def test_a_bad_row_is_named(toy: Write, rows: str, said: str) -> None:
    with pytest.raises(InputError, match="toy") as caught:
        build.build(toy(rows=rows) / "sources" / "toy")
    assert said in caught.value.message


def test_a_csv_that_nobody_maps_is_named(toy: Write) -> None:
    with pytest.raises(InputError, match=r"stray\.csv stands in the folder or in mapping\.toml, but not in both"):
        read_mapping(toy(stray="a,provenance\n") / "sources" / "toy")


def test_a_circle_in_a_hierarchy_is_named(toy: Write) -> None:
    circle = "child,parent,provenance\nex:a,ex:b,synthetic\nex:b,ex:a,synthetic\n"
    with pytest.raises(InputError, match="its own ancestor"):
        build.build(toy(MAPPING + CLOSURES, is_a=circle, part_of=PART_OF) / "sources" / "toy")


@pytest.mark.parametrize(
    ("source", "filled"),
    [
        ("a", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"),
        ("obo:MONDO_{n}", f"<{OBO}MONDO_7>"),
        ("<http://x.org/{n}>", "<http://x.org/7>"),
        ('"{t}"', '"say \\"hi\\""'),
        ('"{n}"^^xsd:integer', f'"7"^^<{XSD}integer>'),
        ("{c}", f"<{OBO}HP_1>"),
        ("{e}", None),
    ],
)
def test_templates(source: str, filled: str | None) -> None:
    row = {"n": "7", "t": 'say "hi"', "c": "obo:HP_1", "e": ""}
    assert read_template(source, STANDARD_PREFIXES).fill(row, STANDARD_PREFIXES) == filled


def test_check_finds_a_stale_file_and_writes_nothing(toy: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = toy()
    assert build.main(["--check", "toy"], root) == 1
    assert not (root / "data" / "toy.trig").exists()
    assert build.main(["toy"], root) == 0
    assert build.main(["--check", "toy"], root) == 0
    (root / "data" / "toy.trig").write_text("changed by hand\n", encoding="utf-8")
    assert build.main(["--check"], root) == 1
    assert "stale: data/toy.trig" in capsys.readouterr().out


def test_an_unknown_graph_is_named_with_the_ones_there_are(toy: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["nosuch"], toy()) == 2
    assert "no sources for nosuch" in capsys.readouterr().err


def test_the_readme_table_is_rebuilt_between_its_marks(toy: Write) -> None:
    root = toy()
    begin, end = build.TABLE_MARKS
    readme = root / "sources" / "README.md"
    readme.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    assert build.main([], root) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| toy | 10 | 1 | 1 | none | CC0 |" in text


def test_what_is_bundled_is_what_the_sources_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--check"]) == 0, capsys.readouterr().out
