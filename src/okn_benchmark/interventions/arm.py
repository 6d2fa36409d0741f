"""An arm: declared changes to what a server says, as values. Its digest is part of a condition's identity."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, Literal, TypeAlias

from okn_benchmark.jsonio import JsonObject, digest

VERSION: Final = 1
EVERY_TOOL: Final = "*"

Documentation: TypeAlias = Literal["full", "descriptions", "names"]
Instructions: TypeAlias = Literal["forward", "strip", "file"]
Form: TypeAlias = Literal["auto", "json", "csv", "tsv", "markdown"]
Expect: TypeAlias = Literal["present", "every-call", "optional"]
Derivation: TypeAlias = Literal["kind", "unit", "constant", "copy"]
FaultKind: TypeAlias = Literal["error", "soft"]

DOCUMENTATION: Final[tuple[Documentation, ...]] = ("full", "descriptions", "names")
INSTRUCTIONS: Final[tuple[Instructions, ...]] = ("forward", "strip", "file")
FORMS: Final[tuple[Form, ...]] = ("auto", "json", "csv", "tsv", "markdown")
EXPECT: Final[tuple[Expect, ...]] = ("present", "every-call", "optional")
DERIVATIONS: Final[tuple[Derivation, ...]] = ("kind", "unit", "constant", "copy")
FAULT_KINDS: Final[tuple[FaultKind, ...]] = ("error", "soft")

DEFAULT_MARKER: Final = "\n[cut: the first {shown} of {total} characters are shown]"
DEFAULT_FAULT: Final = "Error: the service is temporarily unavailable."


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedColumn:
    """A column made from what the table holds already: ``rule`` of the column ``of``, or a constant ``value``."""

    name: str
    rule: Derivation
    of: str | None = None
    value: str | None = None
    after: str | None = None
    """The column it stands behind; None: last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRule:
    """What is done to the results of one tool. Done in this order: fields, add, keep or drop, rename, rows.

    ``expect`` says which calls the manipulation check holds to it: those whose result has the columns (or fields, or
    too many rows), or every successful call of the tool. A rule that never met a result counts as unchecked, unless it
    is optional.
    """

    tool: str
    form: Form = "auto"
    at: str | None = None
    """JSONPath of the table; None: the payload itself, or the members of its root."""
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    add: tuple[AddedColumn, ...] = ()
    fields: tuple[str, ...] = ()
    """JSONPaths; of a JSON payload only what they match is left."""
    rows: int | None = None
    expect: Expect = "present"

    def covers(self, tool: str) -> bool:
        """Whether results of ``tool`` are concerned."""
        return self.tool in (EVERY_TOOL, tool)

    @property
    def name(self) -> str:
        """Short, for logs: what it does."""
        did = [*(["fields"] if self.fields else []), *(f"add {a.name}" for a in self.add)]
        did += [f"keep {'+'.join(self.keep)}"] if self.keep else []
        did += [f"drop {'+'.join(self.drop)}"] if self.drop else []
        did += [f"rename {old}={new}" for old, new in self.rename.items()]
        return ", ".join([*did, *([f"rows {self.rows}"] if self.rows is not None else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLimit:
    """The most characters of text one result may have; ``marker`` states what was cut."""

    characters: int
    marker: str = DEFAULT_MARKER


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds by which a share ``rate`` of the answers is held back, between ``low_s`` and ``high_s``."""

    rate: float
    low_s: float
    high_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """A share ``rate`` of the calls fails before the server sees it: openly, or in words inside a success."""

    rate: float
    kind: FaultKind = "error"
    text: str = DEFAULT_FAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm of a study. At its defaults an arm does nothing."""

    name: str
    about: str = ""
    without_tools: tuple[str, ...] = ()
    documentation: Documentation = "full"
    instructions: Instructions = "forward"
    instructions_text: str | None = None
    """What replaces the server's instructions where ``instructions`` is ``file``."""
    output: OutputLimit | None = None
    results: tuple[ResultRule, ...] = ()
    latency: Latency | None = None
    faults: Faults | None = None
    seed: int = 0

    def rules_for(self, tool: str) -> tuple[ResultRule, ...]:
        """The result rules of one tool, in file order."""
        return tuple(rule for rule in self.results if rule.covers(tool))

    @property
    def shapes_results(self) -> bool:
        """Whether a call can come out other than the server answered it, so that a check of the calls is owed."""
        return bool(self.results) or self.output is not None

    def to_json(self) -> JsonObject:
        """All of it, with the defaults left out."""
        return {"version": VERSION, **_plain(self)}

    def digest(self) -> str:
        """Of the content, whatever the file is called or how it is laid out; prose about it does not count."""
        return digest({key: value for key, value in self.to_json().items() if key != "about"})


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        known = {f.name: getattr(value, f.name) for f in fields(value)}
        return {name: _plain(item) for name, item in known.items() if item not in (None, (), {}, "")}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value
