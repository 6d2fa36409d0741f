"""An arm on whole messages: instructions, definitions, results. Pure; what is not named comes out as it went in."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from okn_benchmark.interventions.arm import Arm, Documentation, OutputLimit, ResultRule
from okn_benchmark.interventions.shaping import shaped
from okn_benchmark.interventions.witness import seen
from okn_benchmark.jsonio import JsonObject

_PROSE: Final = frozenset({"description", "title", "$comment", "examples"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS: Final = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rule on one result, as the manipulation check wants it: digests before and after, never the payload.

    ``due``: the second reading found work for the rule; ``left``: it still does afterwards; ``kept``: everything the
    rule does not name is the same.
    """

    rule: str
    due: bool
    left: bool
    kept: bool
    before: str
    after: str

    def to_json(self) -> JsonObject:
        """As the call log holds it."""
        names = ("rule", "due", "left", "kept", "before", "after")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Treated:
    """A result as passed on, and what happened on the way."""

    result: Mapping[str, Any]
    steps: tuple[Step, ...] = ()

    @property
    def applied(self) -> tuple[str, ...]:
        """Rules that changed something."""
        return tuple(step.rule for step in self.steps if step.before != step.after)


def instructions(arm: Arm, text: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The server's instructions as the agent reads them; a server without any is given none, unless by a file."""
    match arm.instructions:
        case "strip":
            return None, ("instructions strip",)
        case "file":
            return arm.instructions_text, ("instructions file",)
        case _:
            return text, ()


def definition(arm: Arm, tool: Mapping[str, Any]) -> tuple[JsonObject, tuple[str, ...]]:
    """One tool definition as the agent reads it.

    A tool whose results are changed loses its output schema: it no longer describes them, and a column that was taken
    out of the rows would still be told of there.
    """
    made, applied = dict(tool), []
    if arm.documentation != "full":
        made = _documented(made, arm.documentation)
        applied.append(f"documentation {arm.documentation}")
    if "outputSchema" in made and (arm.output is not None or arm.rules_for(str(tool.get("name")))):
        del made["outputSchema"]
        applied.append("output schema taken out")
    return made, tuple(applied) if made != tool else ()


def _documented(tool: JsonObject, level: Documentation) -> JsonObject:
    made = {key: _schema(item) if key in ("inputSchema", "outputSchema") else item for key, item in tool.items()}
    if level == "names":
        made = {key: item for key, item in made.items() if key not in ("description", "title")}
        if isinstance(hints := made.get("annotations"), Mapping):
            made["annotations"] = {key: item for key, item in hints.items() if key != "title"}
    return made


def _schema(schema: Any) -> Any:
    """Without prose. Names of properties are names, even where one is called description."""
    if not isinstance(schema, Mapping):
        return schema
    out: JsonObject = {}
    for key, item in schema.items():
        if key in _MAPS and isinstance(item, Mapping):
            out[key] = {name: _schema(inner) for name, inner in item.items()}
        elif key in _LISTS and isinstance(item, list):
            out[key] = [_schema(inner) for inner in item]
        elif key in _SCHEMAS:
            out[key] = _schema(item)
        elif key not in _PROSE:
            out[key] = item
    return out


def result(arm: Arm, tool: str, came: Mapping[str, Any]) -> Treated:
    """One answer to ``tools/call``. Failures, and results that are not complete, pass as they are."""
    whole = came.get("isError") is not True and came.get("resultType", "complete") == "complete"
    steps = []
    for rule in arm.rules_for(tool):
        given, came = came, _ruled(came, rule) if whole else came
        steps.append(_step(rule, given, came, whole=whole))
    if arm.output is not None:
        given, came = came, _limited(came, arm.output) if whole else came
        steps.append(_limit_step(arm.output, given, came, whole=whole))
    return Treated(result=came, steps=tuple(steps))


def _ruled(came: Mapping[str, Any], rule: ResultRule) -> Mapping[str, Any]:
    made = dict(came)
    content = came.get("content")
    if isinstance(content, list):
        made["content"] = [_block(block, rule) for block in content]
    structured = came.get("structuredContent")
    if isinstance(structured, dict | list):
        changed = shaped(json.dumps(structured, ensure_ascii=False), rule)
        if changed is not None:
            made["structuredContent"] = json.loads(changed)
    return made


def _block(block: Any, rule: ResultRule) -> Any:
    text = _text_of(block)
    changed = None if text is None else shaped(text, rule)
    return block if changed is None else {**block, "text": changed}


def _text_of(block: Any) -> str | None:
    if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    return None


def _payloads(came: Mapping[str, Any]) -> Iterator[Any]:
    content = came.get("content")
    for block in content if isinstance(content, list) else ():
        text = _text_of(block)
        yield block if text is None else text
    if "structuredContent" in came:
        yield came["structuredContent"]


def _step(rule: ResultRule, before: Mapping[str, Any], after: Mapping[str, Any], *, whole: bool) -> Step:
    first = [seen(payload, rule) for payload in _payloads(before)]
    then = list(_payloads(after))
    # Read as the payload before it was read: what is left of a table may no longer look like one.
    again = [seen(payload, rule, was.marks).rest for payload, was in zip(then, first, strict=False)]
    same = len(then) == len(first) and fingerprint([was.rest for was in first]) == fingerprint(again)
    return Step(
        rule=rule.name,
        due=whole and (rule.expect == "every-call" or any(was.due for was in first)),
        left=whole and any(seen(payload, rule).due for payload in then),
        kept=same and _same_rest(before, after),
        before=_digest(before),
        after=_digest(after),
    )


def _same_rest(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    payload = ("content", "structuredContent")
    rests = [{key: item for key, item in came.items() if key not in payload} for came in (before, after)]
    return rests[0] == rests[1]


def _limited(came: Mapping[str, Any], limit: OutputLimit) -> Mapping[str, Any]:
    """Text blocks cut so that all of it, marker included, stays inside; structured content would tell the rest."""
    content = came.get("content")
    blocks = content if isinstance(content, list) else []
    total = _chars(came)
    if total <= limit.characters:
        return came
    # Shown and total have at most as many digits as total.
    longest = limit.marker.replace("{shown}", str(total)).replace("{total}", str(total))
    room = shown = max(0, limit.characters - len(longest))
    out, cut = [], False
    for block in blocks:
        text = _text_of(block)
        if text is None:
            out.append(block)
        elif not cut:
            cut = len(text) > room
            stated = limit.marker.replace("{shown}", str(shown)).replace("{total}", str(total)) if cut else ""
            out.append({**block, "text": text[:room] + stated})
            room -= min(room, len(text))
    return {key: out if key == "content" else item for key, item in came.items() if key != "structuredContent"}


def _chars(came: Mapping[str, Any]) -> int:
    content = came.get("content")
    return sum(len(_text_of(block) or "") for block in (content if isinstance(content, list) else ()))


def _limit_step(limit: OutputLimit, before: Mapping[str, Any], after: Mapping[str, Any], *, whole: bool) -> Step:
    texts = ["".join(_text_of(b) or "" for b in came.get("content") or ()) for came in (before, after)]
    due = whole and len(texts[0]) > limit.characters
    stem = limit.marker.partition("{")[0].strip()
    at = texts[1].rfind(stem)
    return Step(
        rule=f"output {limit.characters}",
        due=due,
        left=whole and len(texts[1]) > limit.characters,
        kept=texts[0].startswith(texts[1][:at].rstrip()) and at >= 0 if due else texts[0] == texts[1],
        before=_digest(before),
        after=_digest(after),
    )


def _digest(came: Mapping[str, Any]) -> str:
    return fingerprint([came.get("content"), came.get("structuredContent")])


def fingerprint(value: Any) -> str:
    """SHA-256 of any JSON value; escaped, since a stranger's text may hold half a character."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
