"""Lines of text for ``compare`` and ``power``."""

from collections.abc import Iterator, Sequence

from okn_benchmark.report import prose
from okn_benchmark.report.contrasts import Contrast
from okn_benchmark.report.words import number, one_line, p_value, span
from okn_benchmark.stats.intervals import Interval
from okn_benchmark.stats.power import Plan
from okn_benchmark.stats.reference import OddsRatio


def comparison_lines(
    contrast: Contrast, sides: tuple[str, str], bca: Interval | None, odds: OddsRatio | None, max_t_p: float | None
) -> Iterator[str]:
    """One comparison in full: who answered, both targets named, every p with its counts."""
    yield contrast.title
    yield from (f"  {side}: {one_line(words)}" for side, words in zip(("left", "right"), sides, strict=True))
    yield f"  {prose.verdict_words(contrast)}"
    if contrast.exact is None or contrast.withheld:
        return
    test, n = contrast.exact.test, contrast.questions
    yield f"  questions like these, n = {n}"
    yield f"    exact {prose.effect(contrast.exact)}"
    yield f"    {test.method}: p = {p_value(test.p)} ({prose.counts(test)})"
    if contrast.family > 1:
        yield f"    Holm over {contrast.family} comparisons: p = {p_value(contrast.holm_p)}"
        if max_t_p is not None:
            yield f"    max-T over the same sign flips: p = {p_value(max_t_p)}"
    if bca is not None:
        yield f"    {bca.method}: {span(bca, sign=True)}"
    if contrast.f1 is not None:
        f1 = contrast.f1.test
        yield f"    F1 {prose.effect(contrast.f1)}, p = {p_value(f1.p)} ({prose.counts(f1)})"
    yield from (f"    {line}" for line in prose.contrast_notes(contrast) if not line.startswith("exact, bootstrap"))
    if odds is not None:
        ratio_words = f"pooled odds ratio {number(odds.value)} {span(odds.interval)}, p = {p_value(odds.p)}"
        yield f"  these questions only: {ratio_words} ({prose.counts(test)})"
    for ratio in contrast.ratios:
        terms = f"means {number(ratio.left)} / {number(ratio.right)}, {ratio.questions} questions"
        name = prose.MEASURED.get(ratio.measure, ratio.measure)
        yield f"  {name}: × {number(ratio.value)} {span(ratio.interval)} ({terms})"


def plan_lines(difference: float, rates: str, wanted: float, designs: Sequence[Plan]) -> Iterator[str]:
    """A table of power per design; a star where the wanted power is reached."""
    studies = designs[0].studies if designs else 0
    yield (
        f"Power to notice a mean difference of {number(difference)} (sign-flip test, two-sided 5 %; difficulty from "
        f"{rates}; {studies:,} simulated studies per design; * reaches {wanted:.0%})"
    )
    yield f"{'questions':>10}{'repeats':>9}{'episodes':>10}{'power':>8}"
    for plan in designs:
        star = " *" if plan.power >= wanted else ""
        yield f"{plan.questions:>10}{plan.repeats:>9}{plan.episodes:>10}{plan.power:>8.0%}{star}"
