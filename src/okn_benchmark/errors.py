"""What can go wrong on purpose: one root, three branches, each with its exit code.

    OknBenchmarkError
    ├── InputError       2   what was given cannot be used
    ├── Refusal          3   it could be done and will not be
    └── OutsideFailure   4   an endpoint, a server, a host or a login failed

A message is one sentence that names the thing; ``hint`` is the way out, usually the command to type next. Any
other exception is a bug and keeps its traceback. What happens inside an episode or a tool call is data, not an error.
"""

from typing import ClassVar


class OknBenchmarkError(Exception):
    """A failure this program explains in a sentence instead of a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def sentence(self) -> str:
        """The message with its full stop: messages that quote others often end in their words.

        A message of several lines ends in a detail, such as a pair of values, and stays as it is.
        """
        ended = "\n" in self.message or self.message.endswith((".", "!", "?", "…"))
        return self.message if ended else f"{self.message}."

    @property
    def whole(self) -> str:
        """Message and way out on one line."""
        return f"{self.sentence} {self.hint}" if self.hint else self.sentence


class InputError(OknBenchmarkError):
    """Usage, corpus, profile, or a file that is malformed or written by a newer version."""

    exit_code = 2


class Refusal(OknBenchmarkError):
    """A frozen root, an identity clash, a held lock, missing or differing ground truth."""

    exit_code = 3


class OutsideFailure(OknBenchmarkError):
    """Something we depend on did not answer, or answered with a failure."""

    exit_code = 4
