"""``build_readme_html.py`` over small checkouts: which pages, what they link to, what is stale."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

import build_readme_html as builder  # noqa: E402

from okn_benchmark.report.readme import is_relative, readme_page, slug  # noqa: E402

PNG = bytes.fromhex("89504e470d0a1a0a")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Three READMEs, one of them under tests/, and a picture; all tracked."""
    files = {
        "README.md": "# Top\n\n[runs](runs/) [one](runs/one/README.md#results) [code](src/x.py)\n"
        "[out](https://example.org/README.md)\n",
        "runs/one/README.md": "# One\n\n[up](../../README.md) [beyond](../../../README.md)\n"
        "![plot](figures/exact.png)\n",
        "runs/README.md": "# Runs\n",
        "tests/README.md": "# Not a page\n",
        "untracked/README.md": "# Nobody knows\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "runs/one/figures").mkdir()
    (tmp_path / "runs/one/figures/exact.png").write_bytes(PNG)
    for command in (["init", "-q"], ["add", "-f", *[n for n in files if "untracked" not in n]]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_every_tracked_readme_but_those_of_tests_gets_a_page(checkout: Path) -> None:
    assert builder.main([], checkout) == 0
    pages = {p.relative_to(checkout).as_posix() for p in checkout.rglob("*.html")}
    assert pages == {"README.html", "runs/README.html", "runs/one/README.html"}


def test_links_between_readmes_lead_to_pages_and_no_other_link_changes(checkout: Path) -> None:
    builder.main([], checkout)
    top, one = _read(checkout / "README.html"), _read(checkout / "runs/one/README.html")
    assert 'href="runs/README.html"' in top
    assert 'href="runs/one/README.html#results"' in top
    assert 'href="src/x.py"' in top
    assert 'href="https://example.org/README.md"' in top
    assert 'href="../../README.html"' in one
    assert 'href="../../../README.md"' in one


def test_pictures_are_held_by_the_page(checkout: Path) -> None:
    builder.main([], checkout)
    assert 'src="data:image/png;base64,iVBORw0KGgo="' in _read(checkout / "runs/one/README.html")


def test_check_names_what_is_stale_and_changes_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder.main([], checkout)
    assert builder.main(["--check"], checkout) == 0
    (checkout / "runs/README.md").write_text("# Runs, one word more\n", encoding="utf-8")
    before = {p: p.read_bytes() for p in checkout.rglob("*.html")}
    capsys.readouterr()
    assert builder.main(["--check"], checkout) == 1
    assert capsys.readouterr().err.splitlines() == ["runs/README.html is out of date: run python build_readme_html.py"]
    assert {p: p.read_bytes() for p in checkout.rglob("*.html")} == before
    builder.main([], checkout)
    assert builder.main(["--check"], checkout) == 0


def test_twice_is_the_same_bytes(checkout: Path) -> None:
    builder.main([], checkout)
    before = {p: p.read_bytes() for p in checkout.rglob("*.html")}
    for path in before:
        path.unlink()
    builder.main([], checkout)
    assert {p: p.read_bytes() for p in checkout.rglob("*.html")} == before


def _page(text: str) -> str:
    return readme_page(text, lambda address: address, lambda _: None)


def test_html_in_a_readme_is_shown_and_comments_are_dropped() -> None:
    page = _page(
        "<!-- made by us -->\n\n<script>alert(1)</script>\n\ntext <b onclick=x>b</b>\n\n[x](javascript:alert(1))\n"
    )
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "made by us" not in page
    assert "<b onclick" not in page
    assert 'href="javascript:' not in page


def test_nothing_is_loaded_and_no_style_attribute_is_left() -> None:
    page = _page("| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n![far](https://example.org/x.png)\n\n```python\na < b\n```\n")
    assert "style=" not in page.replace("<style>", "")
    assert '<td class="right">2</td>' in page
    assert "<img" not in page
    assert '<a href="https://example.org/x.png">far</a>' in page
    assert "a &lt; b" in page
    assert "default-src 'none'" in page


def test_headings_have_the_anchors_that_links_expect() -> None:
    page = _page("# What it `does`\n\n## Notes\n\n## Notes\n")
    assert 'id="what-it-does"' in page
    assert 'id="notes"' in page
    assert 'id="notes-1"' in page
    assert slug("Time & tokens: 3") == "time--tokens-3"
    assert "<title>What it does</title>" in page


def test_what_counts_as_relative() -> None:
    assert is_relative("a/b.md")
    assert is_relative("../b")
    for address in ("https://x", "mailto:x", "//x", "/x", "#x", ""):
        assert not is_relative(address)


def test_the_pages_of_this_checkout_can_be_made() -> None:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a git checkout: there is no list of tracked READMEs")
    assert CHECKOUT / "README.html" in builder.pages(CHECKOUT)
