"""Client of ragctx, the context engine that an agent calls before and after every model call."""

from . import errors, types
from ._async import AsyncRagctx, AsyncStream
from ._sync import Ragctx, Stream
from ._wire import Event
from .errors import ApiError, RagctxError

__all__ = ["ApiError", "AsyncRagctx", "AsyncStream", "Event", "Ragctx", "RagctxError", "Stream", "errors", "types"]
