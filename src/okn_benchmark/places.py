"""Where this program keeps things between runs: one user cache folder, replaceable per command."""

from pathlib import Path


def cache_home(override: Path | None = None) -> Path:
    """The cache folder; ``override`` is what ``--cache`` said. The folder need not exist yet."""
    if override is not None:
        return override
    from platformdirs import user_cache_path

    return user_cache_path("okn-benchmark", appauthor=False)
