"""``report.html``: one file that loads nothing, runs no script, and shows a stranger's text as text."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from okn_benchmark.report import context, plots, prose, words
from okn_benchmark.report.apart import HEAD, INTRO, apart_lines, apart_rows
from okn_benchmark.report.attempts import Each, Lookup, Prompt, attempt_values, grid, question_values, shrink
from okn_benchmark.report.cautions import banners
from okn_benchmark.report.detail import MARKS, Limits
from okn_benchmark.report.tally import QuestionRow
from okn_benchmark.report.trust import cards
from okn_benchmark.report.view import QuestionView, ReportView
from okn_benchmark.runs.shapes import OUTCOMES

TEMPLATES: Final = Path(__file__).with_name("templates")
WHOLE_BYTES: Final = 4_400_000
"""What all attempts together may take; the rest of the page stands beside it."""
LARGEST_ATTEMPT: Final = 120_000

LEGEND: Final = (
    ("✓", "exact", "exact"),
    ("◐", "part", "partly right (F1 above 0)"),
    ("✗", "wrong", "wrong or not handed in"),
    ("⊘", "blocked", "blocked: measured nothing"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What the page shows beyond the values of the report."""

    keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Record → ``query``, ``endpoint`` of its key."""
    frozen: str | None = None
    linked: bool = False
    """Whether the page lies in the root, so that links to the files beside it lead somewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Reads what one attempt left, when its turn on the page comes."""

    evidence: Lookup
    prompt: Prompt


def page(view: ReportView, reading: Reading, extras: Extras | None = None) -> str:
    """The page. The same root gives the same bytes."""
    extras = extras or Extras()
    budget = min(LARGEST_ATTEMPT, WHOLE_BYTES // max(1, view.attempts))
    reach = plots.forest_reach(view.contrasts)
    found = cards(view)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            style=_style(),
            style_hash=_digest(_style()),
            opening=prose.opening(view),
            banners=banners(view),
            apart={"head": HEAD, "intro": INTRO, "rows": apart_rows(view), "lines": apart_lines(view)},
            context={"head": context.HEAD, "intro": context.INTRO, "rows": prose.context_table(view)},
            frozen=extras.frozen,
            looks=[card for card in found if card.tone == "look"],
            calm=[card for card in found if card.tone != "look"],
            legend=LEGEND,
            grid=grid(view),
            outcomes=OUTCOMES,
            repeats=any(row.passes for row in view.conditions),
            ratios=any(c.ratios for c in view.contrasts),
            unit_ticks=plots.UNIT_TICKS,
            forest_ticks=plots.forest_ticks(reach),
            forest_bar=lambda contrast: plots.forest_bar(contrast, reach),
            strips=plots.strips(view),
            sources=[(row.about.name, prose.provenance(row)) for row in view.conditions],
            cut_down=budget < LARGEST_ATTEMPT // 4,
            attempts="".join(_question(q, n, view, reading, extras, budget) for n, q in enumerate(view.questions)),
            how_to_read=prose.HOW_TO_READ,
        )
    )


def _question(
    question: QuestionView, place: int, view: ReportView, reading: Reading, extras: Extras, budget: int
) -> str:
    start = shrink(Limits(), budget)
    values, prompts = question_values(question, place, view, reading.prompt)
    arms = [
        {
            "condition": row.condition,
            "words": _arm_words(row),
            "attempts": "".join(_attempt(each, reading.evidence, extras, start, budget) for each in attempts),
        }
        for row, attempts in values
    ]
    key = extras.keys.get(question.record, {})
    template = _environment().get_template("question.html.j2")
    return template.render(
        place=place,
        record=question.record,
        tier=question.tier,
        endpoint=key.get("endpoint"),
        query=_short(key.get("query"), budget),
        prompts=prompts,
        arms=arms,
    )


def _arm_words(row: QuestionRow) -> str:
    told = f"{prose.of(row.exact)} exact" if row.measured else row.nothing
    return f"{told}, set apart ({prose.moved_words(row.moved)})" if row.apart else told


def _attempt(each: Each, lookup: Lookup, extras: Extras, limits: Limits, budget: int) -> str:
    """One attempt, shown with less and less until it fits."""
    template = _environment().get_template("attempt.html.j2")
    evidence = lookup(each.record, each.condition, each.result.attempt, limits)
    for _ in range(6):
        made = template.render(attempt_values(each, evidence, limits, linked=extras.linked))
        if len(made.encode()) <= budget:
            break
        limits = limits.smaller()
    return made


def _short(text: str | None, budget: int) -> str | None:
    return None if text is None else text if len(text) <= budget else f"{text[:budget]}…"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Whatever is printed is made visible first and escaped after: no template can forget it.
        finalize=lambda value: words.visible(value) if type(value) is str else value,
    )
    made.filters["breaks"] = _breaks
    made.globals.update(
        prose=prose,
        number=words.number,
        signed=words.signed,
        span=words.span,
        p_value=words.p_value,
        tally=words.tally,
        rate_bar=plots.rate_bar,
        marks=MARKS,
    )
    return made


@dataclass(frozen=True, slots=True)
class _Inert:
    """Text that is escaped already; the template engine asks for ``__html__`` and leaves it alone."""

    escaped: str

    def __html__(self) -> str:
        return self.escaped


def _breaks(text: str) -> _Inert:
    """A name that may be broken behind its joints instead of anywhere."""
    return _Inert(re.sub(r"(_+|\+|::)(?=[^_+:])", r"\1<wbr>", escape(words.visible(text))))


@cache
def _style() -> str:
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
