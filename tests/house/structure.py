"""What the source tree says of itself: modules, floors, imports. Read from text, never by importing."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PACKAGE = CHECKOUT / "src" / "okn_benchmark"
MODULES = sorted(PACKAGE.rglob("*.py"))

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"__main__"}),
    frozenset({"cli"}),
    frozenset({"jobs"}),
    frozenset({"host", "proxy", "reference", "report", "sample_server"}),
    frozenset({"runs"}),
    frozenset({"graphs", "condition"}),
    frozenset({"corpus", "sparql", "scoring", "stats", "profile", "launch", "prompt", "interventions"}),
    frozenset({"table", "jsonio", "jsonrpc", "files", "places"}),
    frozenset({"errors"}),
)
"""Top to bottom; a part imports only from floors below its own."""

FLOOR_OF = {part: number for number, floor in enumerate(FLOORS) for part in floor}


def part(path: Path) -> str:
    """The folder or top-level module a file belongs to."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def dotted(path: Path) -> str:
    """``runs/shapes.py`` → ``runs.shapes``."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@dataclass(frozen=True)
class Import:
    """One imported name, and whether it happens when the module is loaded."""

    name: str
    line: int
    at_load: bool
    typing_only: bool


def imports(path: Path) -> Iterator[Import]:
    """Every import of a file, inside functions and ``TYPE_CHECKING`` blocks too."""
    yield from _walk(ast.parse(path.read_text(encoding="utf-8")), at_load=True, typing_only=False)


def _walk(node: ast.AST, *, at_load: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, at_load, typing_only)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"relative import in line {child.lineno}"
            for alias in child.names:
                yield Import(f"{child.module}.{alias.name}", child.lineno, at_load, typing_only)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from _walk(child, at_load=at_load, typing_only=True)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, at_load=at_load and not inside, typing_only=typing_only)
