"""The report as JSON: every value of the pages, with the seeds, counts and versions its numbers rest on."""

import platform

from okn_benchmark import __version__
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.report.cautions import banners, cautions
from okn_benchmark.report.prose import status
from okn_benchmark.report.view import ReportView
from okn_benchmark.report.words import as_json
from okn_benchmark.stats.bootstrap import RESAMPLES
from okn_benchmark.stats.intervals import CONFIDENCE
from okn_benchmark.stats.paired import DRAWS, EXACT_LIMIT, SEED
from okn_benchmark.stats.power import ALPHA, POWER, STUDIES


def view_json(view: ReportView) -> JsonObject:
    """Values of the report. Single attempts stand in their own files and in ``summary.csv``."""
    plain: JsonObject = as_json(view)
    for shown, row in zip(plain["conditions"], view.conditions, strict=True):
        shown["model"] = row.model
        shown["has_model"] = row.about.has_model
    for shown, contrast in zip(plain["contrasts"], view.contrasts, strict=True):
        shown["status"] = status(view, contrast)
    for question in plain["questions"]:
        for row in question["rows"]:
            del row["measured"], row["attempts"]
    told = [{"condition": name, "caution": sentence} for name, sentence in cautions(view)]
    return {
        "schema": "report/1",
        **plain,
        "banners": banners(view),
        "cautions": told,
        "statistics": _statistics(),
    }


def _statistics() -> JsonObject:
    """The arithmetic is the standard library's, so its version is Python's; ``compare --json`` names scipy's."""
    return {
        "version": __version__,
        "libraries": {"python": platform.python_version()},
        "confidence": CONFIDENCE,
        "alpha": ALPHA,
        "seed": SEED,
        "sign_flip_draws": DRAWS,
        "sign_flip_enumerated_up_to": EXACT_LIMIT,
        "bootstrap_resamples": RESAMPLES,
        "power": POWER,
        "power_studies": STUDIES,
        "unit": "question",
        "targets": ["these questions (corpus_only)", "questions like these (everything else)"],
    }
