"""JSONPath over values: where a path leads, as steps. The one module that knows the library."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

from okn_benchmark.errors import InputError

Steps: TypeAlias = tuple[str | int, ...]


@cache
def _parsed(path: str) -> Any:
    from jsonpath_ng.parser import JsonPathParser  # with the first path: an arm without one does not wait for a grammar

    return JsonPathParser().parse(path)


def check_path(path: str, at: str) -> None:
    """Raises InputError for what is no JSONPath."""
    try:
        _parsed(path)
    except Exception as error:  # the library raises a bare one for a syntax error
        raise InputError(
            f"{at}: {path!r} is no JSONPath: {error}.", hint="For example $.results.bindings[*].name"
        ) from error


def matches(value: Any, path: str) -> list[Steps]:
    """The steps to everything ``path`` matches in ``value``, in document order; the root is the empty tuple."""
    return [_steps(found.full_path) for found in _parsed(path).find(value)]


def _steps(path: Any) -> Steps:
    from jsonpath_ng import Child, Fields, Index, Root, This

    match path:
        case Child(left=left, right=right):
            return (*_steps(left), *_steps(right))
        case Fields(fields=names):
            return tuple(str(name) for name in names)
        case Index():
            return tuple(int(number) for number in _indices(path))
        case Root() | This():
            return ()
    raise InputError(f"A JSONPath led to {path}, which names no place.")


def _indices(path: Any) -> Sequence[int]:
    # Renamed in the library's version 1.7.
    found = getattr(path, "indices", None)
    return [path.index] if found is None else list(found)
