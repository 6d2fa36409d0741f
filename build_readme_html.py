"""Every README.md that git tracks, as a self-contained README.html beside it; tests/ is left out.

uv run python build_readme_html.py            write the pages that are missing or out of date
uv run python build_readme_html.py --check    write nothing; name what is stale and exit with 1
"""

import argparse
import base64
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from okn_benchmark.files import replace_whole
from okn_benchmark.report.readme import readme_page, split_address

CHECKOUT = Path(__file__).resolve().parent
NAME, PAGE = "README.md", "README.html"
IMAGES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
}


def tracked(checkout: Path) -> list[PurePosixPath]:
    """The READMEs git tracks, by their path in the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True)
    if listed.returncode != 0:
        raise SystemExit(f"{checkout} is no git checkout: {listed.stderr.decode(errors='replace').strip()}")
    paths = (PurePosixPath(name) for name in listed.stdout.decode().split("\0") if name)
    found = (path for path in paths if path.name == NAME and path.parts[0] != "tests")
    # What is deleted and not yet committed has nothing to be made from.
    return sorted(path for path in found if (checkout / path).is_file())


def normal(folder: PurePosixPath, path: str) -> PurePosixPath | None:
    """``path`` seen from ``folder``, as a path in the checkout; None where it leaves it."""
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(path).parts):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def lead(readme: PurePosixPath, known: frozenset[PurePosixPath], address: str) -> str:
    """Where a link of ``readme`` leads on its page: a README, or a folder with one, to that page."""
    path, rest = split_address(address)
    target = normal(readme.parent, path)
    if target is None:
        return address
    if target in known:
        return quote(f"{path[: -len(NAME)]}{PAGE}") + rest
    if target / NAME in known:
        return quote(f"{path.rstrip('/')}/{PAGE}") + rest
    return address


def embed(checkout: Path, readme: PurePosixPath, address: str) -> str | None:
    """The picture itself, where it lies in the checkout."""
    path, _ = split_address(address)
    target = normal(readme.parent, path)
    kind = None if target is None else IMAGES.get(target.suffix.lower())
    if target is None or kind is None or not (checkout / target).is_file():
        return None
    return f"data:{kind};base64,{base64.b64encode((checkout / target).read_bytes()).decode()}"


def pages(checkout: Path) -> Mapping[Path, str]:
    """Every page there should be, by where it should be."""
    readmes = tracked(checkout)
    known = frozenset(readmes)
    return {
        checkout / readme.with_name(PAGE): readme_page(
            (checkout / readme).read_text(encoding="utf-8"),
            partial(lead, readme, known),
            partial(embed, checkout, readme),
        )
        for readme in readmes
    }


def stale(wanted: Mapping[Path, str]) -> list[Path]:
    """Pages that are missing or hold other bytes."""
    return [path for path, page in wanted.items() if not path.is_file() or path.read_bytes() != page.encode()]


def main(arguments: Sequence[str] | None = None, checkout: Path = CHECKOUT) -> int:
    """Write or check; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; name stale pages and exit with 1")
    check = parser.parse_args(arguments).check
    wanted = pages(checkout)
    found = stale(wanted)
    for path in found:
        name = path.relative_to(checkout).as_posix()
        if check:
            print(f"{name} is out of date: run python {Path(__file__).name}", file=sys.stderr)
        else:
            replace_whole(path, wanted[path])
            print(f"wrote {name}")
    if not found:
        print(f"{len(wanted)} pages, all up to date")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
