"""Does structured content fit the schema its tool declares? Noted, never enforced. Pure.

Only what can be decided without a validator: types, required members, constants, nested properties and items.
"""

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_DEEPEST: Final = 12
_ITEMS: Final = 200


def mismatch(schema: Any, value: Any, at: str = "$", depth: int = 0) -> str | None:
    """The first place where ``value`` does not fit ``schema``, as ``path: reason``; None where nothing was found."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    wanted = schema.get("type")
    if wanted is not None and not _fits(wanted, value):
        return f"{at}: {type(value).__name__} where the schema says {wanted}"
    options = schema.get("enum")
    if isinstance(options, list) and value not in options:
        return f"{at}: not one of the values the schema lists"
    if isinstance(value, dict):
        return _members(schema, value, at, depth)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        checks = (mismatch(schema["items"], item, f"{at}[{i}]", depth + 1) for i, item in enumerate(value[:_ITEMS]))
        return next((found for found in checks if found), None)
    return None


def _members(schema: Mapping[str, Any], value: Mapping[str, Any], at: str, depth: int) -> str | None:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in value:
            return f"{at}: {name} is missing"
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        if name in value and (found := mismatch(inner, value[name], f"{at}.{name}", depth + 1)):
            return found
    return None


def _fits(wanted: Any, value: Any) -> bool:
    names = wanted if isinstance(wanted, list) else [wanted]
    return any(_is(name, value) for name in names)


def _is(name: Any, value: Any) -> bool:
    kinds = _TYPES.get(name) if isinstance(name, str) else None
    if kinds is None:
        return True
    if isinstance(value, bool):
        return bool(name == "boolean")
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, kinds)
