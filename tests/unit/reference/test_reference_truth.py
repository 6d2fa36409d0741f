from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Self

import pytest

from okn_benchmark.corpus.record import QueryTrap, Record, ScaleTrap
from okn_benchmark.errors import InputError
from okn_benchmark.reference.build import build
from okn_benchmark.reference.cache import Cache, Missing, Stale, Truth, endpoints_with, load_truth
from okn_benchmark.reference.drift import check, compare
from okn_benchmark.reference.traps import scaled
from okn_benchmark.sparql.result import EndpointFailure, QueryRejected, Result, Unreachable
from okn_benchmark.sparql.results import write_results
from okn_benchmark.table import Table, Term, iri, table, text, typed

KEY = table(["thing", "n"], [[iri("http://e/a"), typed("3", "integer")], [iri("http://e/b"), typed("2", "integer")]])
WRONG = table(["thing", "n"], [[iri("http://e/c"), None]])
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


class Toy:
    """An endpoint that answers from a mapping and counts what it was asked."""

    url = None
    engine = "toy 1"

    def __init__(self, answers: dict[str, Table | Exception | Callable[[], Table]], name: str = "toy") -> None:
        self.answers, self.name, self.asked = answers, name, []  # type: ignore[var-annotated]

    def select(self, query: str) -> Result:
        self.asked.append(query)
        answer = self.answers[query]
        if isinstance(answer, Exception):
            raise answer
        found = answer() if callable(answer) else answer
        return Result(table=found, document=write_results(found), elapsed_s=0.25, warnings=("odd",))

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None: ...


def record(name: str = "one_low", query: str = "key", **more) -> Record:
    return Record(id=name, tier="low", summary="s", tags=("t",), query=query, path_name=f"{name}.rq", **more)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache.at(tmp_path)


def test_what_was_built_is_loaded_with_its_provenance(cache: Cache) -> None:
    traps = {"mirror": QueryTrap("wrong"), "thousandfold": ScaleTrap("n", Decimal(1000))}
    asked = record(traps=traps)
    (entry,) = build([asked], Toy({"key": KEY, "wrong": WRONG}), cache, now=lambda: NOW)
    assert (entry.status, entry.rows) == ("ran", 2)
    truth = load_truth(cache, "toy", asked)
    assert isinstance(truth, Truth)
    assert truth.table == KEY
    assert truth.traps["mirror"] == WRONG
    assert [row[1].value for row in truth.traps["thousandfold"].rows if row[1]] == ["3000", "2000"]
    assert (truth.endpoint, truth.engine, truth.warnings) == ("toy", "toy 1", ("odd",))
    assert (truth.retrieved_at, truth.elapsed_s) == ("2030-01-02T03:04:05+00:00", 0.25)
    assert (truth.file.tier, truth.file.tags, truth.file.extra) == ("low", ("t",), {})


def test_only_what_is_stale_runs(cache: Cache) -> None:
    records = [record("one_low"), record("two_low", "other")]
    build(records, Toy({"key": KEY, "other": KEY}), cache)
    toy = Toy({"edited": WRONG})
    edited = [records[0], replace(records[1], query="edited")]
    assert isinstance(load_truth(cache, "toy", edited[1]), Stale)
    assert [entry.status for entry in build(edited, toy, cache)] == ["kept", "ran"]
    assert toy.asked == ["edited"]


def test_a_new_summary_or_tag_runs_nothing_and_is_passed_on(cache: Cache) -> None:
    build([record()], Toy({"key": KEY}), cache)
    renewed = replace(record(), summary="other words", tags=("u",), query="\nkey\r\n")
    truth = load_truth(cache, "toy", renewed)
    assert isinstance(truth, Truth)
    assert truth.file.tags == ("u",)


def test_another_trap_makes_a_record_stale(cache: Cache) -> None:
    build([record()], Toy({"key": KEY}), cache)
    assert isinstance(load_truth(cache, "toy", record(traps={"t": QueryTrap("wrong")})), Stale)


def test_one_endpoint_never_serves_another(cache: Cache) -> None:
    build([record()], Toy({"key": KEY}, "https://example.org/a"), cache)
    assert isinstance(load_truth(cache, "https://example.org/a?x", record()), Missing)
    assert isinstance(load_truth(cache, "https-example.org-a", record()), Missing)
    assert isinstance(load_truth(cache, "https://example.org/a", record()), Truth)


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"schema": "ground_truth/99"}', b"\xff"])
def test_a_damaged_file_is_built_again(cache: Cache, damage: bytes) -> None:
    build([record()], Toy({"key": KEY}), cache)
    cache.path("toy", record()).write_bytes(damage)
    assert isinstance(load_truth(cache, "toy", record()), Missing)
    assert build([record()], Toy({"key": KEY}), cache)[0].status == "ran"


def test_a_failure_is_an_entry_and_the_others_go_on(cache: Cache) -> None:
    records = [record("a", "bad"), record("b", "down"), record("c", "key")]
    toy = Toy({"bad": QueryRejected("no such prefix."), "down": EndpointFailure("answers 500."), "key": KEY})
    entries = build(records, toy, cache)
    assert [entry.status for entry in entries] == ["failed", "failed", "ran"]
    assert str(entries[0].error) == "a.rq: no such prefix."


