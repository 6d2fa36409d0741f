"""How much a result is and which one it was. Pure."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

_SLICE: Final = 1 << 20


def measure(result: Mapping[str, Any]) -> tuple[int, str]:
    """Characters of text an agent is given, and a digest of the whole result.

    The digest covers each content block in order (a text block's text, any other block's canonical JSON, each closed
    by a zero byte) and then structured content where there is some. Big texts are hashed in slices, not copied.
    """
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
