"""The SPARQL protocol over HTTP, and the one door to every kind of endpoint.

Failures are retried only where trying again can help: no connection, 429, 502, 503, 504. A wait the server asks for
is honoured up to a bound. Engines report an error after the start of a result as HTTP 200 with a broken body, so a
body that is not JSON is a failed query, never an empty table.
"""

import email.utils
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from okn_benchmark import __version__
from okn_benchmark.errors import InputError
from okn_benchmark.sparql.embedded import EmbeddedEndpoint, rdf_files, sample_files
from okn_benchmark.sparql.result import (
    Endpoint,
    EndpointFailure,
    QueryRejected,
    QueryTimeout,
    Result,
    Unreachable,
    legible,
)
from okn_benchmark.sparql.results import read_results

if TYPE_CHECKING:
    import httpx2

FEDERATION_URL: Final = "https://apps.okn.us/federation/sparql"
"""The federation endpoint: every graph as a named graph."""
SAMPLE: Final = "sample"
DEFAULT_TIMEOUT_S: Final = 180.0

_LARGEST_BODY: Final = 256 * 1024 * 1024
_ATTEMPTS: Final = 4
_LONGEST_WAIT_S: Final = 60.0
_WORTH_RETRYING: Final = frozenset({429, 502, 503, 504})
_ACCEPT: Final = "application/sparql-results+json"


