import pytest

from okn_benchmark.sparql.shape import shape, with_limit


def test_a_ranking_taken_apart() -> None:
    got = shape("""
        PREFIX ex: <http://e/>
        SELECT DISTINCT ?place (MAX(?v) AS ?highest) (STR(?n) as ?name) FROM <http://g>
        WHERE {
          { SELECT ?place { ?place a ex:Place . } ORDER BY ?place LIMIT 5 }
          ?obs ex:at ?place ; ex:value ?v . OPTIONAL { ?place ex:name ?n }
          FILTER(?v > 3 && ?v < ?limit) BIND(?v AS ?w) [] ex:in ?region .
        }
        GROUP BY ?place ?n HAVING (MAX(?v) > 1)
        ORDER BY DESC(?highest) ASC(LCASE(?name)) ?place STRLEN(?name)
        LIMIT 10 OFFSET 2
    """)
    assert got is not None
    assert got.distinct
    assert not got.star
    assert got.projected == ("place", "highest", "name")
    assert got.computed == ("highest", "name")
    assert got.group_by == ("place", "n")
    assert [(key.variables, key.bare, key.descending) for key in got.order] == [
        (("highest",), True, True),
        (("name",), False, False),
        (("place",), True, False),
        (("name",), False, False),
    ]
    assert got.order[1].text == "LCASE ?name"
    assert (got.limit, got.offset, got.inner_limits) == (10, 2, 1)
    assert got.order_columns() == ("highest", "place")
    assert {"place", "obs"} <= got.subjects
    assert "v" not in got.subjects
    assert not got.makes_blanks


@pytest.mark.parametrize(
    ("query", "star", "projected"),
    [
        ("SELECT * { ?s ?p ?o }", True, ()),
        ("select (count(*) as ?n) where { ?s ?p ?o }", False, ("n",)),
        ("SELECT ?a ?b WHERE { { SELECT * { ?a ?b ?c } } }", False, ("a", "b")),
        ("SELECT (GROUP_CONCAT(?x; SEPARATOR=', ') AS ?all) { ?s ?p ?x }", False, ("all",)),
    ],
)
def test_columns(query: str, star: bool, projected: tuple[str, ...]) -> None:
    got = shape(query)
    assert got is not None
    assert (got.star, got.projected) == (star, projected)


@pytest.mark.parametrize("query", ["ASK { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }", "SELECT", "", "DELETE WHERE {}"])
def test_what_is_no_select(query: str) -> None:
    assert shape(query) is None


def test_the_outer_limit_alone_is_changed() -> None:
    query = "SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 3 } } ORDER BY ?s LIMIT 10 # LIMIT 4"
    assert with_limit(query, 11) == query.replace("LIMIT 10", "LIMIT 11")
    assert with_limit("SELECT ?s { ?s ?p ?o }", 11) == "SELECT ?s { ?s ?p ?o }"
