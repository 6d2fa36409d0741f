"""The report of a root on disk: what it writes, what it leaves alone, what it says."""

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from tests.roots import Attempt, answer, calls, episode, identity, snapshot, write_attempt, write_condition, write_truth
from typer.testing import CliRunner

from okn_benchmark.cli.app import build
from okn_benchmark.errors import InputError
from okn_benchmark.jobs.compare import compare, comparison_json
from okn_benchmark.jobs.declared import read_declared
from okn_benchmark.jobs.power import plan, size
from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.report.csvs import read_rows
from okn_benchmark.runs.freeze import close
from okn_benchmark.runs.layout import RunsRoot

FULL, CONTROL = "demo-all-tools__kg-named", "sparql-only__kg-named"
TALK = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "I look <b>first</b>."}]}})


def make_root(folder: Path, questions: int = 7, repeats: int = 2, wrong: int = 6) -> RunsRoot:
    """Two conditions; the control hands in a row too few for the first ``wrong`` questions."""
    root = RunsRoot(folder)
    control = identity(level="sparql-only", server=None, repeat=repeats)
    full = identity(repeat=repeats)
    names = [f"r{n}" for n in range(1, questions + 1)]
    short = answer((("http://example.org/a", "1"), ("http://example.org/b", "7")))
    for place, name in enumerate(names):
        write_truth(root, name)
        for number in range(1, repeats + 1):
            good = Attempt(raw={"transcript.jsonl": TALK.encode()})
            write_attempt(root, name, FULL, number, good, full)
            given = short if place < wrong else answer()
            write_attempt(root, name, CONTROL, number, Attempt(answer=given), control)
    write_condition(root, FULL, full, names)
    write_condition(root, CONTROL, control, names)
    rescore(root, regenerate)
    return root


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_root(tmp_path_factory.mktemp("made") / "study").path


@pytest.fixture
def root(original: Path, tmp_path: Path) -> RunsRoot:
    return RunsRoot(Path(shutil.copytree(original, tmp_path / "study")))


