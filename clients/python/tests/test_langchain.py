"""The adapters for LangChain, against the real library."""

from pathlib import Path

import llama_index.core
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableConfig, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from ragctx import Ragctx
from ragctx.langchain import RagctxChatMessageHistory, RagctxMiddleware, RagctxRetriever, memory_tools


def test_retriever(ragctx: Ragctx) -> None:
    ragctx.documents.put("oncall.md", text="# On call\n\nThe pager goes to the platform team.", metadata={"team": "sre"})
    retriever = RagctxRetriever(client=ragctx, request={"max_results": 3})
    (found,) = retriever.invoke("Who carries the pager?")
    assert "platform team" in found.page_content and found.metadata["team"] == "sre" and found.metadata["source"] == "docs:oncall.md"
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    chain = {"context": retriever, "question": RunnablePassthrough()} | prompt | ChatOpenAI(model="gpt-5") | StrOutputParser()
    assert "platform team" in chain.invoke("Who carries the pager?")


async def test_retriever_async(ragctx: Ragctx) -> None:
    ragctx.documents.put("oncall.md", text="The pager goes to the platform team.")
    (found,) = await RagctxRetriever(client=ragctx).ainvoke("pager")
    assert found.page_content == "The pager goes to the platform team."


def test_chat_history(ragctx: Ragctx) -> None:
    history = RagctxChatMessageHistory(ragctx, "chat", user_id="ada")
    assert history.messages == []
    call = {"name": "grep", "args": {"for": "rotate"}, "id": "c1", "type": "tool_call"}
    history.add_messages([HumanMessage("Grep it."), AIMessage("", tool_calls=[call]), ToolMessage("keys.go:17", tool_call_id="c1"), AIMessage("Line 17.")])
    said, called, result, answer = history.messages
    assert (said.content, answer.content, result.content) == ("Grep it.", "Line 17.", "keys.go:17")
    assert isinstance(called, AIMessage) and called.tool_calls == [call] and isinstance(result, ToolMessage)
    history.clear()
    assert history.messages == []
    history.clear()


def test_chain_with_history(ragctx: Ragctx) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    chain = RunnableWithMessageHistory(
        prompt | ChatOpenAI(model="gpt-5"), lambda id: RagctxChatMessageHistory(ragctx, id), input_messages_key="question", history_messages_key="history"
    )
    session: RunnableConfig = {"configurable": {"session_id": "s"}}
    chain.invoke({"question": "My dentist is called Grabow."}, session)
    assert "Grabow" in chain.invoke({"question": "Which dentist?"}, session).content
    assert len(RagctxChatMessageHistory(ragctx, "s").messages) == 4


def test_memory_tools(ragctx: Ragctx) -> None:
    search, save = memory_tools(ragctx, user_id="ada")
    assert (search.name, save.name) == ("search_memory", "save_memory")
    assert "created" in save.invoke({"content": "Ada is allergic to peanuts."})
    assert "peanuts" in search.invoke({"query": "What is Ada allergic to?"})
    agent = create_agent(ChatOpenAI(model="gpt-5"), [search])
    answer = agent.invoke({"messages": [HumanMessage("What is Ada allergic to?")]})["messages"][-1]
    assert "peanuts" in answer.content


def test_middleware(ragctx: Ragctx) -> None:
    """The whole loop: the second run of an agent knows what was said in the first, in another conversation."""
    ragctx.documents.put("oncall.md", text="The pager goes to the platform team.")
    for session, asked, expected in [
        ("s1", "Who carries the pager?", "platform team"),
        ("s2", "My dentist is called Grabow.", ""),
        ("s3", "What is my dentist called?", "Grabow"),
    ]:
        loop = RagctxMiddleware(ragctx, user_id="ada", session_id=session, max_tokens=1000)
        agent = create_agent(ChatOpenAI(model="gpt-5"), middleware=[loop], system_prompt="You answer briefly.")
        assert expected in agent.invoke({"messages": [HumanMessage(asked)]})["messages"][-1].content
    assert len(list(ragctx.memories.list(user_id="ada", type=["episodic"]))) == 3


def test_embeddings(ragctx: Ragctx, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAIEmbeddings works against /v1/embeddings as it is; it sends token ids and asks for base64.

    The vocabulary for that comes from LlamaIndex's package, so that nothing is downloaded.
    """
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(Path(llama_index.core.__file__).parent / "_static/tiktoken_cache"))
    embeddings = OpenAIEmbeddings(base_url=f"{ragctx.url}/v1", model="static")
    pager, oncall, lunch = embeddings.embed_documents(["Who carries the pager?", "The pager is carried by the platform team.", "Lunch is at noon."])
    assert len(pager) == len(embeddings.embed_query("pager")) > 100

    def near(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert near(pager, oncall) > near(pager, lunch)
