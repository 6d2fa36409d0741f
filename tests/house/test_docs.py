"""The documentation cannot lie about names: commands, flags, files and headings it points to are there."""

import ast
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer
from markdown_it import MarkdownIt
from typer.main import get_command

from okn_benchmark.cli.app import build
from okn_benchmark.launch import parser as proxy_parser
from okn_benchmark.report.csvs import COLUMNS
from okn_benchmark.report.readme import is_relative, slug
from okn_benchmark.runs import shapes
from okn_benchmark.runs.aggregate import aggregate
from okn_benchmark.runs.identity import Identity
from tests.house.structure import CHECKOUT, PACKAGE

DOCS = CHECKOUT / "docs"
PROGRAM = "okn-benchmark"
MARKDOWN = MarkdownIt("commonmark").enable("table")
ENDS_A_COMMAND = {"|", "||", "&", "&&", ";", ">", ">>", "2>", "<"}


def _pages() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=CHECKOUT, capture_output=True)
    if listed.returncode != 0:
        return sorted(DOCS.rglob("*.md"))  # an unpacked archive: what there is of the documentation itself
    paths = [CHECKOUT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


PAGES = _pages()
OWN_PAGES = [page for page in PAGES if DOCS in page.parents]


def _name(page: Path) -> str:
    return page.relative_to(CHECKOUT).as_posix()


def _addresses(page: Path) -> Iterator[str]:
    """Where links and pictures of a page lead."""
    for block in MARKDOWN.parse(page.read_text(encoding="utf-8")):
        for token in block.children or ():
            if token.type in ("link_open", "image"):
                yield str(token.attrs.get("href") or token.attrs.get("src"))


def _anchors(page: Path) -> set[str]:
    """The headings of a page as addresses name them; a repeated one gets a number."""
    seen: Counter[str] = Counter()
    found = set()
    tokens = MARKDOWN.parse(page.read_text(encoding="utf-8"))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(t.content for t in inline.children or () if t.type in ("text", "code_inline"))
            found.add(f"{slug(text)}-{seen[slug(text)]}" if seen[slug(text)] else slug(text))
            seen[slug(text)] += 1
    return found


def _broken(page: Path) -> Iterator[str]:
    for address in _addresses(page):
        path, _, anchor = unquote(address).partition("#")
        if address.startswith("#"):
            target = page
        elif is_relative(address):
            target = page.parent / path
        else:
            continue
        if not target.exists():
            yield f"{address} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
            yield f"{address}: {target.name} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert not list(_broken(page))


def _typed(page: Path) -> Iterator[list[str]]:
    """The arguments of every ``okn-benchmark`` command in the console blocks of a page."""
    for token in MARKDOWN.parse(page.read_text(encoding="utf-8")):
        if token.type == "fence" and token.info.strip() == "console":
            text = token.content.replace("\\\n", " ")
            for line in (row.removeprefix("$ ") for row in text.splitlines() if row.startswith("$ ")):
                yield from _commands(line)


def _commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    while PROGRAM in words:
        words = words[words.index(PROGRAM) + 1 :]
        end = next((at for at, word in enumerate(words) if word in ENDS_A_COMMAND), len(words))
        yield words[:end]
        words = words[end:]


def _parse(argv: list[str]) -> str:
    """Parse as the program would, and run nothing; the words of the command that was reached."""
    command: Any = get_command(build())
    context = typer.Context(command, info_name=PROGRAM, **command.context_settings)
    rest = list(argv)
    path: list[str] = []
    while hasattr(command, "commands"):
        options = {name for parameter in command.params for name in parameter.opts} | {"-h", "--help"}
        while rest and rest[0].startswith("-"):
            assert rest[0] in options, f"{rest[0]} is no option of {' '.join((PROGRAM, *path))}"
            if rest.pop(0) in ("-h", "--help", "--version"):
                return ""
        assert rest, f"{' '.join((PROGRAM, *path))} is no whole command"
        assert rest[0] in command.commands, f"there is no command {' '.join((*path, rest[0]))}"
        path.append(rest.pop(0))
        command = command.commands[path[-1]]
        context = typer.Context(command, info_name=path[-1], parent=context)
    if path == ["proxy"]:
        proxy_parser().parse_args(rest)
    else:
        command.make_context(path[-1], rest, parent=context.parent)
    return " ".join(path)


@pytest.mark.parametrize("page", [p for p in PAGES if "tests" not in p.relative_to(CHECKOUT).parts], ids=_name)
def test_every_command_shown_is_one_the_program_takes(page: Path) -> None:
    for argv in _typed(page):
        try:
            _parse(argv)
        except typer.Exit:
            continue  # --help further down the line
        except (Exception, SystemExit) as error:
            message = getattr(error, "message", None) or str(error)
            pytest.fail(f"{PROGRAM} {shlex.join(argv)}: {message}")


def test_a_wrong_command_would_be_noticed() -> None:
    for line in (
        f"uv run {PROGRAM} nosuch",
        f"{PROGRAM} run --corpus c --tools all-tools --out r --nosuch",
        f"{PROGRAM} run --corpus c --tools some-tools --out r",
        f"{PROGRAM} corpus",
        f"{PROGRAM} report",
        f"{PROGRAM} --nosuch report r",
        f"{PROGRAM} proxy --nosuch",
    ):
        (argv,) = _commands(line)
        with pytest.raises((Exception, SystemExit)):
            _parse(argv)
    assert _parse(next(_commands(f"{PROGRAM} corpus list --corpus c | head"))) == "corpus list"


def _every_command(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from _every_command(child, (*path, name))


COMMANDS = dict(_every_command(get_command(build())))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    assert COMMANDS[name].help, f"{name} does not say what it does"
    assert slug(name) in _anchors(DOCS / "reference" / "cli.md")
    pages = [page for page in OWN_PAGES if page.name != "cli.md"]
    words = re.compile(rf"\b{re.escape(PROGRAM)}\s+{re.escape(name)}\b")
    assert any(words.search(page.read_text(encoding="utf-8")) for page in pages), f"no page shows {PROGRAM} {name}"


def test_the_reference_says_what_the_program_says() -> None:
    script = DOCS / "build_cli_reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in OWN_PAGES if p.parent.name != "decisions"], ids=_name)
def test_every_page_says_at_its_top_what_it_is_good_for(page: Path) -> None:
    title, first, *_ = page.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith("# ")
    assert first.startswith("After this page you "), "open with 'After this page you know …' or '… can …'"


SHAPES = (
    shapes.Call, shapes.Metrics, shapes.AttemptHeader, shapes.TruthRecord, shapes.Tokens, shapes.Episode,
    shapes.AttemptResult, shapes.QuestionResult, shapes.ConditionRecord, Identity,
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_key_on_disk_is_in_the_contract(shape: type) -> None:
    told = set(re.findall(r"`([a-z_0-9]+)`", (DOCS / "reference" / "on-disk.md").read_text(encoding="utf-8")))
    missing = {field.name for field in fields(shape)} - told - {"extra"}
    assert not missing


def test_every_fact_of_a_condition_is_in_the_contract() -> None:
    told = (DOCS / "reference" / "on-disk.md").read_text(encoding="utf-8").partition("`meta` is evidence")[2]
    tree = ast.parse((PACKAGE / "jobs" / "condition_record.py").read_text(encoding="utf-8"))
    (made,) = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "condition_meta")
    (meta,) = (n.value for n in ast.walk(made) if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "meta")
    assert isinstance(meta, ast.Dict)
    keys = [key.value for key in meta.keys if isinstance(key, ast.Constant)]
    assert len(keys) > 15
    keys += list(aggregate([]))
    assert [key for key in keys if f"`{key}`" not in told] == []


def test_every_column_of_the_summary_is_in_the_contract() -> None:
    told = (DOCS / "reference" / "on-disk.md").read_text(encoding="utf-8").partition("## summary.csv")[2]
    assert [column for column in COLUMNS if f"`{column}`" not in told] == []


def test_every_finding_of_the_check_is_in_the_record_format() -> None:
    modules = (PACKAGE / "jobs" / name for name in ("lint.py", "lint_rows.py", "check.py"))
    found = re.findall(r'"([a-z]+(?:-[a-z]+)+)"', "".join(module.read_text(encoding="utf-8") for module in modules))
    codes = {code for code in found if not code.startswith("twenty-")}
    assert len(codes) > 30
    page = (DOCS / "reference" / "corpus.md").read_text(encoding="utf-8")
    assert not {code for code in codes if f"`{code}`" not in page}


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [CHECKOUT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or not page.is_file() or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [page.parent / unquote(a).partition("#")[0] for a in _addresses(page) if is_relative(a)]
    lost = [_name(page) for page in OWN_PAGES if page.resolve() not in reached]
    assert not lost
