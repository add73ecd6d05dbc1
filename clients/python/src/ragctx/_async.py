"""The asynchronous client."""

from __future__ import annotations

import copy
import mimetypes
import os
import pathlib
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

import httpx
from anyio import sleep, to_thread

from . import types
from ._local import Server
from ._send import asend
from ._typing import Self, Unpack
from ._wire import Call, Event, EventDecoder, Options, lines, path, refusal
from .errors import UsageError

T = TypeVar("T")


class AsyncRagctx:
    """A client of a ragctx server.

    Ids are positional arguments. Fields of the query and of the body are keyword arguments, named and typed as in the REST API.
    The `query` of `context`, `search` and `explain` can be positional, too. Answers are dictionaries.

        url         address of the server; default is RAGCTX_SERVER, or http://127.0.0.1:7700
        key         API key; default is RAGCTX_KEY
        namespace   namespace of all calls that name no other
        timeout     seconds for one call, retries included
        retries     number of further tries after a failure that may pass
        http        a httpx client of your own, for proxies or certificates
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        namespace: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._options = Options.of(url, key, namespace, timeout, retries)
        self._http = http or httpx.AsyncClient()
        self._derived = False
        self._server: Server | None = None
        self._bind()

    def _bind(self) -> None:
        self.documents = AsyncDocuments(self)
        self.memories = AsyncMemories(self)
        self.turns = AsyncTurns(self)
        self.sessions = AsyncSessions(self)
        self.jobs = AsyncJobs(self)
        self.procedures = AsyncProcedures(self)
        self.clusters = AsyncClusters(self)
        self.namespaces = AsyncNamespaces(self)

    @classmethod
    def local(
        cls,
        data: str | os.PathLike[str] | None = None,
        *,
        binary: str | None = None,
        arguments: Sequence[str] = (),
        namespace: str | None = None,
        timeout: float = 60.0,
    ) -> Self:
        """Return a client with a server of its own, which runs as long as the `with` block.

            data        data directory; default is a temporary one, which is removed afterwards
            binary      the program; default is RAGCTX_BINARY, or ragctx on the PATH
            arguments   further flags of `ragctx serve`
        """
        client = cls("http://127.0.0.1", namespace=namespace, timeout=timeout, http=httpx.AsyncClient(trust_env=False))
        client._options = client._options.but(url="")
        client._server = Server(data, binary, arguments)
        return client

    def with_options(
        self,
        *,
        namespace: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        idempotency_key: str | None = None,
    ) -> Self:
        """Return a client with other options, on the same connections. They, and a server of one's own, end with this client.

        An `idempotency_key` names one request: use it for one call, and for the same call again.
        """
        client = copy.copy(self)
        client._options = self._options.but(
            namespace=namespace, timeout=timeout, retries=retries, idempotency_key=idempotency_key
        )
        client._derived = True
        client._bind()
        return client

    @property
    def url(self) -> str:
        """Address of the server."""
        if not self._options.url:
            raise UsageError("the server of local() does not run; open it with `async with`, then call it or derive other clients")
        return self._options.url

    async def __aenter__(self) -> Self:
        if self._server is not None and not self._derived:
            url = await to_thread.run_sync(self._server.start)
            self._options = self._options.but(url=url)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, and end a server of one's own."""
        if self._derived:
            return
        await self._http.aclose()
        if self._server is not None:
            await to_thread.run_sync(self._server.stop)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> httpx.Response:
        """Send a request to any route, with retries, and return the answer. A refusal raises an `ApiError`.

        `body` is sent as JSON and `content` as it is. The caller closes a streamed answer.
        """
        call = Call(self._options.but(url=self.url), method, path, query or {}, body, content, headers or {})
        while True:
            try:
                request = self._http.build_request(
                    call.method, call.url, content=call.content, headers=call.headers, timeout=call.timeout(stream)
                )
                response = await asend(self._http, request, call, stream)
                if response.is_success:
                    return response
                raise refusal(response.status_code, response.headers, await response.aread())
            except Exception as error:
                pause = call.pause(error)
            await sleep(pause)

    async def _json(self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        response = await self.request(method, path, query=query, body=body)
        return response.json() if response.content else None

    async def _pages(self, path: str, entries: str, query: Mapping[str, Any]) -> AsyncIterator[Any]:
        cursor = query.get("cursor")
        while True:
            page = await self._json("GET", path, {**query, "cursor": cursor})
            for entry in page[entries]:
                yield entry
            cursor = page.get("next_cursor")
            if not cursor:
                return

    async def context(self, query: str, **options: Unpack[types.ContextOptions]) -> types.Answer:
        """Return what the model should see for a query: `xml` goes in front of the model call."""
        return await self._json("POST", "/v1/context", body={"query": query, **options})

    async def search(self, query: str, **options: Unpack[types.ContextOptions]) -> types.SearchResult:
        """Return the best items of documents and memories, ranked, without a budget."""
        return await self._json("POST", "/v1/search", body={"query": query, **options})

    async def explain(self, query: str, **options: Unpack[types.ContextOptions]) -> types.Explanation:
        """Explain why an answer is empty or lacks an item."""
        return await self._json("POST", "/v1/explain", body={"query": query, **options})

    async def assemble(self, **request: Unpack[types.AssembleRequest]) -> types.AssembleAnswer:
        """Build a whole model call from a conversation in the request: system prompt, context and messages that fit."""
        return await self._json("POST", "/v1/assemble", body=request)

    async def item(self, id: str, /, **query: Unpack[types.GetItemQuery]) -> types.Item:
        """Return the text behind an item id."""
        return await self._json("GET", path("/v1/items/{}", id), query)

    async def embeddings(self, **request: Unpack[types.EmbeddingRequest]) -> types.Embeddings:
        """Return vectors of texts, from the server's embedder."""
        return await self._json("POST", "/v1/embeddings", body=request)

    async def status(self) -> types.Status:
        """Return sizes, counts and current problems of the server."""
        return await self._json("GET", "/v1/status")

    async def erase_user(self, id: str, /) -> types.Erased:
        """Erase all data of a user permanently."""
        return await self._json("DELETE", path("/v1/users/{}", id), {"erase": True})

    def events(self, **query: Unpack[types.StreamEventsQuery]) -> AsyncStream[Event]:
        """Open the stream of the server's events. It has what happens from the beginning of the `with` block on."""
        return AsyncStream(self, "/v1/events", query)


class AsyncStream(Generic[T]):
    """A stream of the server. Entering the `with` block opens it; iterating yields what comes.

    A lost connection is opened again, and the stream goes on after the last entry.
    """

    def __init__(self, client: AsyncRagctx, path: str, query: Mapping[str, Any]) -> None:
        self._client, self._path, self._query = client, path, query
        self._decoder = EventDecoder()
        self._ready: deque[tuple[str, Any]] = deque()
        self._response: httpx.Response | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._close()

    async def _open(self) -> None:
        headers = {"Accept": "text/event-stream"}
        if self._decoder.last_id is not None:
            headers["Last-Event-ID"] = self._decoder.last_id
        self._response = await self._client.request("GET", self._path, query=self._query, headers=headers, stream=True)
        self._chunks = self._response.aiter_bytes()

    async def _close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
            self._response = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._ready:
            if self._ended:
                await self._close()
                raise StopAsyncIteration
            if self._response is None:
                await sleep(0.25)
                await self._open()
            try:
                self._ready.extend(self._decoder.feed(await anext(self._chunks)))
            except (httpx.TransportError, StopAsyncIteration):
                self._decoder.lost()
                await self._close()
        kind, entry = self._ready.popleft()
        self._ended = kind == "end"
        return entry


class _AsyncResource:
    def __init__(self, client: AsyncRagctx) -> None:
        self._client = client
        self._json = client._json


class AsyncDocuments(_AsyncResource):
    """Documents: texts and files under ids."""

    async def put(self, id: str, /, **document: Unpack[types.DocumentRequest]) -> types.DocumentPut:
        """Store a document. Sent again it is unchanged; with another text it is replaced."""
        return await self._json("PUT", path("/v1/documents/{}", id), body=document)

    async def create(self, **document: Unpack[types.NewDocumentRequest]) -> types.DocumentPut:
        """Store a document under its `url` or a new id."""
        return await self._json("POST", "/v1/documents", body=document)

    async def upload(
        self, id: str, file: str | os.PathLike[str] | bytes, /, *, media_type: str | None = None, **query: Unpack[types.PutDocumentQuery]
    ) -> types.DocumentPut:
        """Store a file, such as a PDF, as a document. The media type follows from the name unless it is given."""
        name = id if isinstance(file, bytes) else os.fspath(file)
        content = file if isinstance(file, bytes) else pathlib.Path(file).read_bytes()
        headers = {"Content-Type": media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"}
        response = await self._client.request("PUT", path("/v1/documents/{}", id), query=query, content=content, headers=headers)
        return response.json()

    async def get(self, id: str, /, **query: Unpack[types.GetDocumentQuery]) -> types.Document:
        """Return a document with its text."""
        return await self._json("GET", path("/v1/documents/{}", id), query)

    async def delete(self, id: str, /, *, erase: bool = False) -> None:
        """Delete a document, or with `erase` remove it from the files, too."""
        await self._json("DELETE", path("/v1/documents/{}", id), {"erase": True} if erase else None)

    async def bulk(self, documents: Iterable[types.BulkLine], *, wait: str | None = None) -> types.Job:
        """Store and delete many documents in one job. `wait`, such as `30s`, waits for its end."""
        headers = {"Content-Type": "application/x-ndjson"}
        query = {"wait": wait}
        response = await self._client.request("POST", "/v1/documents:bulk", query=query, content=lines(documents), headers=headers)
        return response.json()

    def list(self, **query: Unpack[types.ListDocumentsQuery]) -> AsyncIterator[types.Document]:
        """Iterate over the documents of all pages, without their texts."""
        return self._client._pages("/v1/documents", "documents", query)


class AsyncMemories(_AsyncResource):
    """Memories: what is remembered of users and conversations."""

    async def create(self, **memory: Unpack[types.MemoryRequest]) -> types.MemoryPut:
        """Store a memory."""
        return await self._json("POST", "/v1/memories", body=memory)

    async def get(self, id: str, /, *, user_id: str | None = None) -> types.Memory:
        """Return a memory."""
        return await self._json("GET", path("/v1/memories/{}", id), {"user_id": user_id})

    async def search(self, query: str, **options: Unpack[types.ContextOptions]) -> types.SearchResult:
        """Search memories only."""
        return await self._json("POST", "/v1/memories:search", body={"query": query, **options})

    async def change(self, id: str, /, *, user_id: str | None = None, **patch: Unpack[types.MemoryPatch]) -> types.MemoryPut:
        """Change fields of a memory. Absent fields stay as they are."""
        return await self._json("PATCH", path("/v1/memories/{}", id), {"user_id": user_id}, patch)

    async def delete(self, id: str, /, *, user_id: str | None = None, erase: bool = False) -> None:
        """Delete a memory, or with `erase` remove it from the files, too."""
        await self._json("DELETE", path("/v1/memories/{}", id), {"user_id": user_id, "erase": True if erase else None})

    async def history(self, id: str, /, *, user_id: str | None = None) -> types.MemoryHistory:
        """Return the changes of a memory."""
        return await self._json("GET", path("/v1/memories/{}/history", id), {"user_id": user_id})

    async def undo(self, id: str, /, *, user_id: str | None = None) -> types.Undone:
        """Undo the newest change of a memory."""
        return await self._json("POST", path("/v1/memories/{}:undo", id), {"user_id": user_id})

    async def change_tags(self, id: str, /, *, user_id: str | None = None, **tags: Unpack[types.TagsRequest]) -> types.MemoryPut:
        """Add and remove tags of a memory."""
        return await self._json("PATCH", path("/v1/memories/{}/tags", id), {"user_id": user_id}, tags)

    async def release(self, id: str, /, *, user_id: str | None = None) -> types.Memory:
        """Release a memory from quarantine."""
        return await self._json("POST", path("/v1/memories/{}:release", id), {"user_id": user_id})

    async def discard(self, id: str, /, *, user_id: str | None = None) -> None:
        """Discard a quarantined memory."""
        await self._json("POST", path("/v1/memories/{}:discard", id), {"user_id": user_id})

    async def extract(self, **request: Unpack[types.ExtractRequest]) -> types.Extraction:
        """Preview the facts that would be extracted from a turn."""
        return await self._json("POST", "/v1/memories:extract", body=request)

    async def outcome(self, **request: Unpack[types.OutcomeRequest]) -> types.MemoryPut:
        """Store the outcome of a task."""
        return await self._json("POST", "/v1/memories:outcome", body=request)

    async def prune(self, **request: Unpack[types.PruneRequest]) -> types.Pruned:
        """Delete old, unimportant memories, or with `dry_run` list them."""
        return await self._json("POST", "/v1/memories:prune", body=request)

    async def stats(self, **query: Unpack[types.MemoryStatsQuery]) -> types.MemoryStats:
        """Count memories."""
        return await self._json("GET", "/v1/memories:stats", query)

    def tags(self, **query: Unpack[types.ListMemoryTagsQuery]) -> AsyncIterator[types.TagCount]:
        """Iterate over the tags with their numbers of memories."""
        return self._client._pages("/v1/memories:tags", "tags", query)

    def quarantine(self, **query: Unpack[types.ListQuarantineQuery]) -> AsyncIterator[types.Quarantined]:
        """Iterate over the memories in quarantine."""
        return self._client._pages("/v1/memories:quarantine", "memories", query)

    def list(self, **query: Unpack[types.ListMemoriesQuery]) -> AsyncIterator[types.Memory]:
        """Iterate over the memories of all pages."""
        return self._client._pages("/v1/memories", "memories", query)


class AsyncTurns(_AsyncResource):
    """Turns: exchanges, from which memories are extracted."""

    async def create(self, **turn: Unpack[types.TurnRequest]) -> types.TurnResult:
        """Store an exchange after a model call. It is searchable at once; facts are extracted in the background."""
        return await self._json("POST", "/v1/turns", body=turn)

    async def get(self, id: str, /, *, user_id: str | None = None) -> types.Turn:
        """Return a turn word for word."""
        return await self._json("GET", path("/v1/turns/{}", id), {"user_id": user_id})

    async def undo(self, id: str, /, *, user_id: str | None = None) -> types.TurnUndone:
        """Undo the memories that were extracted from a turn."""
        return await self._json("POST", path("/v1/turns/{}:undo", id), {"user_id": user_id})


class AsyncSessions(_AsyncResource):
    """Sessions: stored conversations."""

    async def create(self, **session: Unpack[types.SessionRequest]) -> types.Session:
        """Create a session."""
        return await self._json("POST", "/v1/sessions", body=session)

    async def get(self, id: str, /, *, user_id: str | None = None) -> types.Session:
        """Return the state of a session."""
        return await self._json("GET", path("/v1/sessions/{}", id), {"user_id": user_id})

    async def change(self, id: str, /, *, user_id: str | None = None, **patch: Unpack[types.SessionPatch]) -> types.Session:
        """Change the layer or the parameters of a session."""
        return await self._json("PATCH", path("/v1/sessions/{}", id), {"user_id": user_id}, patch)

    async def erase(self, id: str, /, *, user_id: str | None = None) -> types.Erased:
        """Erase a session and all that was made of it, permanently."""
        return await self._json("DELETE", path("/v1/sessions/{}", id), {"user_id": user_id, "erase": True})

    async def append(self, id: str, /, *, user_id: str | None = None, **request: Unpack[types.AppendRequest]) -> types.Appended:
        """Append messages, in ragctx's form or as OpenAI's, Anthropic's or Gemini's (`format`)."""
        return await self._json("POST", path("/v1/sessions/{}/messages", id), {"user_id": user_id}, request)

    async def assemble(
        self, id: str, /, *, user_id: str | None = None, **request: Unpack[types.SessionAssembleRequest]
    ) -> types.SessionAssembleAnswer:
        """Build the next model call of a session: system prompt, context and the messages that fit."""
        return await self._json("POST", path("/v1/sessions/{}:assemble", id), {"user_id": user_id}, request)

    async def compile(self, id: str, /, *, user_id: str | None = None, **request: Unpack[types.CompileRequest]) -> types.CompileAnswer:
        """Return the messages that a model is shown, without context and without any change."""
        return await self._json("POST", path("/v1/sessions/{}:compile", id), {"user_id": user_id}, request)

    async def compact(self, id: str, /, *, user_id: str | None = None, **request: Unpack[types.CompactRules]) -> types.CompactAnswer:
        """Replace older messages by a summary in later views. The stored messages stay."""
        return await self._json("POST", path("/v1/sessions/{}:compact", id), {"user_id": user_id}, request)

    async def undo_compaction(self, id: str, /, *, user_id: str | None = None) -> types.StoredCompaction:
        """Undo the newest compaction."""
        return await self._json("POST", path("/v1/sessions/{}:undo-compaction", id), {"user_id": user_id})

    async def navigate(self, id: str, message_id: str, /, *, user_id: str | None = None) -> types.Session:
        """Continue from an earlier message. Later messages stay on a branch of their own."""
        return await self._json("POST", path("/v1/sessions/{}:navigate", id), {"user_id": user_id}, {"message_id": message_id})

    async def fork(self, id: str, /, *, user_id: str | None = None, **request: Unpack[types.ForkRequest]) -> types.Session:
        """Copy a branch into a new session."""
        return await self._json("POST", path("/v1/sessions/{}:fork", id), {"user_id": user_id}, request)

    async def put_section(self, id: str, section: str, /, *, user_id: str | None = None, **said: Unpack[types.Said]) -> types.Session:
        """Replace the messages of a section."""
        return await self._json("PUT", path("/v1/sessions/{}/sections/{}", id, section), {"user_id": user_id}, said)

    async def delete_section(self, id: str, section: str, /, *, user_id: str | None = None) -> None:
        """Remove a section with its messages."""
        await self._json("DELETE", path("/v1/sessions/{}/sections/{}", id, section), {"user_id": user_id})

    async def messages(self, id: str, /, **query: Unpack[types.ListSessionMessagesQuery]) -> types.SessionMessages:
        """Return the newest messages, oldest first. `next_cursor` as `cursor` pages back."""
        return await self._json("GET", path("/v1/sessions/{}/messages", id), query)

    def list(self, **query: Unpack[types.ListSessionsQuery]) -> AsyncIterator[types.SessionEntry]:
        """Iterate over the sessions of all pages."""
        return self._client._pages("/v1/sessions", "sessions", query)


class AsyncJobs(_AsyncResource):
    """Jobs: work that outlives its request."""

    async def get(self, id: str, /) -> types.Job:
        """Return the state of a job."""
        return await self._json("GET", path("/v1/jobs/{}", id))

    async def cancel(self, id: str, /) -> types.Job:
        """Cancel a job, and return when it has ended."""
        return await self._json("POST", path("/v1/jobs/{}:cancel", id))

    async def retry(self, id: str, /) -> types.Job:
        """Queue a job again with the items that failed or were not reached."""
        return await self._json("POST", path("/v1/jobs/{}:retry", id))

    def watch(self, id: str, /) -> AsyncStream[types.Job]:
        """Open the progress of a job. The last entry is the job at its end."""
        return AsyncStream(self._client, path("/v1/jobs/{}/events", id), {})

    async def wait(self, id: str, /) -> types.Job:
        """Wait for the end of a job, for as long as it takes."""
        async with self.watch(id) as progress:
            job = await self.get(id)
            async for job in progress:
                pass
        return job

    def items(self, id: str, /, **query: Unpack[types.ListJobItemsQuery]) -> AsyncIterator[types.JobItem]:
        """Iterate over the results of a job's items."""
        return self._client._pages(path("/v1/jobs/{}/items", id), "items", query)

    def list(self, **query: Unpack[types.ListJobsQuery]) -> AsyncIterator[types.Job]:
        """Iterate over the jobs of all pages, newest first."""
        return self._client._pages("/v1/jobs", "jobs", query)


class AsyncProcedures(_AsyncResource):
    """Procedures: step lists that worked."""

    async def get(self, name: str, /, **query: Unpack[types.GetProcedureQuery]) -> types.Procedure:
        """Return a procedure with its versions and draft."""
        return await self._json("GET", path("/v1/procedures/{}", name), query)

    async def put_draft(
        self, name: str, /, *, user_id: str | None = None, agent_id: str | None = None, **draft: Unpack[types.DraftRequest]
    ) -> types.Procedure:
        """Write the draft of a procedure."""
        query = {"user_id": user_id, "agent_id": agent_id}
        return await self._json("PUT", path("/v1/procedures/{}/draft", name), query, draft)

    async def publish(self, name: str, /, **query: Unpack[types.PublishProcedureQuery]) -> types.Procedure:
        """Publish the draft, so that agents see it."""
        return await self._json("POST", path("/v1/procedures/{}:publish", name), query)

    def list(self, **query: Unpack[types.ListProceduresQuery]) -> AsyncIterator[types.ProcedureEntry]:
        """Iterate over the procedures of all pages."""
        return self._client._pages("/v1/procedures", "procedures", query)


class AsyncClusters(_AsyncResource):
    """Clusters: messages that the agents of a team send each other."""

    async def append(self, cluster: str, /, **message: Unpack[types.MessagesRequest]) -> types.MessageList:
        """Append a message or a batch."""
        return await self._json("POST", path("/v1/clusters/{}/messages", cluster), body=message)

    async def state(self, cluster: str, /) -> types.ClusterState:
        """Return the state of a cluster's work."""
        return await self._json("GET", path("/v1/clusters/{}/state", cluster))

    async def pack(self, **request: Unpack[types.PackRequest]) -> types.PackAnswer:
        """Build the context of an agent of a cluster."""
        return await self._json("POST", "/v1/packs", body=request)

    def messages(self, cluster: str, /, **query: Unpack[types.QueryMessagesQuery]) -> AsyncIterator[types.LedgerMessage]:
        """Iterate over the messages of all pages."""
        return self._client._pages(path("/v1/clusters/{}/messages", cluster), "messages", query)

    def stream(self, cluster: str, /, **query: Unpack[types.StreamMessagesQuery]) -> AsyncStream[types.LedgerMessage]:
        """Open the stream of messages: those after `after_sequence`, then new ones."""
        return AsyncStream(self._client, path("/v1/clusters/{}/stream", cluster), query)


class AsyncNamespaces(_AsyncResource):
    """Namespaces: data that never meets."""

    async def create(self, **namespace: Unpack[types.NamespaceRequest]) -> types.Namespace:
        """Create a namespace. The first write does so, too."""
        return await self._json("POST", "/v1/namespaces", body=namespace)

    async def get(self, name: str, /) -> types.Namespace:
        """Return a namespace with its sizes."""
        return await self._json("GET", path("/v1/namespaces/{}", name))

    async def erase(self, name: str, /) -> types.Erased:
        """Erase a namespace permanently."""
        return await self._json("DELETE", path("/v1/namespaces/{}", name), {"erase": True})

    def list(self, **query: Unpack[types.ListNamespacesQuery]) -> AsyncIterator[types.Namespace]:
        """Iterate over the namespaces of all pages."""
        return self._client._pages("/v1/namespaces", "details", query)
