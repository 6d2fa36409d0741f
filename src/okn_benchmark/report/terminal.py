"""Tables for a terminal. Everything is plain text to rich: a stranger's square brackets style nothing."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from okn_benchmark.report import context, prose
from okn_benchmark.report.apart import HEAD, apart_rows
from okn_benchmark.report.cautions import banners, cautions
from okn_benchmark.report.contrasts import Contrast
from okn_benchmark.report.tally import ConditionRow, QuestionRow
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import DASH, number, one_line, p_value, plural, span, tally

PIPE_WIDTH = 160


def show(view: ReportView, stream: TextIO, *, plain: bool, width: int | None = None) -> None:
    """Print the report to ``stream``; a pipe gets 160 columns and no colour."""
    _console(stream, plain=plain, width=width).print(rendered(view))


def _console(stream: TextIO, *, plain: bool, width: int | None = None) -> Console:
    return Console(
        file=stream,
        no_color=plain,
        highlight=False,
        soft_wrap=False,
        width=width or (PIPE_WIDTH if not stream.isatty() else None),
        force_terminal=None if not plain else False,
    )


def show_brief(views: Sequence[ReportView], stream: TextIO, *, plain: bool) -> None:
    """One line per condition of several roots: enough to see that all went well, or where it did not."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("root", no_wrap=True)
    table.add_column("condition", overflow="fold")
    for name in ("exact", "95 %", "F1", "queries", "s"):
        table.add_column(name, justify="right", no_wrap=True)
    for view in views:
        for place, row in enumerate(view.conditions):
            _add(table, view.title if place == 0 else "", row.about.name, *_brief(row))
    _console(stream, plain=plain).print(table)


def _brief(row: ConditionRow) -> list[str | Text]:
    if row.exact is None:
        return [row.nothing, *[DASH] * 4]
    exact = Text(f"{row.exact.hits}/{row.exact.attempts}", style="bold")
    queries, wall = (prose.average(row.measures[name], row.measured) for name in ("queries_ok", "wall_s"))
    return [exact, span(row.exact.interval), number(row.f1.value), queries, wall]


def rendered(view: ReportView) -> RenderableType:
    """The report as one renderable."""
    return Group(*_parts(view))


def _name(name: str) -> Text:
    """A condition's name, broken where its parts meet."""
    return Text(one_line(name, 400).replace("__", "\n  __"))


def _parts(view: ReportView) -> Iterator[RenderableType]:
    yield Text(one_line(view.title), style="bold")
    yield Text(prose.opening(view))
    yield from (Text(line, style="yellow") for line in banners(view))
    yield from _excluded(view)
    if view.conditions:
        yield _conditions(view)
        yield _results(view)
        yield from _apart(view)
        yield _work(view)
        if any(row.context.context_chars is not None for row in view.conditions):
            yield _context(view)
    if view.contrasts:
        yield from _differences(view)
    if view.questions:
        yield _questions(view)
        yield from (Text(f"  {place} = {one_line(r.about.name)}") for place, r in enumerate(view.conditions, 1))
        yield Text("")
    yield from _cautions(view)


def _table(title: str, *columns: str, left: int = 1) -> Table:
    """A table whose first ``left`` columns are names and the others numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        side: JustifyMethod = "left" if place < left else "right"
        table.add_column(column, justify=side, overflow="fold")
    return table


def _add(table: Table, *cells: str | Text) -> None:
    table.add_row(*(cell if isinstance(cell, Text) else Text(one_line(cell, 400)) for cell in cells))


def _excluded(view: ReportView) -> Iterator[RenderableType]:
    if view.excluded:
        names = "; ".join(f"{one_line(e.id)} ({one_line(e.reason)})" for e in view.excluded)
        yield Text(f"Left out of this root: {names}", style="yellow")


def _conditions(view: ReportView) -> Table:
    table = _table("Conditions", "condition", "model", "effort", "host", "tools", "graph", "measured", left=6)
    for row in view.conditions:
        about = row.about
        told = (row.model, about.effort_shown, prose.host(row), prose.tools(about), _NAMED[about.named])
        _add(table, _name(about.name), *told, f"{row.measured} of {row.planned}")
    return table


_NAMED = {True: "named", False: "not named", None: DASH}


def _results(view: ReportView) -> Table:
    title = "Results: mean over questions, 95 % interval on the effective number of attempts (n eff)"
    columns = ("exact", "95 %", "attempts", "n eff", "always/ever/flaky", "F1", "strict", "ordered")
    table = _table(title, "condition", *columns)
    for row in view.conditions:
        _add(table, _name(row.about.name), *_result(row))
    return table


def _result(row: ConditionRow) -> list[str | Text]:
    exact = row.exact
    if exact is None:
        return [row.nothing, *[DASH] * 7]
    steady = "/".join(str(c.hits) if c.of else DASH for c in (row.always, row.ever, row.flaky))
    return [
        Text(number(exact.value), style="bold"),
        span(exact.interval),
        f"{exact.hits}/{exact.attempts} in {prose.questions(row)}",
        number(exact.effective, 1),
        f"{steady} of {row.always.of}",
        number(row.f1.value),
        *(DASH if c is None else f"{c.hits}/{c.attempts}" for c in (row.strict, row.ordered)),
    ]


def _apart(view: ReportView) -> Iterator[RenderableType]:
    """Questions whose key drifted: named, and in none of the tables of numbers."""
    rows = apart_rows(view)
    if rows:
        table = _table("Set apart, in no rate: their key drifted while the condition ran", *HEAD, left=4)
        for row in rows:
            _add(table, _name(row[0]), *row[1:])
        yield table


def _work(view: ReportView) -> Table:
    names = (
        "queries ok / err",
        "calls",
        "soft / clipped",
        "wall s",
        "server s",
        "agent s",
        "retry s",
        "tokens in / out",
    )
    table = _table("Work: means per measured attempt, times in seconds", "condition", "n", *names, "USD")
    for row in view.conditions:
        m, n = row.measures, row.measured
        timed = [prose.average(m[name], n) for name in ("wall_s", "server_s", "agent_s", "api_retry_s")]
        tokens, cost = prose.pair(m["tokens_in"], m["tokens_out"], n, 0), prose.average(m["cost_usd"], n, 3)
        queries = prose.pair(m["queries_ok"], m["queries_errored"], n)
        lost = prose.pair(m["soft_errors"], m["host_clipped"], n)
        calls = prose.average(m["calls"], n)
        _add(table, _name(row.about.name), str(n), queries, calls, lost, *timed, tokens, cost)
    return table


_CONTEXT = range(8)
"""Columns there is room for: the host's own tokens are on the other pages."""


