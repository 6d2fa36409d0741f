from okn_benchmark.report.clusters import groups, over_groups
from okn_benchmark.report.markdown import markdown
from tests.unit.report import study
from tests.unit.report.study import attempt, condition, control, view


def test_groups_share_no_graph() -> None:
    found = groups({"a": ("x",), "b": ("y", "z"), "c": ("z", "w"), "d": ("x",), "e": ("v",), "f": ()})
    assert sorted(map(sorted, found)) == [["a", "d"], ["b", "c"], ["e"]]


def test_a_test_over_groups_wants_eight_of_them() -> None:
    differences = {f"q{n}": 1.0 if n < 14 else 0.0 for n in range(16)}
    eight = {f"q{n}": (f"kg{n // 2}",) for n in range(16)}
    count, test = over_groups(differences, eight)
    assert count == 8
    assert test is not None
    assert (test.better, test.worse, test.same) == (7, 0, 1)
    assert test.p == 2 / 2**7
    assert over_groups(differences, {f"q{n}": (f"kg{n // 3}",) for n in range(16)}) == (6, None)
    assert over_groups(differences, {"q0": ("kg",)}) == (0, None)


def test_results_by_graph_count_attempts_and_questions() -> None:
    cells = {"full": {"a": [attempt(1), attempt(2, exact=False)], "b": [attempt(1)], "c": [attempt(1)]}}
    found = view([condition("full")], cells, {"a": ("x",), "b": ("x", "y"), "c": ()})
    assert [(line.graph, line.questions) for line in found.by_graph] == [("x", 2), ("y", 1)]
    cell = found.by_graph[0].cells[0]
    assert cell is not None
    assert (cell.hits, cell.attempts, cell.questions) == (2, 3, 2)


def test_too_few_graphs_is_said() -> None:
    page = markdown(study.study())
    assert "6 groups that share no graph: too few (fewer than 8)" in page
    assert "| `kg-0` | 2 |" in page


def test_enough_graphs_give_a_test() -> None:
    cells = {
        "full": {f"q{n}": [attempt(1), attempt(2)] for n in range(9)},
        study.CONTROL: {f"q{n}": [attempt(1, exact=False), attempt(2)] for n in range(9)},
    }
    found = view([condition("full", repeat=2), control(repeat=2)], cells, {f"q{n}": (f"kg{n}",) for n in range(9)})
    assert found.contrasts[0].over_groups is not None
    assert "over 9 groups that share no graph: p = 0.004 (9 up, 0 down, 0 same)" in markdown(found)
