"""The adapters for LlamaIndex, against the real library."""

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from ragctx import Ragctx
from ragctx.llama_index import RagctxMemoryBlock, RagctxRetriever


async def test_retriever(ragctx: Ragctx) -> None:
    ragctx.documents.put("oncall.md", text="# On call\n\nThe pager goes to the platform team.")
    retriever = RagctxRetriever(ragctx, max_results=3)
    (found,) = retriever.retrieve("Who carries the pager?")
    assert "platform team" in found.text and found.metadata["source"] == "docs:oncall.md" and (found.score or 0) > 0
    assert [node.text for node in await retriever.aretrieve("pager")] == [found.text]
    # The model of this engine repeats its prompt.
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM()))
    assert "platform team" in str(engine.query("Who carries the pager?"))


async def test_memory_block(ragctx: Ragctx) -> None:
    """Messages that leave the window of LlamaIndex's memory are found again."""
    block = RagctxMemoryBlock(client=ragctx, user_id="ada", session_id="s1")
    memory = Memory.from_defaults(session_id="s1", token_limit=200, chat_history_token_ratio=0.5, token_flush_size=20, memory_blocks=[block])
    await memory.aput_messages([ChatMessage(role="user", content="My dentist is called Grabow."), ChatMessage(role="assistant", content="Noted.")])
    filler = "We talk about the weather of this week at some length, and about nothing else. " * 3
    for n in range(3):
        await memory.aput_messages([ChatMessage(role="user", content=f"{n}: {filler}"), ChatMessage(role="assistant", content=f"{n}: Yes.")])
    assert any("Grabow" in turn["content"] for turn in ragctx.memories.list(user_id="ada"))
    await memory.aput(ChatMessage(role="user", content="What is my dentist called?"))
    shown = await memory.aget()
    assert "Grabow" in str(shown[0].content) and shown[0].role == "system"
