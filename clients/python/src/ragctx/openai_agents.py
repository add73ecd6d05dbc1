"""Adapters for the OpenAI Agents SDK: a session, and the loop around a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from agents import Agent, RunConfig, Runner, RunResult, TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData

from . import AsyncRagctx, errors, types


class RagctxSession(Session):
    """The conversation of an agent, kept as a session of ragctx. Each item is a message and keeps its own form."""

    def __init__(self, client: AsyncRagctx, session_id: str, *, user_id: str | None = None) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = None
        self._client, self._user_id = client, user_id

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        items: list[TResponseInputItem] = []
        cursor: str | None = None
        while limit is None or len(items) < limit:
            query: types.ListSessionMessagesQuery = {"limit": 1000 if limit is None else min(limit - len(items), 1000)}
            if self._user_id is not None:
                query["user_id"] = self._user_id
            if cursor is not None:
                query["cursor"] = cursor
            try:
                page = await self._client.sessions.messages(self.session_id, **query)
            except errors.NotFound:
                break
            items = [_item(message) for message in page["messages"]] + items
            cursor = page.get("next_cursor")
            if not cursor:
                break
        return items

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        messages = [_message(cast(dict[str, Any], item)) for item in items]
        if messages:
            await self._client.sessions.append(self.session_id, user_id=self._user_id, create=True, messages=messages)

    async def pop_item(self) -> TResponseInputItem | None:
        """Return the newest item, and go back before it. The stored message stays on a branch of its own."""
        query: types.ListSessionMessagesQuery = {"limit": 1}
        if self._user_id is not None:
            query["user_id"] = self._user_id
        try:
            messages = (await self._client.sessions.messages(self.session_id, **query))["messages"]
        except errors.NotFound:
            return None
        if not messages:
            return None
        if "parent_id" in messages[0]:
            await self._client.sessions.navigate(self.session_id, messages[0]["parent_id"], user_id=self._user_id)
        else:
            await self.clear_session()
        return _item(messages[0])

    async def clear_session(self) -> None:
        try:
            await self._client.sessions.erase(self.session_id, user_id=self._user_id)
        except errors.NotFound:
            pass


def context_filter(client: AsyncRagctx, *, user_id: str, session_id: str | None = None, **request: Any) -> CallModelInputFilter:
    """Return a filter for `RunConfig`: before each model call it puts context for the user's last message behind the instructions.

    `request` has further fields of `AsyncRagctx.context`, such as `max_tokens`.
    """

    async def with_context(data: CallModelData[Any]) -> ModelInputData:
        said = next((_text(item) for item in map(dict, reversed(data.model_data.input)) if item.get("role") == "user"), "")
        scope = {"user_id": user_id, **({"session_id": session_id} if session_id else {})}
        answer = await client.context(**cast(types.ContextRequest, {**request, **scope, "query": said}))
        parts = [part for part in (data.model_data.instructions, answer["xml"]) if part]
        return ModelInputData(input=data.model_data.input, instructions="\n\n".join(parts) or None)

    return with_context


async def run(
    client: AsyncRagctx, agent: Agent[Any], prompt: str, *, user_id: str, session_id: str, run_config: RunConfig | None = None, **arguments: Any
) -> RunResult:
    """Run an agent: context before each model call, the conversation in a session, and the turn afterwards.

    `arguments` are further arguments of `Runner.run`.
    """
    config = dataclasses.replace(run_config or RunConfig(), call_model_input_filter=context_filter(client, user_id=user_id, session_id=session_id))
    session = RagctxSession(client, session_id, user_id=user_id)
    result = await Runner.run(agent, prompt, session=session, run_config=config, **arguments)
    await client.turns.create(user_id=user_id, session_id=session_id, prompt=prompt, response=str(result.final_output))
    return result


def _message(item: dict[str, Any]) -> types.Message:
    role = item.get("role") if item.get("role") in ("system", "user", "assistant", "developer") else "assistant"
    return {"role": cast(Any, role), "content": _text(item) or f"[{item.get('type', 'item')}]", "metadata": {"item": item}}


def _item(message: Mapping[str, Any]) -> TResponseInputItem:
    """Return the item of a message. One that was appended in another way becomes a plain message."""
    item = message.get("metadata", {}).get("item")
    return cast(TResponseInputItem, item or {"role": message["role"], "content": _text(message)})


def _text(item: Mapping[str, Any]) -> str:
    content = item.get("content") or item.get("output") or item.get("arguments") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