def okn(*arguments: str) -> tuple[int, str, str]:
    """One command: exit code, stdout, stderr."""
    done = CliRunner().invoke(build(), list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_it_writes_its_pages_and_nothing_the_second_time(root: RunsRoot) -> None:
    for path in (root.readme, root.summary, root.question_summary("r1")):
        path.unlink()
    changed = regenerate(root.path)
    assert {path.relative_to(root.path).as_posix() for path in changed} == {
        "README.md",
        "summary.csv",
        "r1_results/summary.csv",
    }
    assert regenerate(root.path) == []


def test_summary_csv_has_a_row_per_record_condition_and_attempt(root: RunsRoot) -> None:
    assert len(read_rows(root.summary.read_text())) == 7 * 2 * 2
    assert len(read_rows(root.question_summary("r1").read_text())) == 2 * 2


def test_report_html_is_kept_up_to_date_once_it_is_there(root: RunsRoot) -> None:
    assert not root.html.exists()
    code, _, _ = okn("report", str(root.path), "--html", str(root.html))
    assert code == 0
    page = root.html.read_text()
    assert "I look &lt;b&gt;first&lt;/b&gt;." in page
    assert 'href="r1_results/demo-all-tools__kg-named/attempt-1/answer.csv"' in page
    root.html.write_text("old")
    regenerate(root.path)
    assert root.html.read_text() == page


def test_the_page_holds_the_answer_beside_the_key(root: RunsRoot) -> None:
    _, page, _ = okn("report", str(root.path), "--html", "-")
    assert '<tr class="near">' in page
    assert "<mark>7</mark>" in page
    assert '<tr class="missing">' in page
    assert 'href="r1_results' not in page


def test_markdown_to_stdout_is_the_file_and_twice_alike(root: RunsRoot) -> None:
    first, second = okn("report", str(root.path), "--markdown", "-"), okn("report", str(root.path), "--markdown", "-")
    assert first == second
    assert first[1] == root.readme.read_text()


def test_a_frozen_root_is_read_and_left_alone(root: RunsRoot) -> None:
    close(root, "Published.", "2026-11-30T00:00:00Z")
    root.readme.write_text("as published")
    before = snapshot(root.path)
    code, out, err = okn("report", str(root.path))
    assert code == 0
    assert "is frozen on 2026-11-30: Published." in err
    assert "Results" in out
    assert snapshot(root.path) == before
    code, _, err = okn("report", str(root.path), "--markdown", str(root.readme))
    assert code == 3
    assert "Published." in err
    assert snapshot(root.path) == before
    elsewhere = root.path.parent / "elsewhere.md"
    assert okn("report", str(root.path), "--markdown", str(elsewhere))[0] == 0
    assert elsewhere.is_file()


def test_a_link_into_a_frozen_root_is_inside_it_too(root: RunsRoot) -> None:
    close(root, "Published.", "2026-11-30T00:00:00Z")
    door = root.path.parent / "door"
    door.symlink_to(root.path)
    assert okn("report", str(root.path), "--markdown", str(door / "README.md"))[0] == 3


def test_json_prints_every_number(root: RunsRoot) -> None:
    _, out, _ = okn("report", str(root.path), "--json")
    found = json.loads(out)
    assert found["schema"] == "report/1"
    assert {c["about"]["name"] for c in found["conditions"]} == {FULL, CONTROL}


def test_figures_are_written(root: RunsRoot, tmp_path: Path) -> None:
    code, _, err = okn("report", str(root.path), "--figures", str(tmp_path / "figures"))
    assert code == 0
    assert "exact.svg" in err
    assert (tmp_path / "figures" / "differences.png").stat().st_size > 1_000


def test_what_is_no_root_is_a_sentence(tmp_path: Path) -> None:
    code, _, err = okn("report", str(tmp_path / "nowhere"))
    assert code == 2
    assert "nowhere" in err
    assert "Traceback" not in err


def test_a_sweep_that_was_cut_off_is_named(root: RunsRoot) -> None:
    root.condition(CONTROL).unlink()
    _, out, _ = okn("report", str(root.path))
    assert f"condition {CONTROL} has attempts here and no record" in out.replace("\n", " ")


def test_a_declaration_separates_what_was_declared(root: RunsRoot) -> None:
    (root.path / "declared.toml").write_text('hypotheses = ["tools help"]\ndeclared = ["tools"]\nmargin = 0.05\n')
    regenerate(root.path)
    page = root.readme.read_text()
    assert "(declared beforehand)" in page
    assert "declared beforehand: tools help" in page
    assert "within the declared ±0.05" in page
    (root.path / "declared.toml").write_text("hypothesis = 1")
    with pytest.raises(InputError, match="unknown key 'hypothesis'"):
        read_declared(root)
    (root.path / "declared.toml").write_text("margin = 7")
    with pytest.raises(InputError, match="margin has to be a number"):
        read_declared(root)


def test_compare_two_conditions_of_a_root(root: RunsRoot) -> None:
    (found,) = compare(f"{root.path}::{FULL}", f"{root.path}::{CONTROL}", margin=0.1)
    exact = found.contrast.exact
    assert exact is not None
    assert exact.value == pytest.approx(6 / 7)
    assert (exact.test.better, exact.test.worse, exact.test.same) == (6, 0, 1)
    assert exact.test.p == pytest.approx(0.03125)
    assert found.bca is not None
    assert len(found.questions) == 7
    assert found.questions[0].left == (2, 2)
    assert found.questions[0].adjusted_p >= found.questions[0].p
    assert comparison_json([found])["statistics"]["libraries"]["scipy"]
    code, out, _ = okn("compare", f"{root.path}::{FULL}", f"{root.path}::{CONTROL}")
    assert code == 0
    assert "sign-flip, exact: p = 0.031 (6 up, 0 down, 1 same)" in out


def test_compare_two_roots_by_the_conditions_they_share(root: RunsRoot, tmp_path: Path) -> None:
    other = make_root(tmp_path / "again", wrong=2)
    found = compare(str(root.path), str(other.path))
    assert [c.contrast.left for c in found] == [FULL, CONTROL]
    values = [c.contrast.exact.value for c in found if c.contrast.exact]
    assert values == [0.0, pytest.approx(-4 / 7)]
    assert found[1].max_t_p is not None
    assert found[1].contrast.family == 2


def test_questions_whose_key_differs_between_roots_are_dropped(root: RunsRoot, tmp_path: Path) -> None:
    other = make_root(tmp_path / "again", wrong=2)
    for record, change in (("r1", {"fingerprint": "0" * 64}), ("r2", {"results": {"head": {"vars": []}}})):
        path = other.truth_json(record)
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    found = compare(str(root.path), str(other.path))[0].contrast
    assert found.questions == 5
    assert found.dropped == {
        "r1": "its key is another query on either side",
        "r2": "its key holds other rows on either side",
    }


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("{root}", "{root}::" + FULL, "names a condition and the other does not"),
        ("{root}", "{root}", "cannot be compared with itself"),
        ("{root}::nosuch", "{root}::" + FULL, "has no condition 'nosuch'"),
    ],
)
def test_compare_says_what_it_needs(root: RunsRoot, left: str, right: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare(left.format(root=root.path), right.format(root=root.path))


def test_two_tiers_are_not_compared(root: RunsRoot, tmp_path: Path) -> None:
    other = RunsRoot(tmp_path / "other")
    write_truth(other, "r1")
    write_attempt(other, "r1", FULL, 1, Attempt(), identity(tier="hard"))
    write_condition(other, FULL, identity(tier="hard"), ["r1"])
    rescore(other, regenerate)
    with pytest.raises(InputError, match="asked different questions"):
        compare(str(root.path), str(other.path))


def test_power_from_a_root_and_from_nothing(root: RunsRoot) -> None:
    found = plan(0.2, questions=(12,), repeats=(1, 3), root=root.path, condition=CONTROL, studies=60)
    assert found.rates == f"7 questions of {CONTROL}"
    assert [p.episodes for p in found.designs] == [24, 72]
    with pytest.raises(InputError, match="none was chosen"):
        plan(0.2, root=root.path)
    with pytest.raises(InputError, match="not a difference"):
        plan(1.5)
    assert size(0.18, 0.12).questions == 96
    assert okn("power", "--discordant", "0.18", "--net", "0.08")[1].startswith("219 questions")


def test_a_reach_for_a_withheld_tool_is_told(root: RunsRoot) -> None:
    who = identity(withheld=("route",), repeat=1)
    name = f"{FULL}__without-route"
    reached = Attempt(episode=episode(withheld_reached=("route",)), calls=calls(withheld_calls=1))
    write_attempt(root, "r1", name, 1, reached, who)
    write_condition(root, name, who, ["r1"])
    rescore(root, regenerate)
    assert "reached for withheld route 1" in root.readme.read_text()
    assert "withheld tools reached for: route 1" in okn("report", str(root.path))[1].replace("\n", " ")


def test_nothing_goes_to_stdout_but_what_was_asked_for(root: RunsRoot) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        regenerate(root.path)
        read_report(root.path)
    assert (out.getvalue(), err.getvalue()) == ("", "")


@pytest.mark.parametrize("option", ["--html", "--markdown", "--figures"])
def test_a_page_in_a_folder_that_is_not_there_is_refused(root: RunsRoot, tmp_path: Path, option: str) -> None:
    code, _, said = okn("report", str(root.path), option, str(tmp_path / "nosuch" / "x"))
    assert code == 2
    assert f"there is no folder {tmp_path / 'nosuch'}." in said
    assert not (tmp_path / "nosuch").exists()


def test_a_file_left_out_is_named_once(root: RunsRoot) -> None:
    broken = root.condition(FULL)
    broken.write_text("{", encoding="utf-8")
    shown = f"conditions/{FULL}.json"
    _, _, said = okn("rescore", str(root.path))
    (line,) = [line for line in said.splitlines() if FULL in line]
    assert line.startswith(f"{shown}: it is not valid JSON: ")
    assert line.count(shown) == 1
    (problem,) = [text for text in read_report(root.path).view.problems if FULL in text]
    assert problem.startswith(f"{shown} was left out: it is not valid JSON: ")
    assert problem.count(shown) == 1
