"""What is known about one conversation: who speaks which era, what was listed, what passed by. No input or output."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from okn_benchmark.jsonrpc import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    CONNECTION_CLOSED,
    SERVER_INFO_KEY,
    VERSION_KEY,
    Message,
    answer,
    envelope_of,
    failure,
    kind_of,
    params_of,
)
from okn_benchmark.proxy import words
from okn_benchmark.proxy.policy import Hello, Page

_KINDS: Final = 200
"""Method names come from strangers; past this many the rest are counted together."""


class Session:
    """Grows as messages pass."""

    def __init__(self) -> None:
        self.started = False
        """Whether the upstream has given a first result."""
        self.could_not_open: str | None = None
        self.upstream_has_tools = True
        self.schemas: dict[str, Any] = {}
        self._tools: list[Message] = []
        self._complete = False
        self._listed: set[str] = set()
        self._asked: dict[str, Message] = {}
        self._counts: Counter[str] = Counter()

    @property
    def asked(self) -> bool:
        """Whether the host has sent an opening request."""
        return bool(self._asked)

    def count(self, what: str) -> None:
        """Something without an entry of its own has happened."""
        if what not in self._counts and len(self._counts) >= _KINDS:
            what = "other"
        self._counts[what] += 1

    def count_host(self, message: Mapping[str, Any]) -> None:
        """A message of the host."""
        self.count(f"host {kind_of(message)} {str(message.get('method', ''))[:80]}".rstrip())

    def count_upstream(self, message: Mapping[str, Any]) -> None:
        """A message the upstream sent on its own."""
        self.count(f"server {kind_of(message)} {str(message.get('method', ''))[:80]}".rstrip())

    def opening(self, message: Message) -> None:
        """An opening request: who is calling."""
        params, envelope = params_of(message), envelope_of(message)
        source, keys = (params, ("protocolVersion", "clientInfo", "capabilities"))
        if envelope is not None:
            source, keys = envelope, (VERSION_KEY, CLIENT_INFO_KEY, CLIENT_CAPABILITIES_KEY)
        names = ("requested_version", "client", "client_capabilities")
        self._asked[message["method"]] = {name: source.get(key) for name, key in zip(names, keys, strict=True)}

    def spoke(self, message: Message) -> dict[str, Any]:
        """Facts of a first request that opens nothing, for the log."""
        self.opening(message)
        asked = self._asked[message["method"]]
        return {"method": message["method"], "era": "envelope", "protocol_version": asked["requested_version"], **asked}

    def opened(self, method: str, result: Mapping[str, Any], hello: Hello) -> dict[str, Any]:
        """Facts of a first result, for the log."""
        modern = method == "server/discover"
        capabilities = result.get("capabilities")
        self.upstream_has_tools = isinstance(capabilities, Mapping) and "tools" in capabilities
        instructions, given = result.get("instructions"), hello.result.get("instructions")
        meta = result.get("_meta")
        server = result.get("serverInfo") or (meta.get(SERVER_INFO_KEY) if isinstance(meta, Mapping) else None)
        asked = self._asked.get(method, {})
        return {
            "method": method,
            "era": "envelope" if modern else "handshake",
            "protocol_version": asked.get("requested_version") if modern else result.get("protocolVersion"),
            **asked,
            "server": server,
            "server_capabilities": capabilities,
            "instructions_chars": len(instructions) if isinstance(instructions, str) else 0,
            "instructions_given_chars": len(given) if isinstance(given, str) else 0,
            "interventions": hello.interventions,
        }

    def refused(self, method: str, message: Mapping[str, Any]) -> None:
        """An error in place of a result."""
        self.count(f"errors to {method[:80]}")
        error = message.get("error")
        if isinstance(error, Mapping) and not self.started:
            self.could_not_open = f"the server answered {method} with an error: {error.get('message')}"

    def listed(self, page: Page, *, first: bool, withheld: frozenset[str]) -> dict[str, Any]:
        """Facts of one page of tools, for the log; the page is remembered in case the upstream is lost."""
        if first:
            self._tools, self._listed, self._complete = [], set(), False
        shown = page.result["tools"]
        self._tools += shown[:-1] if page.last else shown
        self._listed |= set(page.names)
        self._complete = page.last
        self.schemas |= page.schemas
        facts = {
            "first": first,
            "last": page.last,
            "names": page.names,
            "shown": dict(page.shown),
            "withheld": page.withheld,
            "interventions": page.interventions,
        }
        missing = sorted(withheld - self._listed)
        return {**facts, "unknown_withheld": missing} if page.last and missing else facts

    def own_page(self, submit: Message, asked: Message) -> Message:
        """A tool list of ours alone, for an upstream that has no tools."""
        cache = {"ttlMs": 0, "cacheScope": "private"} if envelope_of(asked) is not None else {}
        return {"tools": [submit], **cache}

    def answer_alone(self, asked: Message, submit: Message, reason: str) -> Message:
        """What can still be said to a request without an upstream."""
        if asked["method"] == "ping":
            return answer(asked, {})
        if asked["method"] == "tools/list":
            return answer(asked, self.remembered_page(submit, asked))
        say = words.lost if self.started else words.no_server
        return failure(asked["id"], CONNECTION_CLOSED, say(reason))

    def remembered_page(self, submit: Message, asked: Message) -> Message:
        """The last complete list, so that a host which asks again after a loss sees no other condition."""
        page = self.own_page(submit, asked)
        return {**page, "tools": [*self._tools, submit]} if self._complete else page

    def traffic(self) -> dict[str, int]:
        """Everything that was counted."""
        return dict(sorted(self._counts.items()))
