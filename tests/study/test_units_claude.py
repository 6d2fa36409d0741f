"""The same three agents inside the real agent program, and the ledger against what its model endpoint received."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from okn_benchmark.host.episode import Host
from okn_benchmark.host.rehearsal import Rehearsal, rehearse
from okn_benchmark.host.script import Script, Turn
from okn_benchmark.host.scripted import ScriptedEndpoint, prompt_of, tool_results
from okn_benchmark.jobs.prepare import prepare
from okn_benchmark.jobs.request import RunRequest
from okn_benchmark.jobs.run import Swept, run
from okn_benchmark.jsonio import JsonObject
from okn_benchmark.runs.layout import RunsRoot
from tests.host.driving import SEARCH, say, use
from tests.study.agents import COMPOUND, MINDS, Mind
from tests.study.sweeps import UNITS_OFF, Study, make_study, outcomes

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3}


class Thinking(ScriptedEndpoint):
    """A model that looks the compound up and applies its mind to the table it is given."""

    mind: Mind

    def reply(self, body: JsonObject) -> tuple[Turn, JsonObject]:
        messages = [m for m in body.get("messages", []) if isinstance(m, dict)]
        found = COMPOUND.search(prompt_of(messages))
        results = tool_results(messages)
        asked = sum(m.get("role") == "assistant" for m in messages)
        blocks: list[Any] = [say("Nothing to do.")]
        if found is not None:
            steps = [
                lambda: SEARCH,
                lambda: [use("activities", compound=found[0])],
                lambda: [use("submit_csv", csv=self.mind(results[1]))],
                lambda: [say("Done.")],
            ]
            blocks = steps[min(asked, 3)]()
        self.script = Script(turns=(Turn(blocks=tuple(blocks), usage=USAGE, times=99),))
        return ScriptedEndpoint.reply(self, body)


def thinking(mind: Mind) -> type[Thinking]:
    return type("Minded", (Thinking,), {"mind": staticmethod(mind)})


def sweep(claude: str, study: Study, mind: Mind, out: str, arm: str | None) -> tuple[Swept, list[JsonObject]]:
    """Two questions, one in uM and one in nM, each in an agent process of its own."""
    stages: list[Rehearsal] = []

    @contextlib.contextmanager
    def opened(request: RunRequest, records: Sequence[Any], profile: object) -> Iterator[Host]:
        with rehearse(claude, Script(turns=()), made=thinking(mind)) as stage:
            stages.append(stage)
            yield stage.host

    exclude = ("ic50_1_um", "ic50_2_um", "ic50_3_um", "ic50_5_nm")
    request = study.request(
        out, arm=arm, host="claude", model="claude-opus-5", exclude=exclude, allow_failed_audit=True
    )
    swept = run(prepare(request), lambda _: None, opened=opened)
    return swept, list(stages[0].endpoint.requests)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("claude") / "ic50")


BY_HAND = {
    ("literal", "on"): ("trap", "correct"),
    ("literal", "off"): ("trap", "correct"),
    ("assumes-nM", "on"): ("correct", "correct"),
    ("assumes-nM", "off"): ("trap", "correct"),
    ("noticer", "on"): ("correct", "correct"),
    ("noticer", "off"): ("neither", "neither"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "units"), BY_HAND)
def test_the_real_program_gives_the_same_table(claude_binary: str, study: Study, name: str, units: str) -> None:
    arm = UNITS_OFF if units == "off" else None
    swept, requests = sweep(claude_binary, study, MINDS[name], f"{name}-{units}", arm)
    um, nm = BY_HAND[name, units]
    assert outcomes(swept) == {"um": Counter([um]), "nm": Counter([nm])}
    record = json.loads((study.folder / f"{name}-{units}" / "conditions" / f"{swept.condition}.json").read_text())
    if arm is not None:
        assert record["aggregate"]["manipulation"]["passed"] is True
        assert "uM" not in json.dumps([tool_results(r["messages"]) for r in requests])
    _reconcile(study.folder / f"{name}-{units}", swept, requests)


def _reconcile(root: Path, swept: Swept, requests: list[JsonObject]) -> None:
    """The ledger of every episode, to the character and the token, against the requests its endpoint received."""
    for question in swept.results:
        (attempt,) = question.attempts
        paths = RunsRoot(root).attempt(question.record, swept.condition, 1)
        compound = COMPOUND.search(paths.prompt.read_text())
        assert compound is not None
        own = [r for r in requests if compound[0] in prompt_of(r["messages"])]
        # What came back from the tools, as the last request of the episode holds it: the search's own reply, then ours.
        _, table, receipt = tool_results(own[-1]["messages"])
        ledger = attempt.ledger
        assert ledger is not None
        assert ledger["tools"] == {
            "activities": {"calls": 1, "result_chars": len(table)},
            "submit_csv": {"calls": 1, "result_chars": len(receipt)},
        }
        assert ledger["result_chars"] == len(table)
        assert ledger["tools_offered"] == 3
        assert ledger["instructions_chars"] == len("Rows of chemblId, value, units. Look at the units.")
        assert ledger["context_chars"] == ledger["definition_chars"] + ledger["instructions_chars"] + len(table)
        tokens = attempt.tokens
        assert tokens is not None
        turns = len(own)
        assert (tokens.input, tokens.output) == (100 * turns, 20 * turns)
        assert (tokens.cache_read, tokens.cache_write) == (7 * turns, 3 * turns)


BARE = 'name = "bare"\ndocumentation = "names"\ninstructions = "strip"\nwithout_tools = ["about"]\n'


@pytest.mark.timeout(300)
def test_documentation_that_is_taken_away_never_reaches_the_model(claude_binary: str, study: Study) -> None:
    full, told = sweep(claude_binary, study, MINDS["literal"], "documented", None)
    bare, untold = sweep(claude_binary, study, MINDS["literal"], "undocumented", BARE)
    for words in ("IC50 rows as CSV.", "A ChEMBL id; all without.", "Look at the units.", "mcp__okn__about"):
        assert words in json.dumps(told)
        assert words not in json.dumps(untold)
    assert [attempt.outcome for attempt in bare.attempts] == ["answered", "answered"]
    assert [attempt.warnings for attempt in bare.attempts] == [(), ()]
    record = json.loads((study.folder / "undocumented" / "conditions" / f"{bare.condition}.json").read_text())
    assert record["aggregate"]["manipulation"]["passed"] is True
    ledgers = [swept.attempts[0].ledger or {} for swept in (full, bare)]
    assert ledgers[1]["definition_chars"] < ledgers[0]["definition_chars"]
    assert (ledgers[0]["tools_offered"], ledgers[1]["tools_offered"]) == (3, 2)
