"""Adapters for LangChain: a retriever, a chat history, memory tools, and the middleware of an agent's loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool

from . import Ragctx, errors, types
from ._tools import memory_functions

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
except ImportError:  # langchain-core is there without langchain
    AgentMiddleware = object  # type: ignore[assignment, misc]


class RagctxRetriever(BaseRetriever):
    """Finds documents and memories. `request` has fields of `Ragctx.search`, such as `user_id` or `max_results`."""

    client: Any
    """a `Ragctx`"""
    request: dict[str, Any] = {}

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        request: dict[str, Any] = {**self.request, "query": query}
        found = cast(Ragctx, self.client).search(**request)
        return [
            Document(
                id=item["id"],
                page_content=item["content"],
                metadata={
                    **item.get("metadata", {}),
                    "source": item.get("source", ""),
                    "context_type": item["context_type"],
                    "relevance": item["relevance"],
                },
            )
            for item in found["items"]
        ]


class RagctxChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session. `messages` are those that a model is shown: a compaction replaces older ones by a summary."""

    def __init__(self, client: Ragctx, session_id: str, *, user_id: str | None = None) -> None:
        super().__init__()
        self._client, self._session_id, self._user_id = client, session_id, user_id

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        try:
            shown = self._client.sessions.compile(self._session_id, user_id=self._user_id, format="openai")
        except errors.NotFound:
            return []
        return convert_to_messages(shown["messages"])  # type: ignore[arg-type]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        stored = convert_to_openai_messages(list(messages))
        self._client.sessions.append(self._session_id, user_id=self._user_id, create=True, format="openai", messages=stored)

    def clear(self) -> None:
        try:
            self._client.sessions.erase(self._session_id, user_id=self._user_id)
        except errors.NotFound:
            pass


def memory_tools(client: Ragctx, *, user_id: str, session_id: str | None = None) -> list[BaseTool]:
    """Return the tools `search_memory` and `save_memory` for a user."""
    return [StructuredTool.from_function(function) for function in memory_functions(client, user_id, session_id)]


class RagctxMiddleware(AgentMiddleware):
    """The loop of an agent of `langchain.agents.create_agent`: context before each model call, the turn after the last one.

    `request` has further fields of `Ragctx.context`, such as `max_tokens`.
    """

    def __init__(self, client: Ragctx, *, user_id: str, session_id: str | None = None, **request: Any) -> None:
        super().__init__()
        self._client, self._user_id, self._session_id, self._request = client, user_id, session_id, request

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> ModelResponse[Any]:
        """Put the context for the last message of the user behind the system prompt."""
        asked: dict[str, Any] = {**self._request, "user_id": self._user_id, "query": _said(request.messages)}
        answer = self._client.context(**asked)
        prompt = request.system_message.text if request.system_message else ""
        parts = [part for part in (prompt, answer["xml"]) if part]
        return handler(request.override(system_message=SystemMessage("\n\n".join(parts))) if parts else request)

    def after_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Store the exchange."""
        messages = state["messages"]
        turn: types.TurnRequest = {"user_id": self._user_id, "prompt": _said(messages), "response": str(messages[-1].text)}
        if self._session_id:
            turn["session_id"] = self._session_id
        self._client.turns.create(**turn)


def _said(messages: Sequence[BaseMessage]) -> str:
    return next((str(message.text) for message in reversed(messages) if isinstance(message, HumanMessage)), "")
