"""What a scripted model says: plain data, written by hand as JSON or TOML.

A file holds ``turns`` (used for every question) and, before them, ``cases`` for questions whose text contains
``when``; a bare JSON list is short for ``turns``::

    model = "claude-opus-5"            # optional: the id its answers are signed with; else the one asked for

    [[cases]]
    when = "diabetes"                  # the first case whose text is in the prompt
    turns = [ … ]

    [[turns]]
    blocks = [
      {type = "text", text = "Looking for tools."},
      {type = "tool_use", name = "ToolSearch", input = {query = "okn", max_results = 20}},
    ]

    [[turns]]
    status = 529                       # an HTTP error instead of an answer
    error = {type = "overloaded_error", message = "Overloaded"}
    times = 2                          # then the next turn; without it every request from here on

A turn is a list of content blocks, or an object with

- ``blocks``, and optionally ``stop_reason`` (else ``tool_use`` or ``end_turn``, by the blocks), ``usage`` (merged over
  100 input and 20 output tokens), ``times`` (say it so often, default 1);
- or ``status`` and ``error``: an HTTP failure; or ``hang = true``: the request is never answered.

``stop_reason = "refusal"`` holds, like a failure, for every request from there on. After the last turn the model says
one closing sentence. Strings may use earlier tool results: ``{{result}}`` or ``{{result -2}}`` is the text of one
(Python's counting), ``{{csv}}`` the same read as SPARQL JSON results and written as the CSV an agent would submit,
``{{json -1 results.bindings.0}}`` a value along a dotted path, ``{{prompt}}`` the question.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from okn_benchmark.errors import InputError
from okn_benchmark.jsonio import JsonObject, digest
from okn_benchmark.sparql.results import csv_text, read_results

_TEMPLATE: Final = re.compile(r"\{\{\s*(prompt|result|csv|json)((?:\s+[^\s{}]+)*)\s*\}\}")
_TURN_KEYS: Final = frozenset({"blocks", "stop_reason", "usage", "times", "status", "error", "hang"})
_BLOCK_TYPES: Final = frozenset({"text", "tool_use", "thinking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One scripted reply: blocks, an HTTP failure, or silence. ``times`` None: for ever."""

    blocks: tuple[JsonObject, ...] = ()
    stop_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    times: int | None = 1
    status: int | None = None
    error: JsonObject = field(default_factory=dict)
    hang: bool = False

    @property
    def advances(self) -> bool:
        """Whether the conversation is one answer longer after it."""
        return self.status is None and not self.hang and self.stop_reason != "refusal"


CLOSING: Final = Turn(blocks=({"type": "text", "text": "That is all."},))


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """``cases`` are (text to look for in the prompt, its turns), tried in order before ``turns``."""

    turns: tuple[Turn, ...]
    cases: tuple[tuple[str, tuple[Turn, ...]], ...] = ()
    model: str | None = None
    digest: str = ""

    def turns_for(self, prompt: str) -> tuple[Turn, ...]:
        """The turns that answer this question."""
        return next((turns for when, turns in self.cases if when in prompt), self.turns)


