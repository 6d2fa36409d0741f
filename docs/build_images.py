"""The two pictures of the README, from a demo that is run now: its terminal, and the page of one of its roots.

uv run python docs/build_images.py    takes a minute; needs chromium on PATH
"""

# ruff: noqa: INP001 - a script beside the pages it serves, not a package
import argparse
import html
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

IMAGES = Path(__file__).resolve().parent / "images"
PROMPT = "$ uv run okn-benchmark demo"
COLUMNS = 130
WIDTH, TALLEST = 1060, 2600
REST = '<section id="results"'
"""Where the part of the report that is shown ends."""
COLOURS = 128
MARGIN = 24
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
    "--force-device-scale-factor=1",
)  # fmt: skip
THEME = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47), (164, 14, 38), (17, 99, 41), (125, 78, 0),
        (5, 80, 174), (130, 80, 223), (20, 110, 120), (110, 119, 129),
    ],
)  # fmt: skip
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 20px; background: #ffffff; }}
div {{ border: 1px solid #d0d7de; border-radius: 10px; overflow: hidden; }}
header {{ background: #f0f2f4; border-bottom: 1px solid #d0d7de; padding: 9px 14px; }}
i {{ display: inline-block; width: 11px; height: 11px; border-radius: 50%; background: #c6ccd2; margin-right: 7px; }}
pre {{ margin: 0; padding: 14px 18px 18px; font: 12.5px/1.5 "DejaVu Sans Mono", "Liberation Mono", monospace;
  color: #24292f; }}
</style><div><header><i></i><i></i><i></i></header><pre>{code}</pre></div>"""


def demo(out: Path) -> str:
    """Run the demo on a terminal of fixed width; what it wrote, colours included."""
    written = bytearray()

    def take(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        written.extend(data)
        return data

    os.environ |= {"COLUMNS": str(COLUMNS), "LINES": "100", "TERM": "xterm-256color"}
    os.environ.pop("NO_COLOR", None)
    status = pty.spawn([sys.executable, "-m", "okn_benchmark", "demo", "--out", str(out)], take)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("the demo failed")
    return written.decode().replace("\r\n", "\n")


def shortened(text: str, out: Path) -> str:
    """The first and the last condition, the table, and where to read on."""
    lines = text.replace(str(out), "/tmp/okn-benchmark-demo").rstrip().split("\n")  # noqa: S108 - a text on a picture
    opens = [at for at, row in enumerate(lines) if " · " in row]
    ends = max(at for at, row in enumerate(lines) if re.match(r"\S*\[\d+/\d+\]", row)) + 1
    left = sum(1 for row in lines[opens[1] : opens[-1]] if row.startswith("["))
    gap = f"\x1b[2m    … {left} more episodes …\x1b[0m"
    shown = [PROMPT, *lines[: opens[1]], gap, *lines[opens[-1] : ends], *lines[ends:]]
    return "\n".join(row.rstrip() for row in shown)


def terminal_page(text: str) -> str:
    """A terminal as a page."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text), soft_wrap=True)
    code = console.export_html(theme=THEME, inline_styles=True, code_format="{code}")
    return PAGE.format(code=code.replace(html.escape(PROMPT), f"<b>{html.escape(PROMPT)}</b>"))


def photograph(chromium: str, page: Path, picture: Path) -> Image.Image:
    """A page as Chromium shows it in the light theme."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", f"--window-size={WIDTH},{TALLEST}"]
        subprocess.run(
            [*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True, timeout=120
        )
    return Image.open(picture).convert("RGB")


def save(image: Image.Image, name: str) -> None:
    """Few colours, small file."""
    path = IMAGES / name
    path.parent.mkdir(exist_ok=True)
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"wrote docs/images/{name}: {image.width} × {image.height}, {path.stat().st_size // 1000} kB")


def trimmed(image: Image.Image) -> Image.Image:
    """Without the empty page below the last thing on it."""
    blank = Image.new("RGB", image.size, image.getpixel((0, image.height - 1)))
    box = ImageChops.difference(image, blank).getbbox()
    return image if box is None else image.crop((0, 0, image.width, min(image.height, box[3] + MARGIN)))


def main() -> int:
    """Make both."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not on PATH", file=sys.stderr)
        return 4
    with tempfile.TemporaryDirectory(prefix="okn-images-") as name:
        work = Path(name).resolve()
        page = work / "terminal.html"
        page.write_text(terminal_page(shortened(demo(work / "demo"), work / "demo")), encoding="utf-8")
        save(trimmed(photograph(chromium, page, work / "terminal.png")), "demo.png")
        report = work / "demo" / "oracle-cross" / "report.html"
        begins, found, _ = report.read_text(encoding="utf-8").partition(REST)
        if "beside another sweep" in begins:
            print("another sweep ran on this machine and the page says so: take the pictures again in a quiet moment")
        if not found:
            raise SystemExit(f"{report.name} has no {REST}: say anew where the picture ends")
        page.write_text(f"{begins}</main></body></html>", encoding="utf-8")
        save(trimmed(photograph(chromium, page, work / "report.png")), "report.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
