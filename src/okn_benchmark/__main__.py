"""The door of the ``okn-benchmark`` script and of ``python -m okn_benchmark``.

``okn-benchmark proxy`` is started once per episode and its start is part of every measurement, so it replaces this
process before Typer, or anything else, is imported.
"""

import os
import sys


def main() -> None:
    """Hand over to the proxy, or run the command line."""
    if sys.argv[1:2] == ["proxy"]:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "okn_benchmark.proxy", *sys.argv[2:]])  # noqa: S606
    from okn_benchmark.cli.app import build
    from okn_benchmark.cli.console import speak_any_encoding

    speak_any_encoding()
    build()()


if __name__ == "__main__":
    main()