def _context(view: ReportView) -> Table:
    title = "Context: characters offered and delivered per measured attempt; ÷ 4 is an estimate of tokens"
    table = _table(title, *(context.HEAD[n] for n in _CONTEXT))
    for row in prose.context_table(view):
        _add(table, _name(row[0]), *(row[n] for n in _CONTEXT[1:]))
    return table


def _differences(view: ReportView) -> Iterator[RenderableType]:
    """A paragraph each: a table of so many columns would fit no terminal."""
    yield Text("Differences: left − right, paired by question; p by sign flips, Holm's within a kind", style="bold")
    for place, contrast in enumerate(view.contrasts, 1):
        head = Text(f"{place}. {one_line(contrast.title, 200)}: ")
        yield head.append(one_line(prose.verdict_words(contrast), 300), style="bold")
        yield from (Padding(Text(line), (0, 0, 0, 4)) for line in _difference(contrast))
        notes = prose.contrast_notes(contrast)
        yield from (Padding(Text(one_line(line, 400), style="dim"), (0, 0, 0, 6)) for line in notes)
    yield Text("")


def _difference(contrast: Contrast) -> list[str]:
    exact, f1 = contrast.exact, contrast.f1
    if exact is None or contrast.withheld:
        return []
    test = exact.test
    adjusted = f", Holm {p_value(contrast.holm_p)} of {contrast.family}" if contrast.family > 1 else ""
    n = plural(contrast.questions, "question")
    lines = [f"exact {prose.effect(exact)} over {n}; {prose.counts(test)}, p = {p_value(test.p)}{adjusted}"]
    if f1 is not None:
        lines.append(f"F1 {prose.effect(f1)}; {prose.counts(f1.test)}, p = {p_value(f1.test.p)}")
    return lines


def _questions(view: ReportView) -> Table:
    """Question × condition: how many attempts were exact, and F1 where that tells more."""
    names = [row.about.name for row in view.conditions]
    table = _table("Questions: exact attempts (mean F1)", "question", *[str(n) for n in range(1, len(names) + 1)])
    for question in view.questions:
        by_name = {row.condition: row for row in question.rows}
        _add(table, question.record, *(_cell(by_name.get(name)) for name in names))
    return table


def _cell(row: QuestionRow | None) -> Text:
    if row is None:
        return Text(DASH, style="dim")
    if not row.measured:
        return Text(row.nothing if row.refused else f"measured nothing ({tally(row.blocked)})", style="yellow")
    right, n = sum(row.exact), len(row.exact)
    words = f"{right}/{n}" if right == n else f"{right}/{n} ({number(sum(row.f1) / n)})"
    if row.blocked:
        words = f"{words}, {sum(row.blocked.values())} of {len(row.attempts)} blocked"
    if row.apart:
        return Text(f"{words}, set apart", style="dim")
    return Text(words, style="green" if right == n else "red" if right == 0 else "yellow")


def _cautions(view: ReportView) -> Iterator[RenderableType]:
    found = [f"{one_line(name)}: {sentence}" for name, sentence in cautions(view)]
    found += [one_line(problem, 400) for problem in view.problems]
    if found:
        yield Text("To bear in mind", style="bold")
        yield from (Padding(Text(f"• {line}"), (0, 0, 0, 2)) for line in found)
