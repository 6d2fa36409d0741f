"""What a recording was good for in one attempt: misses, replies of another server, replies that differ. Pure."""

from collections.abc import Iterator, Mapping

from okn_benchmark.runs.shapes import Calls


def tape_notes(calls: Calls | None) -> Iterator[str]:
    """A sentence for everything about a recording that bears on the numbers; nothing where all of it was hits."""
    extra: Mapping[str, object] = {} if calls is None else calls.extra
    settings, traffic = extra.get("settings"), extra.get("traffic")
    if not isinstance(settings, Mapping) or not isinstance(traffic, Mapping) or settings.get("tape") is None:
        return
    for name, words in (
        ("misses", "had no recorded reply and got an error" if settings["tape"] == "replay" else None),
        ("stale", "met a recorded reply of another version of the server"),
        ("unsteady", "got a reply that differed from the one recorded before"),
        ("refused", "could not be recorded"),
    ):
        count = traffic.get(f"tape {name}")
        if words and isinstance(count, int) and count:
            yield f"{count} {'request' if count == 1 else 'requests'} {words}"
