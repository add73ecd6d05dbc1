"""Adapters for Pydantic AI: memory tools, and context as instructions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic_ai import FunctionToolset, RunContext

from . import AsyncRagctx, Ragctx, types
from ._tools import memory_functions


def memory_toolset(client: Ragctx, *, user_id: str, session_id: str | None = None) -> FunctionToolset[Any]:
    """Return a toolset with `search_memory` and `save_memory` for a user."""
    return FunctionToolset(list(memory_functions(client, user_id, session_id)))


def context_instructions(client: AsyncRagctx, *, user_id: str, **request: Any) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Return a function for `Agent(instructions=…)`: the context for the user's prompt, before each model call.

    `request` has further fields of `AsyncRagctx.context`, such as `max_tokens`.
    """

    async def instructions(run: RunContext[Any]) -> str:
        said = run.prompt if isinstance(run.prompt, str) else "\n".join(part for part in run.prompt or [] if isinstance(part, str))
        answer = await client.context(**cast(types.ContextRequest, {**request, "user_id": user_id, "query": said}))
        return answer["xml"]

    return instructions