def open_endpoint(spec: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Endpoint:
    """The endpoint a user named: an http(s) URL, ``sample``, or a path to RDF (a file or a folder).

    Raises:
        InputError: it is none of these.
    """
    if not math.isfinite(timeout_s) or timeout_s <= 0:
        raise InputError(f"A time limit of {timeout_s:g} s lets no query finish.", hint="Give a positive number.")
    if spec.startswith(("http://", "https://")):
        return HttpEndpoint(spec, timeout_s=timeout_s)
    if spec == SAMPLE:
        files = sample_files()
        if not files:
            raise InputError("No sample graphs came with this installation.", hint="Reinstall okn-benchmark.")
        return EmbeddedEndpoint(files, SAMPLE, timeout_s=timeout_s)
    if "://" in spec:
        raise InputError(f"{spec} is not an endpoint.", hint="Give an http(s) URL, a path to RDF, or sample.")
    path = Path(spec).expanduser()
    return EmbeddedEndpoint(rdf_files(path), path.resolve().name, timeout_s=timeout_s)


class HttpEndpoint:
    """An ``Endpoint`` behind a URL. ``transport`` and ``pause`` are replaced in tests."""

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float,
        transport: "httpx2.BaseTransport | None" = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx2

        try:
            parsed = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise InputError(f"{legible(url)} is not a URL.") from error
        if not parsed.host or parsed.userinfo:
            reason = "names no host" if not parsed.host else "carries credentials, which would end up in records"
            raise InputError(f"The endpoint URL {reason}.", hint="Write https://host/path without user and password.")
        self.url = url
        self.timeout_s = timeout_s
        self.engine = "unknown"
        self._pause = pause
        limits = httpx2.Timeout(timeout_s, connect=min(timeout_s, 20.0))
        agent = {"User-Agent": f"okn-benchmark/{__version__}", "Accept": _ACCEPT}
        self._client = httpx2.Client(transport=transport, timeout=limits, headers=agent, follow_redirects=True)

    @property
    def name(self) -> str:
        """The URL as given, without a trailing slash."""
        return self.url.rstrip("/")

    def select(self, query: str) -> Result:
        """Ask, again where that can help, and read the table."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(query)
            except _Again as again:
                wait_s = again.wait_s if again.wait_s is not None else 2.0 ** (attempt - 1)
                if attempt == _ATTEMPTS or wait_s > _LONGEST_WAIT_S:
                    asked = f" and asks to wait {wait_s:.0f} s" if wait_s > _LONGEST_WAIT_S else ""
                    failure = EndpointFailure if again.answered else Unreachable
                    raise failure(
                        f"{self.url} {again.reason} (attempt {attempt} of {_ATTEMPTS}){asked}.",
                        hint="Check the URL and your connection, or try later.",
                    ) from again
                self._pause(wait_s)
        raise AssertionError("the loop ends by return or raise")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _once(self, query: str) -> Result:
        import httpx2

        started = time.monotonic()
        try:
            status, headers, body = self._post(query, started + self.timeout_s)
        except (httpx2.ReadTimeout, httpx2.WriteTimeout, TimeoutError) as error:
            raise QueryTimeout(
                f"{self.url} gave no complete answer within {self.timeout_s:g} s.", hint="Raise --timeout."
            ) from error
        except httpx2.TransportError as error:
            raise _Again(
                f"cannot be reached ({legible(str(error)) or type(error).__name__})", None, answered=False
            ) from error
        except httpx2.HTTPError as error:
            raise EndpointFailure(f"{self.url} answered in no usable way: {legible(str(error))}.") from error
        elapsed_s = time.monotonic() - started
        self._judge_status(status, headers, body)
        self.engine = legible(headers.get("server", ""), 80) or self.engine
        return self._read(headers, body, elapsed_s)

    def _post(self, query: str, deadline: float) -> tuple[int, "httpx2.Headers", bytes]:
        parts, size = [], 0
        with self._client.stream("POST", self.url, data={"query": query}) as response:
            for chunk in response.iter_bytes():
                parts.append(chunk)
                size += len(chunk)
                if size > _LARGEST_BODY:
                    raise EndpointFailure(f"{self.url} sent more than {_LARGEST_BODY:,} bytes.", hint="Add a LIMIT.")
                if time.monotonic() > deadline:
                    raise TimeoutError
            return response.status_code, response.headers, b"".join(parts)

    def _judge_status(self, status: int, headers: "httpx2.Headers", body: bytes) -> None:
        if status == 200:
            return
        said = legible(_message(body))
        if status in _WORTH_RETRYING:
            raise _Again(f"answers {status}: {said}" if said else f"answers {status}", _asked_wait(headers))
        if status == 408:
            raise QueryTimeout(f"{self.url} stopped the query at its own time limit: {said}")
        if status == 400:
            raise QueryRejected(f"{self.url} rejects the query: {said}")
        raise EndpointFailure(f"{self.url} answers {status}: {said}", hint="Check that the URL is a SPARQL endpoint.")

    def _read(self, headers: "httpx2.Headers", body: bytes, elapsed_s: float) -> Result:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            tail = legible(body[-2000:].decode("utf-8", "replace"))
            raise EndpointFailure(
                f"{self.url} answered 200 with a body that is not JSON; it ends: {tail[-200:]}",
                hint="Engines put an error or a timeout of their own there. Run the query by hand to see it.",
            ) from error
        try:
            table = read_results(document, f"The results of {self.url}")
        except InputError as error:
            raise EndpointFailure(error.message) from error
        return Result(
            table=table,
            document={
                "head": {"vars": document["head"]["vars"]},
                "results": {"bindings": document["results"]["bindings"]},
            },
            elapsed_s=elapsed_s,
            warnings=_odd(headers, document, len(table)),
        )


class _Again(Exception):
    """An attempt that failed in a way that may pass; ``wait_s`` is what the server asked for."""

    def __init__(self, reason: str, wait_s: float | None, *, answered: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.wait_s, self.answered = reason, wait_s, answered


def _asked_wait(headers: "httpx2.Headers") -> float | None:
    """Seconds of a Retry-After header, which is a number or a date; None where there is none."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _message(body: bytes) -> str:
    """The words of an error body: QLever and others wrap them in JSON."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for key in ("exception", "message", "error", "detail"):
        if isinstance(value, dict) and isinstance(value.get(key), str):
            return str(value[key])
    return text


def _odd(headers: "httpx2.Headers", document: dict[str, Any], rows: int) -> tuple[str, ...]:
    found = []
    content_type = headers.get("content-type", "")
    if "json" not in content_type:
        found.append(f"the results came as {legible(content_type, 60) or 'no content type'} and were JSON all the same")
    cap = headers.get("x-sparql-maxrows", "")
    if cap.isascii() and cap.isdigit() and rows >= int(cap):
        found.append(f"the server returns at most {cap} rows and returned that many")
    said = document.get("warnings")
    found += [legible(item) for item in said[:10] if isinstance(item, str)] if isinstance(said, list) else []
    return tuple(found)
