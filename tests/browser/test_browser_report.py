"""The page in a browser: loads nothing, runs nothing, can be used without a mouse, holds hostile text as text."""

import json
from pathlib import Path

import pytest

from okn_benchmark.jobs.pages import html_of
from okn_benchmark.jobs.report import read_report, regenerate
from okn_benchmark.jobs.rescore import rescore
from okn_benchmark.runs.layout import RunsRoot
from okn_benchmark.runs.shapes import Call, Calls
from tests import troubled
from tests.roots import Attempt, answer, calls, episode, identity, truth, write_attempt, write_condition, write_truth

FULL, BARE, UNNAMED = "demo-all-tools__kg-named", "sparql-only__kg-named", "demo-all-tools__kg-not-named"
HOSTILE = (
    "<script>document.title='owned';alert(1)</script>",
    "<img src=http://evil.example/x.png onerror=alert(2)>",
    "javascript:alert(3)",
    "'\"><svg onload=alert(4)>",
    "</style><style>body{display:none}</style>",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b",
    "{{ 7*7 }} {% raw %}",
    "<!-- ]]> -->",
    '=HYPERLINK("http://evil.example")',
)
ROWS = tuple((f"http://example.org/thing/{n}", str(n)) for n in range(6))


def _csv(cells: list[tuple[str, str]]) -> bytes:
    quoted = (",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells)
    return ("\n".join(["thing,amount", *quoted]) + "\n").encode()


def _hostile_attempt(number: int) -> Attempt:
    talk = [{"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}} for text in HOSTILE]
    talk.append({"type": "user", "message": {"content": [{"type": "tool_result", "content": "y" * 1_000_000}]}})
    made = tuple(
        Call(
            seq=n + 1,
            tool=text,
            arguments={"query": text, "more": [text]},
            started_at=f"2026-11-30T12:00:{n * 3:02d}Z",
            elapsed_s=1.5,
            ok=n % 2 == 0,
            error=None if n % 2 == 0 else text,
            soft_error=text if n == 4 else None,
        )
        for n, text in enumerate(HOSTILE)
    )
    cells = [(text, "1") for text in HOSTILE] + [("x" * 1_000_000, "2"), ("http://example.org/thing/3", "99")]
    metrics = calls().metrics
    return Attempt(
        answer=_csv(cells),
        calls=Calls(calls=made, metrics=metrics),
        episode=episode(withheld_reached=(HOSTILE[0],), host_version=HOSTILE[number % len(HOSTILE)]),
        raw={"transcript.jsonl": "\n".join(map(json.dumps, talk)).encode()},
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root of three conditions with a hostile agent and a hostile server in it, and its page."""
    root = RunsRoot(tmp_path_factory.mktemp("browser") / "a study")
    arms = {
        FULL: identity(repeat=2),
        BARE: identity(repeat=2, level="sparql-only", server=None),
        UNNAMED: identity(repeat=2, kg_hint="none"),
    }
    records = [f"r{n}" for n in range(1, 5)]
    for place, record in enumerate(records):
        write_truth(root, record, truth(ROWS))
        for column, (name, who) in enumerate(arms.items()):
            for number in (1, 2):
                plain = Attempt(answer=answer(ROWS[: 6 - (place + column) % 3]))
                made = _hostile_attempt(number) if (record, name) == ("r2", UNNAMED) else plain
                write_attempt(root, record, name, number, made, who)
    for name, who in arms.items():
        write_condition(root, name, who, records, label=HOSTILE[3] if name == UNNAMED else None)
    rescore(root, regenerate)
    root.html.write_text(html_of(read_report(root.path)), encoding="utf-8")
    return root.html


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_asks_for_nothing_and_complains_of_nothing(opened, page: Path, width: int, dark: bool) -> None:
    found = opened(page, width=width, dark=dark)
    assert found.requests == [page.as_uri()]
    assert found.complaints == []
    assert found.dialogs == []
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    assert found.page.title() == "a study · okn-benchmark"


def test_hostile_text_is_text(opened, page: Path) -> None:
    found = opened(page)
    found.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    text = found.page.evaluate("document.body.innerText")
    for words in (HOSTILE[0], HOSTILE[1], HOSTILE[7], HOSTILE[4]):
        assert words in text
    assert "⟨U+001B⟩[2J" in text
    assert "⟨U+202E⟩" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert (
        found.page.evaluate(
            "document.querySelectorAll('script, img, iframe, object, embed, form, [onload], [onerror]').length"
        )
        == 0
    )
    links = found.page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
    assert links
    assert all(link.startswith(("#", "r1_", "r2_", "r3_", "r4_")) for link in links)
    assert found.page.evaluate("getComputedStyle(document.body).display") == "block"
    assert found.dialogs == []
    assert found.requests == [page.as_uri()]


def test_a_megabyte_cell_leaves_the_page_small(page: Path) -> None:
    assert page.stat().st_size < 600_000


def test_the_policy_would_stop_a_script_that_slipped_through(opened, page: Path) -> None:
    found = opened(page)
    found.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);"
        " const i = document.createElement('img'); i.src = 'http://evil.example/x.png'; document.body.append(i); }"
    )
    assert found.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in line for line in found.complaints)
    assert not [url for url in found.requests if "evil" in url and not url.startswith("http://evil.example/x.png")]


def test_the_grid_leads_to_the_attempt_without_a_script(opened, page: Path) -> None:
    found = opened(page, scripts=True)
    link = found.page.locator("#grid a.try").nth(3)
    target = link.get_attribute("href")
    assert target is not None
    link.focus()
    found.page.keyboard.press("Enter")
    body = found.page.locator(target)
    body.wait_for(state="visible")
    assert body.locator("table.marks").is_visible()
    assert found.page.url.endswith(target)


def test_every_fold_opens_with_the_keyboard(opened, page: Path) -> None:
    found = opened(page)
    fold = found.page.locator("#attempts summary").nth(1)
    fold.focus()
    found.page.keyboard.press("Enter")
    assert fold.evaluate("s => s.parentElement.open") is True


def test_every_file_linked_to_is_there(opened, page: Path) -> None:
    links = opened(page).page.eval_on_selector_all("#attempts a", "all => all.map(a => a.href)")
    files = {link for link in links if "#" not in link}
    assert files
    for link in files:
        assert Path(link.removeprefix("file://").replace("%20", " ")).is_file(), link


def test_a_printed_page_holds_the_folded_parts(opened, page: Path) -> None:
    found = opened(page)
    found.page.emulate_media(media="print")
    shown = found.page.locator("#attempts table.marks").first
    shown.wait_for(state="visible")
    assert found.page.locator("nav").is_hidden()
    assert len(found.page.pdf()) > 20_000


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_fault(opened, page: Path, npm_modules: Path, width: int, dark: bool) -> None:
    assert _serious(opened(page, width=width, dark=dark), npm_modules, "details") == []


def _serious(found, npm_modules: Path, folds: str) -> list:
    """What axe calls serious or worse once the folds that match are open."""
    axe = npm_modules / "axe-core" / "axe.min.js"
    if not axe.is_file():
        pytest.skip(f"{axe} does not exist")
    found.page.evaluate("folds => document.querySelectorAll(folds).forEach(d => { d.open = true })", folds)
    found.page.evaluate(axe.read_text(encoding="utf-8"))
    faults = found.page.evaluate("async () => (await axe.run()).violations")
    return [
        (fault["id"], fault["help"], [node["html"][:160] for node in fault["nodes"][:3]])
        for fault in faults
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven conditions with long names, blocks, drift, a rehearsal and a failed audit."""
    return troubled.build(tmp_path_factory.mktemp("browser") / "troubled").html


OVERFLOWING = """() => [...document.querySelectorAll('.scroll')]
    .filter(box => !box.closest('details:not([open])') && box.scrollWidth > box.clientWidth + 1)
    .map(box => ({
        label: box.getAttribute('aria-label'),
        hint: getComputedStyle(box.querySelector('caption') ?? box, '::after').content,
        shown: (box.querySelector('caption') ?? box).getBoundingClientRect().right <= innerWidth,
        stays: getComputedStyle(box.querySelector('tbody th[scope="row"]')).position,
    }))"""


def test_no_table_is_cut_on_an_ordinary_screen(opened, study: Path) -> None:
    assert opened(study, width=1400).page.evaluate(OVERFLOWING) == []


@pytest.mark.parametrize("width", [400, 1000])
def test_a_table_that_is_wider_than_the_screen_says_so_where_it_is_seen(opened, study: Path, width: int) -> None:
    found = opened(study, width=width)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    wide = found.page.evaluate(OVERFLOWING)
    assert "Results per condition" in [box["label"] for box in wide]
    for box in wide:
        assert "Scroll sideways" in box["hint"], box
        assert box["shown"], box
        assert box["stays"] == "sticky", box


def test_the_hint_is_gone_at_the_far_end(opened, study: Path) -> None:
    found = opened(study, width=1000)
    found.page.evaluate("document.querySelectorAll('.scroll').forEach(box => { box.scrollLeft = box.scrollWidth })")
    found.page.wait_for_function(f"() => ({OVERFLOWING})().every(box => !box.hint.includes('Scroll'))")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_fault_in_a_troubled_study(
    opened, study: Path, npm_modules: Path, width: int, dark: bool
) -> None:
    found = opened(study, width=width, dark=dark)
    # One question stands for twelve alike: looking at all 252 attempts takes minutes.
    found.page.evaluate("document.querySelectorAll('.question:not(#q4)').forEach(question => question.remove())")
    assert _serious(found, npm_modules, "details") == []


def test_what_has_to_be_read_first_stands_first_and_once(opened, study: Path) -> None:
    page = opened(study).page
    notes = page.locator("header [role=note]")
    assert notes.count() == 2
    assert "a script answered in the model's place" in notes.nth(0).inner_text()
    assert "failed its audit" in notes.nth(1).inner_text()
    assert page.locator("#trust .look h3").first.inner_text().startswith("Blocked")
    assert page.locator("#grid .aside").count() == 3
