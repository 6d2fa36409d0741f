"""Corpus, truth, profile and sweeps over the six IC50 rows."""

import contextlib
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from okn_benchmark.corpus.source import open_corpus
from okn_benchmark.host.episode import Host
from okn_benchmark.jobs.prepare import prepare
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.run import OpenHost, Swept, run
from okn_benchmark.reference.build import build
from okn_benchmark.reference.cache import Cache
from okn_benchmark.sparql.endpoint import open_endpoint
from tests.study.agents import FACTOR, Mind, MindHost

HERE = Path(__file__).parent
ROWS = list(csv.DictReader((HERE / "ic50.csv").read_text(encoding="utf-8").splitlines()))

RECORD = """\
#+ summary: >-
#+   Give the IC50 of compound {compound} in nM: one row with the compound's ChEMBL id and the number.
#+ tags:
#+   - ic50
{traps}SELECT ?compound ?ic50_nM WHERE {{
  ?row <http://example.org/compound> ?compound ; <http://example.org/ic50_nM> ?ic50_nM .
  FILTER(?compound = "{compound}")
}} ORDER BY ?compound
"""
TRAP = "#+ traps:\n#+   bare_number:\n#+     scale: {column: ic50_nM, by: 0.001}\n"

UNITS_OFF = """\
name = "units-off"

[[results]]
tool = "activities"
drop = ["units"]
"""


@dataclass(frozen=True)
class Study:
    """Where everything of one study is."""

    folder: Path

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def profile(self) -> Path:
        return self.folder / "ic50.toml"

    def request(self, out: str = "root", *, arm: str | None = None, **more: Any) -> RunRequest:
        """A run of all six questions; ``arm`` is the text of an arm file."""
        if arm is not None:
            path = self.folder / f"{out}-arm.toml"
            path.write_text(arm, encoding="utf-8")
            more["arm"] = path
        return RunRequest(
            corpus=str(self.corpus),
            out=self.folder / out,
            level="all-tools",
            kg_hint="none",
            endpoint=str(self.folder / "ic50.ttl"),
            cache=self.folder / "cache",
            **{"host": "oracle", "profile": self.profile, **more},
        )

    def run(self, mind: Mind, out: str = "root", *, host: Any = None, **more: Any) -> Swept:
        """One condition, with an agent that is not a model."""
        return run(prepare(self.request(out, **more)), lambda _: None, opened=hosting(host or MindHost(mind)))


def hosting(host: Host) -> OpenHost:
    @contextlib.contextmanager
    def opened(request: RunRequest, records: Sequence[Any], profile: object) -> Iterator[Host]:
        yield host

    return opened


def make_study(folder: Path) -> Study:
    """The corpus and the truth, from the rows; the key is in nM."""
    study = Study(folder)
    study.corpus.mkdir(parents=True)
    triples = []
    for number, row in enumerate(ROWS):
        value = float(row["value"]) * FACTOR[row["units"]]
        triples.append(
            f'[] <http://example.org/compound> "{row["chemblId"]}" ; <http://example.org/ic50_nM> {value:e} .'
        )
        traps = TRAP if row["units"] == "uM" else ""
        name = f"ic50_{number}_{row['units'].lower()}.rq"
        (study.corpus / name).write_text(RECORD.format(compound=row["chemblId"], traps=traps), encoding="utf-8")
    (folder / "ic50.ttl").write_text("\n".join(triples) + "\n", encoding="utf-8")
    args = json.dumps([str(HERE / "server.py")])
    study.profile.write_text(
        f'name = "ic50"\n[upstream]\ntransport = "stdio"\ncommand = "{sys.executable}"\nargs = {args}\n'
        '[oracle]\ntool = "activities"\narguments = {compound = "{query}"}\nreply = "csv"\n',
        encoding="utf-8",
    )
    records = open_corpus(str(study.corpus), None).records
    with open_endpoint(str(folder / "ic50.ttl"), timeout_s=20) as endpoint:
        built = build(records, endpoint, Cache.at(folder / "cache"))
    assert all(one.status == "ran" for one in built)
    return study


def outcomes(swept: Swept) -> dict[str, Counter[str]]:
    """Correct, trap or neither, counted for each unit."""
    found: dict[str, Counter[str]] = {}
    for question in swept.results:
        unit = question.record.rpartition("_")[2]
        for attempt in question.attempts:
            verdict = attempt.verdict or {}
            trap = verdict.get("trap") or {}
            kind = trap.get("outcome") or ("correct" if verdict.get("exact") else "neither")
            found.setdefault(unit, Counter())[kind] += 1
    return found
