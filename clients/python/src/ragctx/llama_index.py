"""Adapters for LlamaIndex: a retriever and a memory block."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from . import Ragctx


class RagctxRetriever(BaseRetriever):
    """Finds documents and memories. The keyword arguments are fields of `Ragctx.search`, such as `user_id`."""

    def __init__(self, client: Ragctx, **request: Any) -> None:
        super().__init__()
        self._client, self._request = client, request

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request: dict[str, Any] = {**self._request, "query": query_bundle.query_str}
        found = self._client.search(**request)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=item["id"],
                    text=item["content"],
                    metadata={**item.get("metadata", {}), "source": item.get("source", ""), "context_type": item["context_type"]},
                ),
                score=item["relevance"],
            )
            for item in found["items"]
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class RagctxMemoryBlock(BaseMemoryBlock[str]):
    """Long-term memory of LlamaIndex's `Memory`: messages that leave its window become turns, and context for the user's
    last message comes back.

    `request` has further fields of `Ragctx.context`, such as `max_tokens`.
    """

    client: Any = Field(description="a Ragctx")
    user_id: str = Field(description="the user who owns the memories")
    session_id: str | None = Field(default=None, description="the conversation")
    request: dict[str, Any] = Field(default_factory=dict)
    name: str = "ragctx"

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        said = next((m.content for m in reversed(messages or []) if m.role == "user" and m.content), "")
        request: dict[str, Any] = {"max_tokens": 2000, **self.request, **self._scope(), "query": said}
        answer = await asyncio.to_thread(cast(Ragctx, self.client).context, **request)
        return answer["xml"]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [{"role": str(m.role.value), "content": m.content} for m in messages if m.content and m.role in ("user", "assistant")]
        if said:
            turn: dict[str, Any] = {"messages": said, **self._scope()}
            await asyncio.to_thread(cast(Ragctx, self.client).turns.create, **turn)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave the context out: parts of it would no longer be whole items. `max_tokens` limits it exactly."""
        return None

    def _scope(self) -> dict[str, str]:
        return {"user_id": self.user_id, **({"session_id": self.session_id} if self.session_id else {})}
