"""The adapters for the OpenAI Agents SDK, against the real library."""

from collections.abc import Iterator

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from ragctx import AsyncRagctx, Ragctx
from ragctx.openai_agents import RagctxSession, run

set_tracing_disabled(True)


@pytest.fixture
def client(ragctx: Ragctx) -> Iterator[AsyncRagctx]:
    yield AsyncRagctx(ragctx.url, namespace=ragctx._options.namespace)


def agent(**arguments: object) -> Agent[None]:
    return Agent(name="helper", instructions="You answer briefly.", model=OpenAIChatCompletionsModel("gpt-5", AsyncOpenAI()), **arguments)  # type: ignore[arg-type]


async def test_session(client: AsyncRagctx) -> None:
    session = RagctxSession(client, "s", user_id="ada")
    assert await session.get_items() == [] and await session.pop_item() is None
    await session.add_items([{"role": "user", "content": f"message {n}"} for n in range(5)])
    call = {"type": "function_call", "call_id": "c", "name": "grep", "arguments": "{}"}
    await session.add_items([call])  # type: ignore[list-item]
    assert [item.get("content") for item in await session.get_items(3)] == ["message 3", "message 4", None]
    assert await session.pop_item() == call
    await session.add_items([{"role": "user", "content": "another"}])
    assert [item.get("content") for item in await session.get_items()] == [*(f"message {n}" for n in range(5)), "another"]
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items([{"role": "user", "content": "alone"}])
    assert await session.pop_item() == {"role": "user", "content": "alone"} and await session.get_items() == []
    await client.sessions.append("s", user_id="ada", create=True, messages=[{"role": "user", "content": "said elsewhere"}])
    assert await session.get_items() == [{"role": "user", "content": "said elsewhere"}]


async def test_runner_with_session(client: AsyncRagctx) -> None:
    session = RagctxSession(client, "s")
    await Runner.run(agent(), "My dentist is called Grabow.", session=session)
    result = await Runner.run(agent(), "Which dentist?", session=session)
    assert "Grabow" in result.final_output and len(await session.get_items()) == 4


async def test_loop(client: AsyncRagctx) -> None:
    """The whole loop, with a tool; another conversation knows what was said."""

    @function_tool
    def opening_hours(place: str) -> str:
        """Return when a place opens."""
        return "The harbour opens at six."

    helper = agent(tools=[opening_hours])
    result = await run(client, helper, "When does the harbour open?", user_id="ada", session_id="s1")
    assert result.final_output == "The harbour opens at six."
    await client.documents.put("oncall.md", text="The pager goes to the platform team.")
    result = await run(client, agent(), "Who carries the pager?", user_id="ada", session_id="s2", run_config=RunConfig(workflow_name="test"))
    assert "platform team" in result.final_output
    result = await run(client, agent(), "At which hour does the harbour open?", user_id="ada", session_id="s3")
    assert "six" in result.final_output
    assert len([turn async for turn in client.memories.list(user_id="ada", type=["episodic"])]) == 3
