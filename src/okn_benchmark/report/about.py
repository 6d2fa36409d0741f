"""What a condition is, read from its record: the axes of the study and where its numbers come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from okn_benchmark.jsonio import JsonObject, line
from okn_benchmark.runs.drift import DriftCheck, read_drift
from okn_benchmark.runs.shapes import ConditionRecord

ORACLE_HOST: Final = "oracle"
ORACLE_WORDS: Final = "oracle (no model; runs the answer key)"
NO_EFFORT: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A record that was kept out, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What the agent program was found to be given, before its first episode and with an episode's own flags."""

    digest: str | None
    clean: bool
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The settings of one condition. None: the record does not tell."""

    name: str
    level: str | None
    kg_hint: str | None
    server: str | None
    withheld: tuple[str, ...]
    model_requested: str | None
    model_resolved: tuple[str, ...]
    effort: str | None
    host: str | None
    host_versions: tuple[str, ...]
    tier: str | None
    repeat: int | None
    corpus: str | None
    corpus_commit: str | None
    corpus_dirty: bool | None
    endpoint: str | None
    engine: str | None
    server_version: str | None
    label: str | None
    arm: str | None
    """The digest of an intervention file, or None."""
    model_script: str | None
    """Digest of the script that answered in the model's place, or None."""
    audit: Audit | None
    """None: the agent program was not audited."""
    drift: DriftCheck | None
    """None: the keys were not asked again."""
    server_fault: str | None
    """What the server did instead of answering, before the first episode."""
    excluded: tuple[Excluded, ...]
    other: tuple[tuple[str, str], ...]
    """The rest of the identity as (field, value): two conditions are contrasted only where it agrees."""

    @property
    def is_control(self) -> bool:
        """Whether the agent had a bare query tool and no server."""
        return self.level == "sparql-only"

    @property
    def named(self) -> bool | None:
        """Whether the prompt named the graph."""
        return None if self.kg_hint is None else self.kg_hint != "none"

    @property
    def has_model(self) -> bool:
        """Whether a model answered: not the oracle, and no script in a model's place."""
        return self.host != ORACLE_HOST and self.model_script is None

    @property
    def failed_audit(self) -> bool:
        """Whether the agent program was found to be given what an episode should not have."""
        return self.audit is not None and not self.audit.clean

    @property
    def model(self) -> str:
        """The exact model id with the alias asked for beside it; an oracle or a script says what it is."""
        if self.host == ORACLE_HOST:
            return ORACLE_WORDS
        if self.model_script is not None:
            return f"{script_words(self.model_script)} as {self._signed}"
        return self._signed

    @property
    def _signed(self) -> str:
        """The id that answers were signed with; a script signs with one too."""
        exact = " + ".join(self.model_resolved)
        if not exact:
            return f"{self.model_requested} (asked for; never confirmed)" if self.model_requested else "–"
        alias = self.model_requested
        return exact if alias in (None, exact) else f"{exact} (asked for as {alias})"

    @property
    def effort_shown(self) -> str:
        """The effort asked for; an oracle is asked for none."""
        return "–" if self.host == ORACLE_HOST else self.effort or NO_EFFORT

    @property
    def scope(self) -> tuple[str | None, str | None]:
        """Corpus and tier: numbers are subtracted inside one scope only."""
        return (place(self.corpus), self.tier)

    @property
    def agent(self) -> tuple[str, ...]:
        """Who answered: two arms that differ in it differ in more than their tools."""
        exact = "+".join(self.model_resolved) or self.model_requested or ""
        return (self.host or "", exact, self.effort or NO_EFFORT, self.model_script or "")


_AXES: Final = frozenset(
    {"level", "kg_hint", "server", "withheld", "withheld_tools", "without_tool", "model", "effort", "tier", "repeat"}
    | {"host", "label", "excluded", "excluded_ids", "arm", "arm_digest", "corpus"}
)


def script_words(digest_: str) -> str:
    """``scripted (no model; script 0123456789ab)``."""
    return f"scripted (no model; script {digest_.removeprefix('sha256:')[:12]})"


def place(text: str | None) -> str | None:
    """A source or endpoint without the folders of the machine it stood on."""
    if text and "://" not in text and ("/" in text or "\\" in text):
        return text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return text


def about(record: ConditionRecord) -> About:
    """Read what ``meta`` tells; tolerant, since older and hand-edited records are read too."""
    meta = record.meta
    identity = _object(meta.get("identity")) or meta
    corpus = meta.get("corpus")
    source = _object(corpus) or {"source": corpus}
    server = _object(meta.get("server_info")) or _object(meta.get("upstream")) or {}
    return About(
        name=record.name,
        level=_text(identity, "level", "tools"),
        kg_hint=_text(identity, "kg_hint"),
        server=_text(identity, "server"),
        withheld=_texts(identity, "withheld", "withheld_tools", "without_tool"),
        model_requested=_text(identity, "model"),
        model_resolved=_texts(meta, "model_resolved", "models_resolved"),
        effort=_text(identity, "effort"),
        host=_text(identity, "host"),
        host_versions=_texts(meta, "host_versions", "host_version"),
        tier=_text(identity, "tier"),
        repeat=_whole(identity.get("repeat")),
        corpus=_text(source, "source", "path", "name"),
        corpus_commit=_text(source, "commit"),
        corpus_dirty=source.get("dirty") if isinstance(source.get("dirty"), bool) else None,
        endpoint=_text(meta, "endpoint"),
        engine=_text(meta, "engine"),
        server_version=_server_words(server),
        label=_text(identity, "label") or _text(meta, "label"),
        arm=_text(identity, "arm"),
        model_script=_text(meta, "model_script"),
        audit=_audit(meta.get("audit")),
        drift=read_drift(meta),
        server_fault=_text(meta, "server_fault"),
        excluded=_excluded(meta.get("excluded")),
        other=() if identity is meta else _other(identity),
    )


def _other(identity: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, line(value)) for key, value in identity.items() if key not in _AXES))


def _object(value: Any) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _text(source: Mapping[str, Any], *keys: str) -> str | None:
    return next((source[key] for key in keys if isinstance(source.get(key), str) and source[key]), None)


def _texts(source: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    for key in keys:
        found = source.get(key)
        if isinstance(found, str) and found:
            return (found,)
        if isinstance(found, list | tuple):
            return tuple(str(item) for item in found if item)
    return ()


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _server_words(server: Mapping[str, Any]) -> str | None:
    parts = [_text(server, "name"), _text(server, "version"), _text(server, "build", "build_hash")]
    return " ".join(part for part in parts if part) or None


def _excluded(value: Any) -> tuple[Excluded, ...]:
    if not isinstance(value, list):
        return ()
    entries = [item if isinstance(item, dict) else {"id": item} for item in value]
    return tuple(Excluded(id=str(e.get("id", "?")), reason=str(e.get("reason") or "no reason given")) for e in entries)


def _audit(value: Any) -> Audit | None:
    """None also where it does not say whether it was clean: that is no audit."""
    if not isinstance(value, dict) or not isinstance(value.get("clean"), bool):
        return None
    found = value.get("findings")
    findings = tuple(str(item) for item in found) if isinstance(found, list) else ()
    return Audit(digest=_text(value, "digest"), clean=value["clean"], findings=findings)
