"""The house rules, held by a machine: floors, owners, sizes, names."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.structure import CHECKOUT, FLOOR_OF, MODULES, PACKAGE, dotted, imports, part

CEILING = 350

OWNERS: dict[str, frozenset[str]] = {
    "httpx2": frozenset({"sparql.endpoint", "proxy.http_wire"}),
    "pyoxigraph": frozenset({"sparql.embedded", "sparql.embedded_child", "graphs.build"}),
    "mcp": frozenset({"sample_server"}),
    "mcp_types": frozenset({"sample_server"}),
    "typer": frozenset({"cli"}),
    "rich": frozenset({"cli", "report.terminal"}),
    "yaml": frozenset({"corpus.record"}),
    "starlette": frozenset({"graphs", "host.scripted", "sample_server"}),
    "uvicorn": frozenset({"graphs", "host.scripted", "sample_server"}),
    "matplotlib": frozenset({"report.figures"}),
    "pandas": frozenset({"report.frame"}),
    "scipy": frozenset({"stats"}),
    "statsmodels": frozenset({"stats"}),
}
"""Who may import what. A new row, or a second owner, needs its reason in the commit that adds it."""

ONE_OWNER = ("platformdirs", "filelock", "jinja2", "markdown_it", "jsonpath_ng")
LAZY = ("pandas", "scipy", "statsmodels", "matplotlib")
BANNED_NAMES = {"utils", "helpers", "common", "manager", "base", "misc"}


def _third_party(path: Path) -> set[str]:
    found = {i.name.partition(".")[0] for i in imports(path) if not i.typing_only}
    return {name for name in found if name not in sys.stdlib_module_names and name != "okn_benchmark"}


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_point_down(path: Path) -> None:
    here = part(path)
    if path == PACKAGE / "__init__.py":
        return
    for found in imports(path):
        if not found.name.startswith("okn_benchmark."):
            continue
        other = found.name.split(".")[1]
        if other in {here, "__version__"}:
            continue
        assert FLOOR_OF[other] > FLOOR_OF[here], f"{dotted(path)}:{found.line}: {here} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_third_party_names_stay_with_their_owners(path: Path) -> None:
    name, here = dotted(path), part(path)
    declared = set(OWNERS) | set(ONE_OWNER)
    for library in _third_party(path):
        assert library in declared, f"{name} imports {library}, which nobody owns"
        if library in OWNERS:
            assert OWNERS[library] & {name, here}, f"{name} imports {library}; its owners are {sorted(OWNERS[library])}"


@pytest.mark.parametrize("library", ONE_OWNER)
def test_small_libraries_have_one_module(library: str) -> None:
    users = [dotted(path) for path in MODULES if library in _third_party(path)]
    assert len(users) <= 1, f"{library} is imported by {users}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_heavy_libraries_are_imported_where_they_are_used(path: Path) -> None:
    for found in imports(path):
        if found.at_load and not found.typing_only:
            assert found.name.partition(".")[0] not in LAZY, f"{dotted(path)}:{found.line} loads {found.name} at import"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_module_stays_under_the_ceiling(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= CEILING, f"{dotted(path)} has {lines} lines: it is probably two modules"


def test_no_module_is_named_after_nothing() -> None:
    assert not [dotted(p) for p in MODULES if BANNED_NAMES & set(p.relative_to(PACKAGE).with_suffix("").parts)]


def test_package_files_hold_a_docstring_only() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        code = [n for n in body[1:] if not (path.parent == PACKAGE and isinstance(n, ast.Assign))]
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
        assert not code, f"{path} does something on import"


def test_no_tier_name_stands_in_code() -> None:
    tiers = {p.stem.rpartition("_")[2] for p in CHECKOUT.glob("benchmarks-*/*.rq") if "_" in p.stem}
    assert tiers, "the shipped corpora have no tiers to guard"
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in tiers, f"{dotted(path)}:{node.lineno} names the tier {node.value!r}"


def test_every_dependency_has_an_upper_bound_or_a_reason() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [d for d in project["dependencies"] if "<" not in d]


def test_every_declared_dependency_is_used() -> None:
    used = set().union(*(_third_party(path) for path in MODULES))
    names = {"pyyaml": "yaml", "markdown-it-py": "markdown_it", "jsonpath-ng": "jsonpath_ng"}
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in project["dependencies"]:
        name = re.split(r"[^A-Za-z0-9-]", requirement)[0]
        assert names.get(name, name) in used, f"{name} is declared and never imported"


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    return [CHECKOUT / name for name in listed.stdout.decode().split("\0") if name]


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return ""


def test_no_path_of_a_developers_machine_is_committed() -> None:
    pattern = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:root|work|farm|home/[a-z]+)/[A-Za-z.]")
    hits = [f"{p}:{n}" for p in _tracked() for n, row in enumerate(_text_of(p).splitlines(), 1) if pattern.search(row)]
    assert not hits


def test_no_registry_host_or_download_address_is_committed() -> None:
    hosts = ("pypi" + ".org", "pythonhosted" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org")
    hits = [f"{p}: {host}" for p in _tracked() for host in hosts if host in _text_of(p)]
    assert not hits
    assert not [p for p in _tracked() if p.name in {"uv.lock", "package-lock.json"}]


def test_the_lock_file_pins_every_version_with_a_hash() -> None:
    text = (CHECKOUT / "requirements.lock").read_text(encoding="utf-8")
    pins = [row for row in text.splitlines() if re.match(r"[a-z0-9]", row)]
    assert len(pins) > 40
    assert not [row for row in pins if "==" not in row]
    assert text.count("--hash=sha256:") >= len(pins)
    assert "index" not in text


def test_the_proxy_process_imports_nothing_heavy() -> None:
    code = (
        "import sys, okn_benchmark.proxy.__main__\n"
        "heavy = {'mcp', 'mcp_types', 'pydantic', 'pandas', 'numpy', 'scipy', 'typer', 'rich', 'yaml', 'pyoxigraph'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
