"""JSON on disk: one way to write it, one reader for every shape, errors that carry the path to the fault."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from okn_benchmark.errors import InputError

JsonObject: TypeAlias = dict[str, Any]
T = TypeVar("T")


def pretty(value: Any) -> str:
    """The form every JSON file of ours has: two spaces, keys as given, non-ASCII kept, one final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def line(value: Any) -> str:
    """One compact line without its newline, for logs and wires."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical(value: Any) -> bytes:
    """The same bytes for the same value, whatever the order of its keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def parse_object(text: str | bytes, source: str) -> JsonObject:
    """The JSON object in ``text``; ``source`` names it in errors.

    Raises:
        InputError: not UTF-8, not JSON, or not an object.
    """
    try:
        value = json.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is not UTF-8 text (byte {error.start}).") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise InputError(f"{source} holds {_name(value)} where a JSON object is expected.")
    return value


def check_schema(value: Mapping[str, Any], kind: str, newest: int, source: str) -> int:
    """The version in ``"schema": "<kind>/<n>"``; 0 where the key is missing (files older than the key).

    Raises:
        InputError: another kind, or a version newer than ``newest``.
    """
    schema = value.get("schema")
    if schema is None:
        return 0
    found, _, number = str(schema).partition("/")
    if found != kind or not number.isascii() or not number.isdigit():
        raise InputError(f"{source} says schema {schema!r} where {kind}/{newest} is expected.")
    if int(number) > newest:
        raise InputError(
            f"{source} was written by a newer version of okn-benchmark ({schema}; this one reads {kind}/{newest}).",
            hint="Upgrade okn-benchmark, or read the folder with the version that wrote it.",
        )
    return int(number)


@dataclass(slots=True)
class Fields:
    """Read one JSON object field by field; what nobody asked for is left in ``rest()``.

    ``at`` is the path to this object (``calls.json: calls[3]``) and stands in every error.
    """

    value: Mapping[str, Any]
    at: str
    _seen: set[str] = field(default_factory=set)

    def _take(self, key: str, kind: type | tuple[type, ...], default: Any, *, required: bool) -> Any:
        self._seen.add(key)
        found = self.value.get(key)
        if found is None:
            if required:
                raise InputError(f"{self.at}: {key} is missing.")
            return default
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            wanted = " or ".join(_NAMES.get(k, k.__name__) for k in kinds)
            raise InputError(f"{self.at}: {key} is {_name(found)}, expected {wanted}.")
        return found

    def text(self, key: str) -> str:
        """A required string."""
        return str(self._take(key, str, None, required=True))

    def opt_text(self, key: str) -> str | None:
        """A string, or None where absent or null."""
        found: str | None = self._take(key, str, None, required=False)
        return found

    def whole(self, key: str, default: int | None = None) -> int:
        """An integer; required unless a default is given."""
        return int(self._take(key, int, default, required=default is None))

    def opt_whole(self, key: str) -> int | None:
        """An integer, or None."""
        found: int | None = self._take(key, int, None, required=False)
        return found

    def opt_number(self, key: str) -> float | None:
        """A number, or None."""
        found = self._take(key, (int, float), None, required=False)
        return None if found is None else float(found)

    def number(self, key: str) -> float:
        """A required number."""
        return float(self._take(key, (int, float), None, required=True))

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """A boolean; required unless a default is given."""
        return bool(self._take(key, bool, default, required=default is None))

    def opt_flag(self, key: str) -> bool | None:
        """A boolean, or None for unknown."""
        found: bool | None = self._take(key, bool, None, required=False)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty where absent."""
        found = self._take(key, list, [], required=False)
        for index, item in enumerate(found):
            if not isinstance(item, str):
                raise InputError(f"{self.at}: {key}[{index}] is {_name(item)}, expected a string.")
        return tuple(found)

    def opt_texts(self, key: str) -> tuple[str, ...] | None:
        """A list of strings, or None where absent: unknown is not the empty list."""
        found = self.texts(key)
        return None if self.value.get(key) is None else found

    def anything(self, key: str) -> Any:
        """Whatever JSON value stands there; None where absent."""
        self._seen.add(key)
        return self.value.get(key)

    def counts(self, key: str) -> dict[str, int]:
        """An object of whole numbers; empty where absent."""
        found = self._take(key, dict, {}, required=False)
        for name, item in found.items():
            if not isinstance(item, int) or isinstance(item, bool):
                raise InputError(f"{self.at}: {key}.{name} is {_name(item)}, expected a whole number.")
        return dict(found)

    def obj(self, key: str) -> JsonObject:
        """A free object; empty where absent."""
        return dict(self._take(key, dict, {}, required=False))

    def opt_obj(self, key: str) -> JsonObject | None:
        """A free object, or None."""
        found = self._take(key, dict, None, required=False)
        return None if found is None else dict(found)

    def opt_shape(self, key: str, read: Callable[["Fields"], T]) -> T | None:
        """A nested object read by its own shape, or None."""
        found = self._take(key, dict, None, required=False)
        return None if found is None else read(Fields(found, f"{self.at}: {key}"))

    def shapes(self, key: str, read: Callable[["Fields"], T]) -> tuple[T, ...]:
        """A list of objects, each read by its own shape; empty where absent."""
        found = self._take(key, list, [], required=False)
        read_items = []
        for index, item in enumerate(found):
            if not isinstance(item, dict):
                raise InputError(f"{self.at}: {key}[{index}] is {_name(item)}, expected an object.")
            read_items.append(read(Fields(item, f"{self.at}: {key}[{index}]")))
        return tuple(read_items)

    def items(self, key: str) -> list[Any]:
        """A free list; empty where absent."""
        return list(self._take(key, list, [], required=False))

    def rest(self) -> JsonObject:
        """Keys nobody read: kept, so that a rewrite by us does not lose what others added."""
        return {k: v for k, v in self.value.items() if k not in self._seen and k != "schema"}


_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _name(value: Any) -> str:
    return _NAMES.get(type(value), type(value).__name__)
