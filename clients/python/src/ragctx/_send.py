"""One try of a request, within the deadline of its call. httpx limits only each wait, so a slow answer could last for ever."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import httpx
from anyio import fail_after

from ._wire import Call


async def asend(http: httpx.AsyncClient, request: httpx.Request, call: Call, stream: bool) -> httpx.Response:
    """Send the request. The answer has its body, unless it is the beginning of a stream."""
    with fail_after(call.left()):
        response = await http.send(request, stream=stream)
        if not response.is_success:
            await response.aread()
        return response


def send(http: httpx.Client, request: httpx.Request, call: Call, stream: bool) -> httpx.Response:
    """Send the request. The answer has its body, unless it is the beginning of a stream."""
    response = http.send(request, stream=True)
    if stream and response.is_success:
        return response
    with contextlib.closing(response):
        # httpx reads this limit when the body begins.
        request.extensions["timeout"]["read"] = call.left()
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Timed(response.stream, call)
        response.read()
    return response


class _Timed(httpx.SyncByteStream):
    """A body that is given up after the deadline."""

    def __init__(self, body: httpx.SyncByteStream, call: Call) -> None:
        self._body = body
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        for part in self._body:
            self._call.left()
            yield part

    def close(self) -> None:
        self._body.close()
