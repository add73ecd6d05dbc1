"""The loop with Anthropic's client."""

from anthropic import Anthropic
from anthropic.types import ToolParam
from ragctx import Ragctx
from ragctx.anthropic_loop import answer

GREP: ToolParam = {
    "name": "grep",
    "description": "Search files.",
    "input_schema": {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
}


def test_loop(ragctx: Ragctx) -> None:
    ragctx.documents.put("oncall.md", text="The pager goes to the platform team.")

    def ask(prompt: str, session: str, **arguments: object) -> str:
        return answer(
            ragctx, Anthropic(), prompt, user_id="ada", session_id=session, system="You answer briefly.",
            model="claude-sonnet-5-5", max_tokens=1024, **arguments,  # type: ignore[arg-type]
        )

    assert ask("Who carries the pager?", "s1") == "The pager goes to the platform team."
    tools = {"tools": [GREP], "functions": {"grep": lambda pattern: "The key rotation is in keys.go, line 17."}}
    assert "line 17" in ask("Where is the key rotation?", "s1", **tools)
    assert ragctx.sessions.get("s1", user_id="ada")["messages"] == 6
    assert "line 17" in ask("Which line has the key rotation?", "s2")
    failing = {"tools": [GREP], "functions": {"grep": lambda pattern: 1 / 0}}
    ask("Where is the rotation of logs?", "s3", **failing)
    _, _, result, _ = ragctx.sessions.messages("s3", user_id="ada")["messages"]
    assert "ZeroDivisionError" in str(result)
    assert len(list(ragctx.memories.list(user_id="ada", type=["episodic"]))) == 4
