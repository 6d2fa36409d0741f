"""Chromium over files on disk, and what a page must not do there."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

TIMEOUT_MS = 20_000


@dataclass
class Opened:
    """A page with everything it asked for and complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or whatever ``$OKN_BENCHMARK_CHROMIUM`` names.

    Closed with the last test of this folder: the driver keeps an event loop in the thread, and others need their own.
    """
    found = os.environ.get("OKN_BENCHMARK_CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("no chromium: set OKN_BENCHMARK_CHROMIUM or put chromium on PATH")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"], timeout=60_000)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser) -> Iterator["Opener"]:
    """Open files at any width, in either colour scheme; closed afterwards."""
    opener = Opener(chromium)
    yield opener
    opener.close()


@dataclass
class Opener:
    """Makes pages and closes them."""

    browser: Browser
    contexts: list = field(default_factory=list)

    def __call__(
        self, path: Path, *, width: int = 1280, dark: bool = False, fragment: str = "", scripts: bool = True
    ) -> Opened:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            # axe is put into the page by the driver; the page itself has no script to allow.
            bypass_csp=False,
        )
        self.contexts.append(context)
        made = Opened(context.new_page())
        made.page.set_default_timeout(TIMEOUT_MS)

        def heard(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                made.complaints.append(message.text)

        def asked(request: Request) -> None:
            made.requests.append(request.url)

        made.page.on("console", heard)
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("request", asked)
        made.page.on("dialog", lambda dialog: (made.dialogs.append(dialog.message), dialog.dismiss()))
        made.page.goto(f"{path.as_uri()}{fragment}")
        return made

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()) or "opened" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
