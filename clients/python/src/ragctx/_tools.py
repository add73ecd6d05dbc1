"""The memory tools that several adapters offer to models, as plain functions."""

from __future__ import annotations

from collections.abc import Callable

from . import Ragctx, types

Function = Callable[[str], str]


def memory_functions(client: Ragctx, user_id: str, session_id: str | None = None) -> tuple[Function, Function]:
    """Return the functions `search_memory` and `save_memory` for a user. A model reads their names and descriptions."""

    def search_memory(query: str) -> str:
        """Search what is remembered of the user and earlier conversations. Ask with the words of the question."""
        found = client.memories.search(query=query, user_id=user_id, max_results=10)["items"]
        return "\n\n".join(item["content"] for item in found) or "Nothing is remembered about this."

    def save_memory(content: str) -> str:
        """Remember a lasting fact or preference of the user, as one sentence that is clear without the conversation."""
        memory: types.MemoryRequest = {"content": content, "user_id": user_id, "memory_type": "semantic", "origin": "tool"}
        if session_id:
            memory["session_id"] = session_id
        stored = client.memories.create(**memory)
        return f"Remembered ({stored['status']})."

    return search_memory, save_memory
