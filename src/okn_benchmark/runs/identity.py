"""What makes two runs the same condition, computed the same way from a plan and from a file."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Final

from okn_benchmark.errors import InputError, Refusal
from okn_benchmark.jsonio import Fields, JsonObject, digest

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The settings two attempts must share to stand in one condition. Fields in the order they are compared."""

    level: str
    kg_hint: str
    server: str | None
    """None for the control, which has none."""
    model: str
    effort: str | None
    """None: the agent program's own default."""
    tier: str | None
    """None: every tier of the corpus."""
    repeat: int
    host: str
    excluded: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    strict_upstream_errors: bool = False
    arm: str | None = None
    """Digest of the arm file's content."""
    result_limit: int | None = None
    tool_search: bool | None = None
    protocol_negotiation: str | None = None
    agent_timeout_s: float | None = None
    max_turns: int | None = None
    call_timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Settle what has no order: ids and tools are sets."""
        object.__setattr__(self, "excluded", tuple(sorted(set(self.excluded))))
        object.__setattr__(self, "withheld", tuple(sorted(set(self.withheld))))

    def to_json(self) -> JsonObject:
        """Fields in order, lists for tuples."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values}

    def digest(self) -> str:
        """``identity/<version>:`` and a SHA-256.

        A field at its default leaves no trace, so that a field added later moves no digest on disk.
        """
        plain = self.to_json()
        optional = {f.name: f.default for f in fields(self)}
        kept = {name: value for name, value in plain.items() if not _is_default(value, optional[name])}
        return f"identity/{VERSION}:{digest(kept)}"


def _is_default(value: Any, default: Any) -> bool:
    return bool(value == (list(default) if isinstance(default, tuple) else default))


def read_identity(value: JsonObject, source: str, excluded: Iterable[str] | None = None) -> Identity:
    """An identity from its JSON. ``excluded``, where given, replaces what is written there.

    Raises:
        InputError: a field is missing or of the wrong kind.
    """
    got = Fields(value, f"{source}: identity")
    return Identity(
        level=got.text("level"),
        kg_hint=got.text("kg_hint"),
        server=got.opt_text("server"),
        model=got.text("model"),
        effort=got.opt_text("effort"),
        tier=got.opt_text("tier"),
        repeat=got.whole("repeat"),
        host=got.opt_text("host") or "claude",
        excluded=got.texts("excluded") if excluded is None else tuple(excluded),
        withheld=got.texts("withheld"),
        strict_upstream_errors=got.flag("strict_upstream_errors", default=False),
        arm=got.opt_text("arm"),
        result_limit=got.opt_whole("result_limit"),
        tool_search=got.opt_flag("tool_search"),
        protocol_negotiation=got.opt_text("protocol_negotiation"),
        agent_timeout_s=got.opt_number("agent_timeout_s"),
        max_turns=got.opt_whole("max_turns"),
        call_timeout_s=got.opt_number("call_timeout_s"),
    )


def identity_of_meta(meta: JsonObject, source: str) -> Identity:
    """The identity a condition record states. Exclusions are read from ``meta.excluded``, which people edit by hand.

    Raises:
        InputError: there is no identity, or it cannot be read.
    """
    identity = meta.get("identity")
    if not isinstance(identity, dict):
        raise InputError(f"{source}: meta.identity is missing.")
    return read_identity(identity, source, excluded_ids(meta, source))


def excluded_ids(meta: JsonObject, source: str) -> tuple[str, ...]:
    """The ids of ``meta.excluded``: a list of objects with an ``id`` and a ``reason``, or of plain ids.

    Raises:
        InputError: an entry has no id.
    """
    ids = []
    for index, entry in enumerate(Fields(meta, f"{source}: meta").items("excluded")):
        found = entry.get("id") if isinstance(entry, dict) else entry
        if not isinstance(found, str):
            raise InputError(
                f"{source}: meta.excluded[{index}] has no id.",
                hint='Write each as {"id": "<record>", "reason": "<why>"}.',
            )
        ids.append(found)
    return tuple(sorted(set(ids)))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The first field two identities differ in."""

    field: str
    recorded: Any
    asked: Any

    def __str__(self) -> str:
        return f"{self.field}: {self._shown(self.recorded)} -> {self._shown(self.asked)}"

    def _shown(self, value: Any) -> str:
        if value is None:
            return repr("default") if self.field == "effort" else "none"
        return "[" + ", ".join(map(repr, value)) + "]" if isinstance(value, tuple) else repr(value)


def first_disagreement(recorded: Identity, asked: Identity) -> Disagreement | None:
    """In field order, so that the same two runs always name the same field."""
    for f in fields(Identity):
        then, now = getattr(recorded, f.name), getattr(asked, f.name)
        if then != now:
            return Disagreement(f.name, then, now)
    return None


def clash(condition: str, found: Disagreement) -> Refusal:
    """The refusal of a run whose condition folder holds another run."""
    return Refusal(
        f"{condition!r} already holds a run with different settings:\n  {found}",
        hint="Give this run its own folder with --label NAME, or set the recorded one aside with --force.",
    )


def same_again(condition: str, attempts: int) -> Refusal:
    """The refusal of a run that is recorded already, with the same settings."""
    return Refusal(
        f"{condition!r} already holds this run: {attempts} recorded {'attempt' if attempts == 1 else 'attempts'} "
        "with the same settings.",
        hint="Use --resume to keep what was measured and run what is missing, --force to run all of it anew, or "
        "--label NAME for a second copy beside it.",
    )


def guard_tier(recorded: Iterable[tuple[str, Identity]], asked: Identity) -> None:
    """Hold a root to one tier: nothing in it may be compared across tiers.

    Raises:
        Refusal: a recorded condition has another tier.
    """
    for condition, identity in recorded:
        if identity.tier != asked.tier:
            found = Disagreement("tier", identity.tier, asked.tier)
            raise Refusal(
                f"{condition!r} in this root was run over another tier:\n  {found}",
                hint="Keep one root per tier: choose another --out.",
            )
