"""The adapters for Pydantic AI, against the real library."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from ragctx import AsyncRagctx, Ragctx
from ragctx.pydantic_ai import context_instructions, memory_toolset


async def test_toolset(ragctx: Ragctx) -> None:
    ragctx.memories.create(content="Ada is allergic to peanuts.", user_id="ada")
    toolset = memory_toolset(ragctx, user_id="ada").filtered(lambda _, tool: tool.name == "search_memory")
    agent = Agent(OpenAIChatModel("gpt-5"), toolsets=[toolset])
    assert "peanuts" in (await agent.run("What is Ada allergic to?")).output
    saving = memory_toolset(ragctx, user_id="ada").filtered(lambda _, tool: tool.name == "save_memory")
    await Agent(OpenAIChatModel("gpt-5"), toolsets=[saving]).run("The harbour opens at six.")
    assert any("harbour" in memory["content"] for memory in ragctx.memories.list(user_id="ada"))


async def test_instructions(ragctx: Ragctx) -> None:
    ragctx.documents.put("oncall.md", text="The pager goes to the platform team.")
    async with AsyncRagctx(ragctx.url, namespace=ragctx._options.namespace) as client:
        agent = Agent(OpenAIChatModel("gpt-5"), instructions=["You answer briefly.", context_instructions(client, user_id="ada", max_tokens=500)])
        assert "platform team" in (await agent.run("Who carries the pager?")).output
