"""The loop of an agent with Anthropic's client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from anthropic import Anthropic
from anthropic.types import Message, MessageParam, TextBlockParam, ToolParam, ToolResultBlockParam

from . import Ragctx


def answer(
    client: Ragctx,
    anthropic: Anthropic,
    prompt: str,
    /,
    *,
    user_id: str,
    session_id: str,
    system: str = "",
    tools: Sequence[ToolParam] = (),
    functions: Mapping[str, Callable[..., object]] | None = None,
    window: int = 200_000,
    most_calls: int = 20,
    **arguments: Any,
) -> str:
    """Answer what the user says, and return the text.

    ragctx keeps the conversation, builds each model call, and stores the turn. `functions` has the function of each tool;
    the model reads the error of one that fails. The last of `most_calls` may use no tools. `arguments` are further arguments
    of `messages.create`, such as `model` and `max_tokens`.
    """

    def append(message: dict[str, Any]) -> None:
        client.sessions.append(session_id, user_id=user_id, create=True, format="anthropic", messages=[message])

    append({"role": "user", "content": prompt})
    reply: Message | None = None
    for calls in range(1, most_calls + 1):
        call = client.sessions.assemble(
            session_id,
            user_id=user_id,
            format="anthropic",
            system_prompt=system,
            tools=list(tools),
            used_tokens=_sent(reply) if reply else 0,
            budget={"window": window, "reserve_output": arguments.get("max_tokens", 4096)},
        )
        given: dict[str, Any] = {"tools": tools} if tools else {}
        if tools and calls == most_calls:
            given["tool_choice"] = {"type": "none"}
        reply = cast(
            Message,
            anthropic.messages.create(
                system=cast("list[TextBlockParam]", call.get("system") or []),
                messages=cast("list[MessageParam]", call["messages"]),
                **given,
                **arguments,
            ),
        )
        append({"role": "assistant", "content": [block.to_dict() for block in reply.content]})
        results = [_use(functions or {}, block.id, block.name, block.input) for block in reply.content if block.type == "tool_use"]
        if not results:
            break
        append({"role": "user", "content": results})
    text = "".join(block.text for block in reply.content if block.type == "text") if reply else ""
    client.turns.create(user_id=user_id, session_id=session_id, prompt=prompt, response=text)
    return text


def _use(functions: Mapping[str, Callable[..., object]], id: str, name: str, arguments: Any) -> ToolResultBlockParam:
    try:
        return {"type": "tool_result", "tool_use_id": id, "content": str(functions[name](**arguments))}
    except Exception as failed:
        return {"type": "tool_result", "tool_use_id": id, "content": repr(failed), "is_error": True}


def _sent(reply: Message) -> int:
    usage = reply.usage
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
