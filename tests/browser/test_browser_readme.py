"""The page of a generated README in a browser."""

from pathlib import Path

import pytest

from okn_benchmark.report.markdown import markdown
from okn_benchmark.report.readme import readme_page
from tests.unit.report import study


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_asks_for_nothing_and_axe_finds_no_serious_fault(
    opened, tmp_path: Path, npm_modules: Path, width: int, dark: bool
) -> None:
    page = tmp_path / "README.html"
    page.write_text(readme_page(markdown(study.study()), lambda address: address, lambda _: None), encoding="utf-8")
    found = opened(page, width=width, dark=dark)
    assert found.requests == [page.as_uri()]
    assert found.complaints == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    axe = npm_modules / "axe-core" / "axe.min.js"
    if not axe.is_file():
        pytest.skip(f"{axe} does not exist")
    found.page.evaluate(axe.read_text(encoding="utf-8"))
    faults = found.page.evaluate("async () => (await axe.run()).violations")
    assert [(f["id"], f["nodes"][0]["html"][:160]) for f in faults if f["impact"] in ("serious", "critical")] == []
