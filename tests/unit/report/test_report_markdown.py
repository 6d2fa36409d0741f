import re
from collections.abc import Mapping
from statistics import fmean

import pytest

from okn_benchmark.report.csvs import COLUMNS, CONTRACT, read_rows, summary_csv
from okn_benchmark.report.markdown import code, markdown, text
from okn_benchmark.report.view import ReportView, build_view
from okn_benchmark.runs.shapes import AttemptResult, QuestionResult, Tokens
from okn_benchmark.stats.intervals import clustered
from okn_benchmark.stats.paired import sign_flip
from tests.unit.report import study
from tests.unit.report.study import attempt, blocked, condition, view

SEED_COLUMNS = (
    "question,tier,condition,server,tools,kg_hint,attempt,attempts_total,blocked,exact,ordered,f1,queries,tools_called,"
    "wall_s,server_s,notes"
)


def _section(page: str, title: str) -> str:
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_first_seventeen_columns_are_a_contract() -> None:
    page = summary_csv(study.study())
    assert page.splitlines()[0].startswith(SEED_COLUMNS + ",")
    assert len(CONTRACT) == 17
    rows = read_rows(page)
    assert len(rows) == 12 * 5 * 3
    assert all(set(row) == set(COLUMNS) for row in rows)


def test_a_blocked_row_says_why_and_has_no_score() -> None:
    found = view([condition("full")], {"full": {"a": [blocked(1, "no such command"), attempt(2), attempt(3)]}})
    first, second, _ = read_rows(summary_csv(found))
    assert (first["blocked"], first["exact"], first["f1"], first["ordered"]) == ("true", "", "", "")
    assert "no such command" in first["notes"]
    assert (second["blocked"], second["exact"], second["f1"]) == ("false", "true", "1.0")
    page = markdown(found)
    assert "| 2/2 |" in page
    assert "1 of 3 blocked (startup 1): no such command" in page


def test_a_question_blocked_throughout_measured_nothing() -> None:
    page = markdown(view([condition("full")], {"full": {"a": [blocked(n) for n in (1, 2, 3)]}}))
    row = next(line for line in _section(page, "Questions").splitlines() if "measured nothing" in line)
    assert "0.00" not in row
    assert "0/" not in row
    assert "| – | – | – | – |" in row
    assert "measured nothing" in _section(page, "Results")
    assert "0.00" not in _section(page, "Results")


def test_exclusions_stay_out_of_the_markdown() -> None:
    out = [{"id": "secretly-left-out", "reason": "excluded by --exclude secretly*"}]
    assert "secretly" not in markdown(view([condition("full", excluded_meta=out)], {"full": {"a": [attempt(1)]}}))


def test_the_page_names_the_exact_model_and_the_alias() -> None:
    page = markdown(study.study())
    assert "claude-opus-5 (asked for as opus)" in page
    assert "| default |" in page


def test_no_folder_of_a_machine_and_no_clock() -> None:
    page = markdown(study.study()) + summary_csv(study.study())
    assert "/somewhere" not in page
    assert "toy-corpus" in page
    assert not re.search(r"20\d\d-\d\d-\d\d", page)


def test_the_same_root_gives_the_same_bytes() -> None:
    assert markdown(study.study()) == markdown(study.study())
    assert summary_csv(study.study()) == summary_csv(study.study())


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", "![x](http://evil.example/p.png)", "a | b", "`code`", "line\nbreak\r# head", "[a]: http://b",
     "\x1b[2Jgone", "\u202egnp.exe", "www.evil.example", "javascript:alert(1)", "&lt;b&gt;", "x" * 1_000_000]
)  # fmt: skip
def test_hostile_words_stay_in_their_cell(hostile: str) -> None:
    cells = {"full": {"a": [blocked(1, hostile), attempt(2), attempt(3, warnings=(hostile,))]}}
    page = markdown(view([condition("full")], cells))
    assert len(page) < 30_000
    for line in page.splitlines():
        assert not line.startswith(("# head", "<script"))
    assert "<script>" not in re.sub(r"`[^`\n]*`", "", page).replace("\\<script\\>", "")
    assert "](http" not in re.sub(r"`[^`\n]*`", "", page).replace("\\](", "")
    assert "\x1b" not in page
    assert "\u202e" not in page
    width = {line.replace("\\|", "").count("|") for line in page.splitlines() if line.startswith("| `full`")}
    assert len(width) <= 6


def test_a_name_with_backticks_cannot_leave_its_span() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`a`") == "`` `a` ``"
    assert code("a|b") == "`a\\|b`"
    assert text("*a* <b>") == r"\*a\* \<b\>"


def test_a_spreadsheet_runs_nothing() -> None:
    cells = {"full": {"a": [blocked(1, "=HYPERLINK(0)"), attempt(2, warnings=("@SUM(A1)",), host_version="+1")]}}
    first, second = read_rows(summary_csv(view([condition("full")], cells)))
    assert first["reason"] == "'=HYPERLINK(0)"
    assert second["warnings"] == "'@SUM(A1)"
    assert second["host_version"] == "'+1"


def _flag(value: str) -> bool | None:
    return {"true": True, "false": False, "": None}[value]


def _number(value: str) -> float | None:
    return float(value) if value else None


def _whole(value: str) -> int | None:
    return int(value) if value else None


def _names(value: str) -> tuple[str, ...]:
    return tuple(value.split(";")) if value else ()


