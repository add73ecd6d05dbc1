"""The long-term store of LangGraph, kept as memories of ragctx."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp, get_text_at_path

from . import Ragctx, errors, types

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: a is not None and a > b,
    "$gte": lambda a, b: a is not None and a >= b,
    "$lt": lambda a, b: a is not None and a < b,
    "$lte": lambda a, b: a is not None and a <= b,
}
MOST = 1000
"""results of a search that a filter is applied to"""


class RagctxStore(BaseStore):
    """Items of LangGraph as memories: their texts are searched by words and meaning, without an embedding model of your own.

    A tag names the namespace of an item, and one tag each the namespaces above. Give the client a namespace of its own with
    `client.with_options(namespace="langgraph")` unless the items shall be context of other questions, too.
    """

    supports_ttl = True
    __slots__ = ("_client", "_user_id")

    def __init__(self, client: Ragctx, *, user_id: str | None = None) -> None:
        self._client, self._user_id = client, user_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            memory = self._memory(op.namespace, op.key)
            return Item(**_item(memory)) if memory else None
        if isinstance(op, SearchOp):
            matching = (found for found in self._found(op) if _matches(found.value, op.filter or {}))
            return [found for n, found in enumerate(matching) if op.offset <= n < op.offset + op.limit]
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        if op.value is None:
            try:
                self._client.memories.delete(_id(op.namespace, op.key))
            except errors.NotFound:
                pass
            return None
        self._put(op)
        return None

    def _memory(self, namespace: tuple[str, ...], key: str) -> types.Memory | None:
        try:
            return self._client.memories.get(_id(namespace, key), user_id=self._user_id)
        except errors.NotFound:
            return None

    def _put(self, op: PutOp) -> None:
        value = dict(op.value or {})
        paths = op.index if isinstance(op.index, list) else ["$"]
        texts = [text for path in paths for text in _texts(value, path)] if op.index is not False else []
        before = self._memory(op.namespace, op.key)
        memory: types.MemoryRequest = {
            "id": _id(op.namespace, op.key),
            "content": "\n".join(texts) or f"{'/'.join(op.namespace)}/{op.key}",
            "memory_type": "semantic",
            "tags": [_tag("in", op.namespace[:n]) for n in range(len(op.namespace) + 1)] + [_tag("at", op.namespace)],
            "metadata": {"namespace": json.dumps(op.namespace), "key": op.key, "value": json.dumps(value)},
        }
        if op.index is False:
            memory["tags"].append("langgraph:unindexed")
        if before:
            memory["occurred"] = before["occurred"]
        if self._user_id is not None:
            memory["user_id"] = self._user_id
        if op.ttl is not None:
            memory["ttl"] = op.ttl * 60
        self._client.memories.create(**memory)

    def _found(self, op: SearchOp) -> Iterator[SearchItem]:
        tag = _tag("in", op.namespace_prefix)
        if not op.query:
            query: types.ListMemoriesQuery = {"tag": [tag], "order": "recent", "limit": 100}
            if self._user_id is not None:
                query["user_id"] = self._user_id
            for memory in self._client.memories.list(**query):
                yield SearchItem(**_item(memory))
            return
        request: types.ContextRequest = {"query": op.query, "filter": {"tags": [tag]}, "min_relevance": 0}
        request["max_results"] = MOST if op.filter else min(op.offset + op.limit, MOST)
        if self._user_id is not None:
            request["user_id"] = self._user_id
        for hit in self._client.memories.search(**request)["items"]:
            memory_or_gone = self._client.memories.get(hit["id"], user_id=self._user_id)
            if "langgraph:unindexed" not in memory_or_gone["tags"]:
                yield SearchItem(**_item(memory_or_gone), score=hit["relevance"])

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        query: types.ListMemoryTagsQuery = {"limit": 1000}
        if self._user_id is not None:
            query["user_id"] = self._user_id
        tags = (tag["tag"] for tag in self._client.memories.tags(**query))
        all = (tuple(map(unquote, tag.split("/")[1:])) for tag in tags if tag.startswith("langgraph:at/"))
        chosen = {path[: op.max_depth] for path in all if all_match(path, op.match_conditions or ())}
        return sorted(chosen)[op.offset : op.offset + op.limit]


def all_match(path: tuple[str, ...], conditions: Iterable[MatchCondition]) -> bool:
    """Report whether a namespace meets all conditions. A `*` stands for any label."""
    for condition in conditions:
        labels = path if condition.match_type == "prefix" else path[::-1]
        wanted = condition.path if condition.match_type == "prefix" else condition.path[::-1]
        if len(labels) < len(wanted) or any(w not in ("*", label) for w, label in zip(wanted, labels, strict=False)):
            return False
    return True


def _tag(kind: str, namespace: tuple[str, ...]) -> str:
    return "/".join([f"langgraph:{kind}", *(quote(label, safe="") for label in namespace)])


def _id(namespace: tuple[str, ...], key: str) -> str:
    return "/".join(["langgraph", *(quote(label, safe="") for label in (*namespace, key))])


def _item(memory: types.Memory) -> dict[str, Any]:
    metadata = memory.get("metadata", {})
    return {
        "value": json.loads(metadata["value"]),
        "key": metadata["key"],
        "namespace": tuple(json.loads(metadata["namespace"])),
        "created_at": _time(memory["occurred"]),
        "updated_at": _time(memory["recorded"]),
    }


def _time(text: str) -> datetime:
    """Read a time of RFC 3339. Python 3.10 reads no Z and at most six digits."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}+00:00")


def _texts(value: Any, path: str) -> list[str]:
    """Return the texts of a value, without the names of its fields where the whole value is meant."""
    if path != "$":
        texts: list[str] = get_text_at_path(value, path)
        return texts
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner, "$")]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner, "$")]
    return [] if value is None else [str(value)]


def _matches(value: dict[str, Any], filter: dict[str, Any]) -> bool:
    for field, wanted in filter.items():
        rules = wanted if isinstance(wanted, dict) and any(key.startswith("$") for key in wanted) else {"$eq": wanted}
        if not all(COMPARE[operator](value.get(field), operand) for operator, operand in rules.items()):
            return False
    return True
