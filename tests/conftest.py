"""What every test may ask for."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

CHECKOUT = Path(__file__).resolve().parent.parent

# `HYPOTHESIS_PROFILE=deep` is for a night; the default keeps the suite short.
settings.register_profile("quick", max_examples=100, deadline=None)
settings.register_profile("deep", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml."""
    return CHECKOUT


@pytest.fixture(scope="session")
def npm_modules() -> Path:
    """The ``node_modules`` under ``$OKN_BENCHMARK_NPM``, where ``.ci/run`` installs the npm packages tests use."""
    named = os.environ.get("OKN_BENCHMARK_NPM")
    if not named:
        pytest.skip("OKN_BENCHMARK_NPM names no folder with the npm packages this test uses")
    found = Path(named) / "node_modules"
    if not found.is_dir():
        pytest.skip(f"{found} does not exist")
    return found


@pytest.fixture(scope="session")
def claude_binary() -> str:
    """The real agent binary: ``$OKN_BENCHMARK_CLAUDE``, else ``claude`` on PATH."""
    found = os.environ.get("OKN_BENCHMARK_CLAUDE") or shutil.which("claude")
    if not found:
        pytest.skip("no claude binary: set OKN_BENCHMARK_CLAUDE or put claude on PATH")
    return found


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by fixture, so that a test cannot use a part and forget to say so."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "claude_binary" in names:
            item.add_marker("claude")
        if "npm_modules" in names:
            item.add_marker("npm")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Where nothing may be missing (``OKN_BENCHMARK_NO_SKIP=1``, set by ``.ci/run``), a skip is a failure."""
    if report.skipped and os.environ.get("OKN_BENCHMARK_NO_SKIP") == "1" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.longrepr = f"skipped where nothing may be skipped: {reason}"