def read_script(path: Path) -> Script:
    """The script in a ``.toml`` or ``.json`` file.

    Raises:
        InputError: it cannot be read or is not a script; the message says where.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise InputError(f"The model script {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"The model script {path} is neither JSON nor TOML: {error}.") from error
    return parse_script(data, str(path))


def parse_script(data: Any, source: str = "the model script") -> Script:
    """A script from plain data.

    Raises:
        InputError: an unknown key or a value of the wrong kind.
    """
    whole = {"turns": data} if isinstance(data, list) else data
    _known(whole, {"turns", "cases", "model"}, source)
    cases = []
    for number, case in enumerate(_listed(whole.get("cases", []), f"{source}: cases")):
        at = f"{source}: cases[{number}]"
        _known(case, {"when", "turns"}, at)
        if not isinstance(case.get("when"), str):
            raise InputError(f"{at}: when must be a text to look for in the prompt.")
        cases.append((case["when"], _turns(case.get("turns"), at)))
    model = whole.get("model")
    if model is not None and not isinstance(model, str):
        raise InputError(f"{source}: model must be a text.")
    turns = _turns(whole.get("turns", []), source)
    return Script(turns=turns, cases=tuple(cases), model=model, digest=digest(whole))


def _turns(value: Any, at: str) -> tuple[Turn, ...]:
    return tuple(_turn(item, f"{at}: turns[{n}]") for n, item in enumerate(_listed(value, f"{at}: turns")))


def _turn(value: Any, at: str) -> Turn:
    whole: JsonObject = {"blocks": value} if isinstance(value, list) else value
    _known(whole, _TURN_KEYS, at)
    status, hang, stop_reason = whole.get("status"), whole.get("hang", False), whole.get("stop_reason")
    if status is not None and (not isinstance(status, int) or not 400 <= status <= 599):
        raise InputError(f"{at}: status must be an HTTP failure, 400 to 599.")
    sticky = status is not None or hang or stop_reason == "refusal"
    times = whole.get("times", None if sticky else 1)
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise InputError(f"{at}: times must be a whole number above zero.")
    return Turn(
        blocks=tuple(_block(b, f"{at}: blocks[{n}]") for n, b in enumerate(_listed(whole.get("blocks", []), at))),
        stop_reason=stop_reason,
        usage=whole.get("usage", {}),
        times=times,
        status=status,
        error=whole.get("error", {}),
        hang=bool(hang),
    )


def _block(value: Any, at: str) -> JsonObject:
    if not isinstance(value, dict) or value.get("type") not in _BLOCK_TYPES:
        raise InputError(f"{at} is no content block.", hint=f"Its type is one of {', '.join(sorted(_BLOCK_TYPES))}.")
    if value["type"] == "tool_use" and not (isinstance(value.get("name"), str) and "input" in value):
        raise InputError(f"{at}: a tool_use block needs name and input.")
    return value


def _listed(value: Any, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{at} is not a list.")
    return value


def _known(value: Any, keys: frozenset[str] | set[str], at: str) -> None:
    if not isinstance(value, dict):
        raise InputError(f"{at} is not an object.")
    if unknown := sorted(set(value) - keys):
        raise InputError(f"{at}: unknown key {', '.join(unknown)}.", hint=f"Known here: {', '.join(sorted(keys))}.")


def choose(turns: Sequence[Turn], answered: int, served: dict[int, int]) -> tuple[int, Turn]:
    """The turn for a conversation that already holds ``answered`` answers; -1 and the closing one after the end.

    ``served`` counts, by position, how often a turn that does not lengthen the conversation was given; it is updated.
    """
    passed = 0
    for position, turn in enumerate(turns):
        if turn.advances:
            passed += turn.times or 1
            if answered < passed:
                return position, turn
        elif answered >= passed and (turn.times is None or served.get(position, 0) < turn.times):
            served[position] = served.get(position, 0) + 1
            return position, turn
    return -1, CLOSING


def fill(value: Any, prompt: str, results: Sequence[str]) -> Any:
    """``value`` with every template in its strings replaced. A template that cannot be filled says so in its place."""
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda m: _filled(m[1], m[2].split(), prompt, results), value)
    if isinstance(value, Mapping):
        return {key: fill(item, prompt, results) for key, item in value.items()}
    return [fill(item, prompt, results) for item in value] if isinstance(value, list | tuple) else value


def _filled(kind: str, words: list[str], prompt: str, results: Sequence[str]) -> str:
    if kind == "prompt":
        return prompt
    try:
        text = results[int(words[0]) if words else -1]
        if kind == "result":
            return text
        if kind == "csv":
            return csv_text(read_results(json.loads(text)))
        found = json.loads(text)
        for step in words[1].split(".") if len(words) > 1 else ():
            found = found[int(step)] if isinstance(found, list) else found[step]
    except (InputError, ValueError, LookupError, TypeError, RecursionError) as error:
        return f"[no {kind}: {error}]"
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
