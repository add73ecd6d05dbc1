"""Errors of the client. Every error of ragctx is a `RagctxError`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class RagctxError(Exception):
    """The base of all errors."""


class UsageError(RagctxError):
    """The client was used wrongly: an option, an id, a header, or a call before the server of `local` runs. Nothing was sent."""


class ConnectionFailed(RagctxError):
    """The server could not be reached, or the connection broke."""


class DeadlineExceeded(RagctxError):
    """The call took longer than the client's `timeout`, retries included."""


class StartFailed(RagctxError):
    """`Ragctx.local` could not start the program."""


@dataclass(frozen=True)
class Fault:
    """A mistake in one field of a request."""

    field: str
    """path of the field, such as `max_tokens` or `messages[0].role`; empty for the request as a whole"""
    place: str
    """part of the request that has the field: `body`, `query`, `path` or `header`"""
    message: str
    """the mistake, the limit and the remedy, such as `is 0; use 1 to 1000`"""

    @property
    def remedy(self) -> str:
        """The limit and the remedy, such as `use 1 to 1000`; empty if the message has none."""
        return self.message.partition("; ")[2]


class ApiError(RagctxError):
    """The server refused a request. The subclasses are the codes of docs/rest.md#errors."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.problem = problem
        """the whole answer, in the form of RFC 9457"""
        self.code: str = problem.get("code", "")
        self.detail: str = problem.get("detail", "")
        self.request_id: str = problem.get("request_id", "")
        self.retry_after = retry_after
        """seconds after which the server expects the request again, if it says so"""
        self.faults = [_fault(fault) for fault in problem.get("errors") or []]
        text = "; ".join(f"{f.field} {f.message}".strip() for f in self.faults)
        super().__init__(f"{status} {self.detail}" + (f": {text}" if text and text not in self.detail else ""))

    @property
    def field(self) -> str:
        """Path of the first wrong field; empty if no field is wrong."""
        return self.faults[0].field if self.faults else ""

    @property
    def remedy(self) -> str:
        """The limit and the remedy of the first wrong field; empty if there is none."""
        return self.faults[0].remedy if self.faults else ""


class InvalidRequest(ApiError):
    """400 or 422: a value is wrong, or the request cannot be read."""


class Unauthenticated(ApiError):
    """401: the server requires an API key."""


class Denied(ApiError):
    """403: the key does not allow this operation or this namespace."""


class QuotaExceeded(ApiError):
    """403: a quota is exhausted."""


class NotFound(ApiError):
    """404: no such resource or route."""


class Conflict(ApiError):
    """409: the id is taken, or the state of the resource does not allow the request."""


class PreconditionFailed(ApiError):
    """412: another version is current now."""


class TooLarge(ApiError):
    """413: the body or the text is over the limit."""


class UnsupportedMediaType(ApiError):
    """415: the type of the body is not supported."""


class RateLimited(ApiError):
    """429: too many requests."""


class NoSpace(ApiError):
    """507: the disk is full."""


class ServerError(ApiError):
    """Another 5xx: a fault of the server, of a provider, or of a stage."""


CLASSES: dict[str, type[ApiError]] = {
    "invalid": InvalidRequest,
    "unauthenticated": Unauthenticated,
    "denied": Denied,
    "quota_exceeded": QuotaExceeded,
    "not_found": NotFound,
    "conflict": Conflict,
    "precondition_failed": PreconditionFailed,
    "too_large": TooLarge,
    "unsupported_media_type": UnsupportedMediaType,
    "rate_limited": RateLimited,
    "no_space": NoSpace,
}


def _fault(fault: dict[str, str]) -> Fault:
    place, _, field = fault["location"].partition(".")
    return Fault(field, place, fault["message"])