def _from_row(row: Mapping[str, str]) -> AttemptResult:
    """An attempt from nothing but its line of summary.csv."""
    keys = ("exact", "ordered", "strict_exact", "strict_ordered", "submitted")
    verdict = None
    if row["blocked"] == "false":
        guards = [g.rstrip(")").split(" (") for g in _names(row["guards"])]
        verdict = {key: _flag(row[key]) for key in keys} | {
            "f1": _number(row["f1"]),
            "strict_f1": _number(row["strict_f1"]),
            "diagnosis": list(_names(row["diagnosis"])),
            "trap": {"names": list(_names(row["trap"]))},
            "guards": [{"guard": g[0], "column": g[1] if len(g) > 1 else None} for g in guards],
        }
    soft = dict(item.split("=") for item in _names(row["soft_errors"]))
    tokens = Tokens(**{k: int(row[f"tokens_{k}"]) for k in ("input", "output", "cache_read", "cache_write")}) \
        if row["tokens_input"] else None  # fmt: skip
    return AttemptResult(
        attempt=int(row["attempt"]),
        outcome=row["outcome"],  # type: ignore[arg-type]
        cause=row["cause"] or None,  # type: ignore[arg-type]
        reason=row["reason"] or None,
        warnings=tuple(row["warnings"].split("; ")) if row["warnings"] else (),
        verdict=verdict,
        wall_s=_number(row["wall_s"]),
        server_s=_number(row["server_s"]),
        api_retry_s=_number(row["api_retry_s"]),
        turns=_whole(row["turns"]),
        queries_ok=_whole(row["queries_ok"]),
        queries_errored=_whole(row["queries_errored"]),
        tools_called=_names(row["tools_called"]) if row["calls"] else None,
        withheld_calls=_whole(row["withheld_calls"]),
        withheld_reached=_names(row["withheld_reached"]),
        soft_errors={tool: int(count) for tool, count in soft.items()},
        host_clipped=_whole(row["host_clipped"]),
        tokens=tokens,
        cost_usd=_number(row["cost_usd"]),
        model_resolved=row["model"] or None,
        host_version=row["host_version"] or None,
        source=row["source"],
        contended=bool(_flag(row["contended"])),
    )


def _rebuilt(found: ReportView) -> ReportView:
    cells: dict[str, dict[str, QuestionResult]] = {}
    grouped: dict[tuple[str, str], list[AttemptResult]] = {}
    for row in read_rows(summary_csv(found)):
        grouped.setdefault((row["question"], row["condition"]), []).append(_from_row(row))
    for (record, name), attempts in grouped.items():
        made = QuestionResult(record=record, condition=name, attempts=tuple(attempts), tier="t1")
        cells.setdefault(record, {})[name] = made
    graphs = {row["question"]: _names(row["graphs"]) for row in read_rows(summary_csv(found))}
    return build_view(found.title, study.conditions(), cells, graphs=graphs)


def test_every_number_of_the_page_is_in_summary_csv() -> None:
    """The page made again from the CSV and the conditions' settings alone is the same page."""
    found = study.study()
    assert markdown(_rebuilt(found)) == markdown(found)


def test_the_page_would_differ_if_one_cell_of_the_csv_did() -> None:
    cells = study.cells()
    before = markdown(view(study.conditions(), cells))
    cells[study.FULL]["graph-03_t1"][1] = attempt(2, exact=False, f1=0.123)
    assert markdown(view(study.conditions(), cells)) != before


def test_rates_and_tests_recomputed_by_hand_from_the_csv() -> None:
    found = study.study()
    page = markdown(found)
    by_name: dict[str, dict[str, list[bool]]] = {}
    for row in read_rows(summary_csv(found)):
        if row["blocked"] == "false":
            by_name.setdefault(row["condition"], {}).setdefault(row["question"], []).append(row["exact"] == "true")
    for name, questions in by_name.items():
        rate = clustered(list(questions.values()))
        assert rate is not None
        assert fmean(fmean(q) for q in questions.values()) == pytest.approx(rate.value)
        line = next(row for row in _section(page, "Results").splitlines() if row.startswith(f"| `{name}` |"))
        cells = [cell.strip() for cell in line.split("|")]
        assert cells[2] == f"**{rate.value:.2f}**"
        assert cells[3] == f"[{rate.interval.low:.2f}, {rate.interval.high:.2f}]"
        assert cells[4] == f"{rate.hits}/{rate.attempts}"
    left, right = by_name[study.FULL], by_name[study.CONTROL]
    gaps = [fmean(left[q]) - fmean(right[q]) for q in left if q in right]
    test = sign_flip(gaps)
    line = next(row for row in _section(page, "Differences").splitlines() if "tools − control" in row)
    assert f"{fmean(gaps):+.2f}" in line
    assert f"{test.better} up, {test.worse} down, {test.same} same" in line
    assert f"| {test.p:.3f} |" in line


def test_no_rate_without_its_n_and_no_p_without_its_counts() -> None:
    page = markdown(study.study())
    for line in page.splitlines():
        if re.search(r"\bp = ", line):
            assert re.search(r"\d+ up, \d+ down, \d+ same|discordant|over \d+ question", line), line
    for line in _section(page, "Results").splitlines():
        if line.startswith("| `") and "**" in line:
            assert re.search(r"\d+/\d+", line)
