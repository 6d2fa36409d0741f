"""What the log keeps of a result in the result's stead: how much it was, which one, and what was odd about it. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

from okn_benchmark.proxy import words
from okn_benchmark.proxy.policy import Reply
from okn_benchmark.proxy.schema_check import mismatch

_SLICE: Final = 1 << 20
_EXCERPT: Final = 500


def facts_of(result: Mapping[str, Any], output_schema: Any = None) -> dict[str, Any]:
    """The entry for an answered call; ``output_schema`` is what its tool declared."""
    is_error = bool(result.get("isError"))
    chars, sha256 = measure(result)
    facts: dict[str, Any] = {
        "ok": not is_error,
        "error": words.of_result(result)[:_EXCERPT] if is_error else None,
        "response_chars": chars,
        "sha256": sha256,
    }
    if result.get("resultType", "complete") != "complete":
        facts["result_type"] = result["resultType"]
    if "structuredContent" in result and (found := mismatch(output_schema, result["structuredContent"])):
        facts["schema_mismatch"] = found
    return facts


def entry_of(result: Mapping[str, Any], reply: Reply, output_schema: Any = None) -> dict[str, Any]:
    """The same with what was done to the answer: size and digest are of what the agent was given."""
    facts = facts_of(result, output_schema)
    facts |= {"soft_error": reply.soft_error, "interventions": reply.interventions}
    if reply.steps:
        came = {"response_chars": facts["response_chars"], "sha256": facts["sha256"]}
        chars, sha256 = measure(reply.result)
        facts |= {"response_chars": chars, "sha256": sha256, "came": came, "steps": list(reply.steps)}
    return facts


def measure(result: Mapping[str, Any]) -> tuple[int, str]:
    """Characters of text an agent is given, and a digest of the whole result.

    The digest covers each content block in order (a text block's text, any other block's canonical JSON, each closed
    by a zero byte) and then structured content where there is some. Big texts are hashed in slices, not copied.
    """
    import hashlib  # with the first answer: the start waits for nothing it does not need

    chars, digest = 0, hashlib.sha256()
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, Mapping) and block.get("type") == "text" else None
        whole = text if isinstance(text, str) else _canonical(block)
        chars += len(whole)
        for start in range(0, len(whole), _SLICE):
            digest.update(whole[start : start + _SLICE].encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    if "structuredContent" in result:
        digest.update(_canonical(result["structuredContent"]).encode("utf-8", "surrogatepass"))
    return chars, digest.hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
