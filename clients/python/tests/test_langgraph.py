"""The store for LangGraph, against the real library, and against LangGraph's own store."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from ragctx import Ragctx
from ragctx.langgraph import RagctxStore


def fill(store: BaseStore) -> list[Any]:
    """Use a store, and return its answers without times."""
    answers: list[Any] = []
    ada, bob = ("users", "ada"), ("users", "bob/b")
    store.put(ada, "pet", {"text": "Ada has a parrot called Kiki.", "rank": 3})
    store.put(ada, "work", {"text": "Ada repairs bicycles.", "rank": 5, "tags": ["craft", "bike"]})
    store.put(bob, "pet", {"text": "Bob has no pet.", "rank": 1})
    store.put(("other",), "x", {"text": "Unrelated."}, index=False)
    store.put(ada, "pet", {"text": "Ada has a cat called Mia.", "rank": 4})
    store.put(bob, "gone", {"text": "Soon deleted."})
    store.delete(bob, "gone")
    store.delete(bob, "never there")
    for namespace, key in [(ada, "pet"), (ada, "work"), (ada, "missing"), (bob, "pet"), (bob, "gone")]:
        item = store.get(namespace, key)
        answers.append(item and (item.namespace, item.key, item.value))
    filters: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("users",), {"rank": 1}),
        (("users",), {"rank": {"$gte": 4}}),
        (("users",), {"rank": {"$gt": 1, "$lt": 5}}),
        (("users", "ada"), {"rank": {"$ne": 4}}),
        (("us",), {}),
        ((), {"text": "Unrelated."}),
    ]
    for prefix, filter in filters:
        answers.append(sorted(item.key for item in store.search(prefix, filter=filter)))
    answers.append(len(store.search(("users",), limit=2, offset=2)))
    answers.append(store.list_namespaces())
    answers.append(store.list_namespaces(prefix=("users",), limit=1))
    answers.append(store.list_namespaces(suffix=("ada",)))
    answers.append(store.list_namespaces(prefix=("*", "ada")))
    answers.append(store.list_namespaces(max_depth=1))
    return answers


def test_same_answers_as_langgraph(ragctx: Ragctx) -> None:
    assert fill(RagctxStore(ragctx)) == fill(InMemoryStore())


def test_search(ragctx: Ragctx) -> None:
    store = RagctxStore(ragctx, user_id="ada")
    fill(store)
    best, *_ = store.search(("users",), query="Which animal lives with Ada?")
    assert best.key == "pet" and best.namespace == ("users", "ada") and best.score is not None
    assert best.updated_at > best.created_at
    assert [item.key for item in store.search(("users",), query="Ada's animal", filter={"rank": {"$lt": 2}})] == ["pet"]
    assert "x" not in [item.key for item in store.search((), query="Unrelated")]
    store.put(("short",), "lived", {"text": "Gone in a minute."}, ttl=1)
    assert next(m for m in ragctx.memories.list(user_id="ada") if m["content"] == "Gone in a minute.")["expires"]


async def test_graph(ragctx: Ragctx) -> None:
    """A node reads and writes the store, asynchronously."""

    async def node(state: MessagesState, store: BaseStore) -> dict[str, Any]:
        said = state["messages"][-1].content
        found = await store.asearch(("notes",), query=str(said), limit=1)
        await store.aput(("notes",), str(len(state["messages"])), {"text": said})
        return {"messages": [AIMessage(found[0].value["text"] if found else "nothing")]}

    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile(store=RagctxStore(ragctx))
    first = await graph.ainvoke({"messages": [HumanMessage("The harbour opens at six.")]})
    assert first["messages"][-1].content == "nothing"
    second = await graph.ainvoke({"messages": [HumanMessage("When does the harbour open?")]})
    assert second["messages"][-1].content == "The harbour opens at six."
