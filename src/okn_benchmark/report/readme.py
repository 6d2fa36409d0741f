"""A README as a page of its own: self-contained, no script, links between READMEs led to their pages.

Pure: what a link leads to, and what an image holds, is asked of functions that the caller gives.
"""

import base64
import hashlib
import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from okn_benchmark.report.words import visible

Lead: TypeAlias = Callable[[str], str]
"""The address a relative link should have on the page, from the one it has in the text."""
Embed: TypeAlias = Callable[[str], str | None]
"""A ``data:`` address for a relative image, or None where it cannot be embedded."""

STYLE: Final = """
:root { color-scheme: light dark; --page: #fbfbfa; --ink: #1b1f24; --soft: #545d68; --line: #d5d9de; --accent: #0b57a4;
  --code: #eef0f2; --shade: rgb(27 31 36 / 28%); }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --ink: #e8eaed; --soft: #a9b2bc; --line: #39414a;
  --accent: #8cc2ff; --code: #22282e; --shade: rgb(0 0 0 / 75%); } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 96rem; padding: 1.5rem clamp(.8rem, 3vw, 2.5rem) 4rem; background: var(--page);
  color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif;
  overflow-wrap: anywhere; }
h1, h2, h3, h4 { line-height: 1.25; margin: 2rem 0 .6rem; }
h1 { margin-top: .5rem; } h1, h2 { border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace; font-size: .88em; }
code { background: var(--code); padding: .1em .3em; border-radius: .25em; }
pre { background: var(--code); padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; overflow-wrap: normal; }
pre code { background: none; padding: 0; }
.scroll { overflow-x: auto; margin: 1rem 0; container-type: scroll-state; background-repeat: no-repeat;
  background-image: linear-gradient(var(--page), var(--page)), linear-gradient(to left, var(--shade), transparent);
  background-position: right, right; background-size: 2.5rem 100%, 1.1rem 100%;
  background-attachment: local, scroll; }
.more { display: none; position: sticky; left: 0; width: max-content; color: var(--accent); font-size: .88rem; }
@container scroll-state(scrollable: right) { .more { display: block; } }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; vertical-align: top; text-align: left; }
p, li, blockquote { max-width: 80ch; }
.right { text-align: right; white-space: nowrap; } .center { text-align: center; }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: .3rem solid var(--line); color: var(--soft); }
img { max-width: 100%; height: auto; } hr { border: 0; border-top: 1px solid var(--line); }
@media print { body { max-width: none; padding: 0; font-size: 9pt; } pre { white-space: pre-wrap; }
  table { font-size: 7pt; } }
"""

MORE: Final = '<div class="more" aria-hidden="true">Scroll sideways for the rest →</div>'
"""Shown above a table that is wider than its place."""


def readme_page(text: str, lead: Lead, embed: Embed) -> str:
    """The page of one README. The same text and answers give the same bytes."""
    parser = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
    env: dict[str, Any] = {"lead": lead, "embed": embed}
    tokens = parser.parse(visible(text), env)
    _name_headings(tokens)
    title = next((_plain(tokens[n + 1]) for n, token in enumerate(tokens) if token.type == "heading_open"), "README")
    body = parser.renderer.render(tokens, parser.options, env)
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def is_relative(address: str) -> bool:
    """Whether an address stays in the checkout: no scheme, no host, not a place on this very page."""
    return not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/|#|$", address)


def split_address(address: str) -> tuple[str, str]:
    """Path and what follows it, the path with its percent signs undone."""
    path, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", address, re.DOTALL).groups()  # type: ignore[union-attr]
    return unquote(path), mark + rest


def slug(text: str) -> str:
    """A heading's anchor, made the way GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _name_headings(tokens: Sequence[Token]) -> None:
    seen: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            name = slug(_plain(tokens[place + 1])) or "section"
            count = seen.get(name, 0)
            seen[name] = count + 1
            token.attrSet("id", f"{name}-{count}" if count else name)


def _plain(inline: Token) -> str:
    return "".join(t.content for t in inline.children or () if t.type in ("text", "code_inline"))


class _Renderer(RendererHTML):
    """HTML in a README is shown and never run; comments are dropped; tables can be scrolled."""

    def html_block(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        return _shown_html(tokens[idx].content)

    def html_inline(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        return _shown_html(tokens[idx].content)

    def table_open(self, _tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
        return '<div class="scroll" role="region" aria-label="Table" tabindex="0">' + MORE + "<table>\n"

    def table_close(self, _tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        return f'<pre tabindex="0"><code>{html.escape(tokens[idx].content)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return self.fence(tokens, idx, options, env)

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Mapping[str, Any]) -> str:
        href = str(tokens[idx].attrGet("href") or "")
        if is_relative(href):
            tokens[idx].attrSet("href", env["lead"](href))
        return self.renderToken(tokens, idx, options, dict(env))

    def image(self, tokens: Sequence[Token], idx: int, _options: Any, env: Mapping[str, Any]) -> str:
        source, alt = str(tokens[idx].attrGet("src") or ""), html.escape(tokens[idx].content)
        data = env["embed"](source) if is_relative(source) else None
        if data is None:
            # A page that loads nothing can still say where the picture is.
            return f'<a href="{html.escape(source)}">{alt or html.escape(source)}</a>'
        return f'<img src="{data}" alt="{alt}">'

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _aligned(self, tokens, idx, options, env)

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _aligned(self, tokens, idx, options, env)


def _aligned(renderer: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    """A class in the place of a style attribute, which the policy would not allow."""
    style = str(tokens[idx].attrs.pop("style", ""))
    side = style.removeprefix("text-align:")
    if side in ("right", "center"):
        tokens[idx].attrSet("class", side)
    return renderer.renderToken(tokens, idx, options, env)


def _shown_html(content: str) -> str:
    return "" if re.fullmatch(r"\s*<!--.*?-->\s*", content, re.DOTALL) else html.escape(content)