def test_a_dead_endpoint_is_asked_once(cache: Cache) -> None:
    build([record("c", "key")], Toy({"key": KEY}), cache)
    toy = Toy({"down": Unreachable("refused."), "other": KEY})
    entries = build([record("a", "down"), record("b", "other"), record("c", "key")], toy, cache)
    assert [entry.status for entry in entries] == ["failed", "not tried", "kept"]
    assert toy.asked == ["down"]
    assert entries[1].error is None


@pytest.mark.parametrize(
    ("answer", "empty", "doubt"),
    [(table(["n"], []), False, "returns no rows"), (KEY, True, "returns 2 rows"), (table(["n"], []), True, None)],
)
def test_rows_and_the_declared_emptiness_disagree(cache: Cache, answer: Table, empty: bool, doubt: str | None) -> None:
    (entry,) = build([record(empty=empty)], Toy({"key": answer}), cache)
    said = [warning for warning in entry.warnings if warning != "odd"]
    assert len(said) == (doubt is not None)
    assert doubt is None or doubt in said[0]


def test_a_trap_at_fault_names_itself(cache: Cache) -> None:
    bad = record(traps={"t": ScaleTrap("nosuch", Decimal(2))})
    (entry,) = build([bad], Toy({"key": KEY}), cache)
    assert "one_low.rq: trap 't'" in str(entry.error)


def test_scaling() -> None:
    before = table(["v"], [[typed("3", "integer")], [typed("0.5", "decimal")], [text("12")], [text("n/a")], [None]])
    assert [row[0] for row in scaled(before, "v", Decimal("0.1")).rows] == [
        typed("0.3", "decimal"),
        typed("0.05", "decimal"),
        text("1.2"),
        text("n/a"),
        None,
    ]
    assert scaled(before, "v", Decimal(1000)).rows[0] == (typed("3000", "integer"),)
    with pytest.raises(InputError, match="there is v"):
        scaled(before, "w", Decimal(2))


def rows(*pairs: tuple[str, int]) -> Table:
    return table(["name", "n"], [[text(name), typed(str(n), "integer")] for name, n in pairs])


@pytest.mark.parametrize(
    ("then", "now", "keys", "finding"),
    [
        (rows(("a", 1)), rows(("a", 1)), (), ("stable", 0, 0)),
        (rows(("a", 1), ("b", 1)), rows(("b", 1), ("a", 1)), (), ("tie-unstable", 0, 0)),
        (rows(("a", 2), ("b", 1)), rows(("a", 2), ("c", 1)), ("n",), ("tie-unstable", 1, 1)),
        (rows(("a", 2), ("b", 1)), rows(("a", 2), ("c", 1)), (), ("drifted", 1, 1)),
        (rows(("a", 2), ("b", 1)), rows(("d", 2), ("b", 1)), ("n",), ("drifted", 1, 1)),
        (rows(("a", 2), ("b", 1)), rows(("a", 2)), ("n",), ("drifted", 1, 0)),
        (rows(("a", 1)), table(["name", "m"], rows(("a", 1)).rows), (), ("drifted", 0, 0)),
        (rows(("a", 1)), rows(("a", 1), ("a", 1)), (), ("drifted", 0, 1)),
        (table(["x"], [[Term("bnode", "q1")]]), table(["x"], [[Term("bnode", "q2")]]), (), ("stable", 0, 0)),
    ],
)
def test_drift_by_rows(then: Table, now: Table, keys: tuple[str, ...], finding: tuple) -> None:
    assert compare(then, now, keys) == finding


def test_drift_check_writes_nothing_and_asks_twice_where_the_answer_is_suddenly_empty(cache: Cache) -> None:
    empty = table(["thing", "n"], [])
    replies = iter([empty, KEY])
    records = [record("a", "same"), record("b", "flaky"), record("c", "gone"), record("d", "new"), record("e", "down")]
    build([r for r in records if r.id != "d"], Toy(dict.fromkeys(["same", "flaky", "gone", "down"], KEY)), cache)
    before = {path: path.read_bytes() for path in cache.root.rglob("*.json")}
    toy = Toy({"same": KEY, "flaky": lambda: next(replies), "gone": empty, "down": EndpointFailure("500.")})
    states = [found.state for found in check(records, toy, cache)]
    assert states == ["stable", "transiently empty", "drifted", "not built", "failed"]
    assert toy.asked == ["same", "flaky", "flaky", "gone", "gone", "down"]
    assert {path: path.read_bytes() for path in cache.root.rglob("*.json")} == before


def test_a_drift_check_asks_a_dead_endpoint_once(cache: Cache) -> None:
    records = [record("a", "down"), record("b", "other")]
    build(records, Toy(dict.fromkeys(["down", "other"], KEY)), cache)
    toy = Toy({"down": Unreachable("refused."), "other": KEY})
    assert [found.state for found in check(records, toy, cache)] == ["failed", "not tried"]
    assert toy.asked == ["down"]


def test_the_endpoints_that_have_truth_are_found_and_what_is_stale_there_is_not(cache: Cache) -> None:
    records = [record("a"), record("b")]
    assert endpoints_with(cache, records) == {}
    build(records, Toy({"key": KEY}, "http://one"), cache)
    build(records[:1], Toy({"key": KEY}, "two@1"), cache)
    assert endpoints_with(cache, records) == {"http://one": 2, "two@1": 1}
    assert endpoints_with(cache, [record("a", traps={"t": ScaleTrap("n", Decimal(2))})]) == {}
    cache.path("two@1", records[0]).write_bytes(b"{")
    assert endpoints_with(cache, records) == {"http://one": 2}
