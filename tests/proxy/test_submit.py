"""The answer channel: what is accepted, what is refused and why, and what stays on disk."""

from pathlib import Path

import pytest

from okn_benchmark.proxy.submit import Submissions
from tests.proxy.promises import promise
from tests.proxy.talk import MODERN_META, Proxied, stdio_toy


@promise("submit-accepts")
def test_a_table_is_kept_byte_for_byte(tmp_path: Path) -> None:
    table = '\ufeffname,note\r\n"a, ""b""",ü\u2028\n'
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    reply = proxied.submit(table)
    assert reply["isError"] is False
    assert "1 row" in reply["content"][0]["text"]
    assert "name, note" in reply["content"][0]["text"]
    proxied.close()
    assert (tmp_path / "answer.csv").read_bytes() == table.encode()
    metrics = proxied.record()["metrics"]
    assert (metrics["submissions_accepted"], metrics["submissions_rejected"]) == (1, 0)
    assert metrics["server_s"] == 0
    assert proxied.record()["calls"][0]["arguments"] == {"csv": f"<{len(table)} characters>"}


@promise("submit-header-only")
def test_a_header_alone_is_an_answer(tmp_path: Path) -> None:
    receipt = Submissions(tmp_path).take({"csv": "a,b\n"})
    assert receipt.accepted
    assert receipt.rows == 0
    assert "empty" in receipt.text


@promise("submit-explains")
@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a,b\n1,2\n3\n", "Row 2"),
        ("a,b\n1,2\n3,4,5\n", "Row 2"),
        ('a,b\n1,"2\n', "quote"),
        ("", "header"),
        ("a\n\ud800\n", "Line 2"),
    ],
)
def test_a_refusal_says_where(table: str, said: str, tmp_path: Path) -> None:
    receipt = Submissions(tmp_path).take({"csv": table})
    assert not receipt.accepted
    assert said in receipt.text
    assert len(receipt.text) < 2000
    assert (tmp_path / "rejected-1.csv").exists()
    assert not (tmp_path / "answer.csv").exists()


@promise("submit-explains")
@pytest.mark.parametrize("arguments", [None, {}, {"csv": None}, {"csv": ["a"]}, {"table": "a\n1\n"}, "a\n1\n", [1]])
def test_anything_but_a_text_is_refused(arguments: object, tmp_path: Path) -> None:
    receipt = Submissions(tmp_path).take(arguments)
    assert not receipt.accepted
    assert "csv" in receipt.text


@promise("submit-last-wins")
def test_the_last_accepted_table_wins_and_none_is_lost(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path)
    proxied.hello()
    big = "a\n" + "1\n" * 100_000
    sent = [proxied.ask_call("submit_csv", {"csv": csv}) for csv in (big, "a\n2\n", "a,b\n1\n", "a\n3\n")]
    assert [proxied.reply(one)["result"]["isError"] for one in sent] == [False, False, True, False]
    proxied.close()
    kept = {path.name: path.read_text() for path in tmp_path.glob("*.csv")}
    assert kept == {
        "superseded-1.csv": big,
        "superseded-2.csv": "a\n2\n",
        "rejected-1.csv": "a,b\n1\n",
        "answer.csv": "a\n3\n",
    }
    assert [event["file"] for event in proxied.events("submission")] == [
        "answer.csv",
        "answer.csv",
        "rejected-1.csv",
        "answer.csv",
    ]


@promise("submit-bounded")
def test_bounds(tmp_path: Path) -> None:
    small = Submissions(tmp_path, bytes_bound=100, rows_bound=5)
    assert small.take({"csv": "a\n" + "1\n" * 5}).accepted
    assert "6 rows" in small.take({"csv": "a\n" + "1\n" * 6}).text
    assert "limit" in small.take({"csv": "a\n" + "1\n" * 20}).text
    assert "bytes" in small.take({"csv": "a\n" + "1" * 200}).text
    assert len((tmp_path / "rejected-3.csv").read_bytes()) == 100


@promise("submit-accepts")
def test_a_disk_that_is_full_is_told_and_the_old_answer_stays(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    kept = Submissions(folder)
    assert kept.take({"csv": "a\n1\n"}).accepted
    (folder / "answer.csv").unlink()
    (folder / "answer.csv").mkdir()  # stands in for a disk that refuses: a folder cannot be replaced by a file
    receipt = kept.take({"csv": "a\n2\n"})
    assert not receipt.accepted
    assert "once more" in receipt.text


@promise("submit-keeps-nothing-unasked")
def test_nothing_is_written_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    proxied = Proxied(stdio_toy(), None)
    proxied.hello()
    assert not proxied.submit()["isError"]
    assert proxied.submit("a,b\n1\n")["isError"]
    proxied.close()
    assert list(tmp_path.iterdir()) == []


@promise("submit-both-eras")
def test_the_receipt_speaks_the_callers_era(tmp_path: Path) -> None:
    proxied = Proxied(stdio_toy(), tmp_path, withheld=("echo",))
    for tool, arguments in (("submit_csv", {"csv": "a\n1\n"}), ("echo", {})):
        assert proxied.call(tool, arguments, MODERN_META)["result"]["resultType"] == "complete"
        assert "resultType" not in proxied.call(tool, arguments)["result"]
    proxied.close()
