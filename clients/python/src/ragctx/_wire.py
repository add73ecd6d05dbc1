"""What both clients share: settings, retries, and the parsing of answers. Nothing here waits or sends."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._typing import NotRequired, TypedDict
from .errors import CLASSES, ApiError, ConnectionFailed, DeadlineExceeded, InvalidRequest, RagctxError, ServerError, UsageError

PASSING = {408, 429, 502, 503, 504}
"""statuses after which the same request may succeed"""

UNSCOPED = re.compile(r"/v1/(compact|compile|doctor|embedder|embeddings|indexes|jobs/.*|keys.*|namespaces.*|models.*|providers|reembed|rerank|snapshot|status)|(?!/v1/).*")
"""routes that work in no namespace"""

KEEPALIVE = 45.0
"""seconds of silence after which a stream is lost; the server sends a comment every 15 seconds"""


@dataclasses.dataclass(frozen=True)
class Options:
    """Settings of a client."""

    url: str
    """address of the server; empty until the server of `local` runs"""
    key: str | None = dataclasses.field(repr=False)
    namespace: str | None
    timeout: float
    retries: int
    idempotency_key: str | None = None

    @classmethod
    def of(cls, url: str | None, key: str | None, namespace: str | None, timeout: float, retries: int) -> Options:
        url = (url or os.environ.get("RAGCTX_SERVER") or "http://127.0.0.1:7700").strip()
        if not re.match(r"https?://[^/]", url, re.IGNORECASE):
            raise UsageError(f"url is {url!r}; begin it with http:// or https://, such as http://127.0.0.1:7700")
        key = (key or os.environ.get("RAGCTX_KEY") or "").strip()
        if not re.fullmatch(r"[!-~]*", key):
            raise UsageError("key has a character that is not visible ASCII; use the key as the server printed it, rgx_…")
        return cls(url.rstrip("/"), key or None, namespace, timeout, retries)

    def but(self, **changes: Any) -> Options:
        """Return the options with the changes that are not None."""
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if value is not None})


class Call:
    """One request with its retries, within one deadline."""

    def __init__(self, options: Options, method: str, path: str, query: Mapping[str, Any], body: Any, content: bytes | None,
                 headers: Mapping[str, str]) -> None:
        if path.startswith("/v1/") and not {"", ".", ".."}.isdisjoint(path.partition("?")[0].split("/")[1:]):
            raise UsageError(f'the id in {path} would change the path; use an id that is not empty, "." or ".."')
        self._options = options
        self._ends = time.monotonic() + options.timeout
        self._tries = 0
        query = {name: value for name, value in query.items() if value is not None}
        if options.namespace and not UNSCOPED.fullmatch(path) and not (isinstance(body, Mapping) and "namespace" in body):
            query.setdefault("namespace", options.namespace)
        self.method = method
        self.url = httpx.URL(options.url + path, params=query) if query else httpx.URL(options.url + path)
        self.headers = dict(headers)
        if options.key:
            self.headers["Authorization"] = f"Bearer {options.key}"
        if method != "GET":
            self.headers.setdefault("Idempotency-Key", options.idempotency_key or str(uuid.uuid4()))
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            self.headers.setdefault("Content-Type", "application/json")
        self.content = content

    def left(self) -> float:
        """Return the seconds until the deadline, or raise an error after it."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def timeout(self, stream: bool) -> httpx.Timeout:
        """Return the longest waits of one try; a stream may be silent for longer."""
        left = self.left()
        return httpx.Timeout(left, read=max(left, KEEPALIVE) if stream else left)

    def pause(self, error: Exception) -> float:
        """Return the seconds to wait before the next try, or raise the error if another try cannot help."""
        if isinstance(error, (httpx.TimeoutException, TimeoutError)):
            raise self._late() from error
        if isinstance(error, (httpx.LocalProtocolError, httpx.UnsupportedProtocol)):
            # The text has the value of a wrong header, which may be a key.
            reason = re.sub(r"b['\"].*", "…", str(error), flags=re.DOTALL)
            raise UsageError(f"{self.method} {self.url.copy_with(query=None)} cannot be sent: {reason}") from None
        if isinstance(error, httpx.TransportError):
            remedy = "; 'ragctx serve' starts a server" if isinstance(error, httpx.ConnectError) else ""
            failed: RagctxError = ConnectionFailed(f"{self.method} {self.url.copy_with(query=None)}: {error}{remedy}")
        elif isinstance(error, ApiError) and error.status in PASSING:
            failed = error
        else:
            raise error
        self._tries += 1
        if self._tries > self._options.retries:
            raise failed from error
        pause: float = getattr(error, "retry_after", None) or random.uniform(0.5, 1) * 0.25 * 2**self._tries
        if time.monotonic() + pause > self._ends:
            raise failed from error
        return pause

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"{self.method} {self.url.copy_with(query=None)}: no answer within {self._options.timeout:g} seconds")


def path(template: str, *ids: str) -> str:
    """Put ids into a path such as `/v1/documents/{}`, percent-encoded."""
    return template.format(*(quote(id, safe="") for id in ids))


def lines(entries: Iterable[Mapping[str, Any]]) -> bytes:
    """Write JSON lines."""
    return b"".join(json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in entries)


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Return the error of a refused request. A proxy's answer need not be a problem of ragctx."""
    try:
        problem = json.loads(body)
        assert isinstance(problem, dict)
    except (ValueError, AssertionError):
        problem = {"detail": body.decode(errors="replace")[:1000]}
    kind = CLASSES.get(problem.get("code", "")) or (ServerError if status >= 500 else InvalidRequest if status in (400, 422) else ApiError)
    wait = headers.get("Retry-After", "")
    return kind(status, problem, float(wait) if wait.isdigit() else None)


class Event(TypedDict):
    """An event of the server. docs/events.md lists the types and their data."""

    sequence: int
    id: str
    type: str
    time: str
    data: dict[str, Any]
    namespace: NotRequired[str]
    user_id: NotRequired[str]
    session_id: NotRequired[str]
    request_id: NotRequired[str]


class EventDecoder:
    """Reads server-sent events from the bytes of a stream."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}
        self.last_id: str | None = None

    def feed(self, chunk: bytes) -> list[tuple[str, Any]]:
        """Return the events that the chunk completes: their types and their data."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        events = []
        for line in whole:
            name, _, value = line.decode().rstrip("\r").partition(":")
            if name:
                value = value.removeprefix(" ")
                self._fields[name] = f"{self._fields['data']}\n{value}" if name == "data" in self._fields else value
            elif not line.strip() and self._fields:
                self.last_id = self._fields.get("id", self.last_id)
                if "data" in self._fields:
                    events.append((self._fields.get("event", "message"), json.loads(self._fields["data"])))
                self._fields = {}
        return events

    def lost(self) -> None:
        """Forget the event that a lost connection cut."""
        self._rest, self._fields = b"", {}
