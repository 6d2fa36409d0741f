"""An arm as the policy asks for it, and the payloads that a manipulation check may want to see. Loaded with an arm."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from okn_benchmark.errors import OutsideFailure
from okn_benchmark.files import replace_whole
from okn_benchmark.interventions import treating
from okn_benchmark.interventions.arm import Arm
from okn_benchmark.jsonrpc import Message, encode

PAYLOADS: Final = "payloads"
"""The folder of an attempt in which both sides of each changed result are kept, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Treatment:
    """The ``Arm`` of a policy: declared in a file, done by pure functions."""

    arm: Arm

    def instructions(self, text: str | None) -> tuple[str | None, tuple[str, ...]]:
        """Forwarded, stripped or replaced."""
        return treating.instructions(self.arm, text)

    def definition(self, tool: Message) -> tuple[Message, tuple[str, ...]]:
        """With the documentation the arm leaves."""
        return treating.definition(self.arm, tool)

    def result(self, tool: str, result: Message) -> tuple[Message, tuple[str, ...], tuple[Message, ...]]:
        """As shaped by the arm, with a record of each step for the manipulation check."""
        done = treating.result(self.arm, tool, result)
        return dict(done.result), done.applied, tuple(step.to_json() for step in done.steps)


@dataclass(frozen=True, slots=True)
class Payloads:
    """Keeps results before and after, as JSON lines with secrets masked. A disk that refuses stops nothing."""

    folder: Path
    redact: Callable[[str], str]

    def keep(self, seq: int | None, before: Message, after: Message) -> None:
        """Two files for one call; ``seq`` is its number in the call log."""
        for side, result in (("before", before), ("after", after)):
            self._put(self.folder / PAYLOADS / f"{seq}-{side}.json", result)

    def _put(self, path: Path, result: dict[str, Any]) -> None:
        text = encode(result).decode("utf-8")
        try:
            replace_whole(path, self.redact(text))
        except OutsideFailure:
            return
