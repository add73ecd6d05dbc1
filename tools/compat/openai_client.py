"""The vector stores of OpenAI's documentation: openai_client.py URL."""

import asyncio
import sys

import openai

base = sys.argv[1] + "/v1"
client = openai.OpenAI(api_key="any", base_url=base, max_retries=0)


def check(condition, what):
    if not condition:
        raise SystemExit(f"openai {openai.__version__}: {what}")


model = next(iter(client.models.list())).id
texts = client.embeddings.create(model=model, input=["hello world"], encoding_format="float").data[0].embedding
tokens = client.embeddings.create(model=model, input=[[15339, 1917]]).data[0].embedding  # in base64
check(len(texts) > 0 and all(abs(a - b) < 1e-6 for a, b in zip(texts, tokens, strict=True)), "vectors of tokens differ from those of texts")

store = client.vector_stores.create(name="Support FAQ", metadata={"team": "support"})
file = client.files.create(file=("refunds.md", b"# Refunds\n\nA product may be returned within 30 days.\n"), purpose="assistants")
added = client.vector_stores.files.create_and_poll(vector_store_id=store.id, file_id=file.id, attributes={"region": "EU", "year": 2026})
check(added.status == "completed" and added.attributes == {"region": "EU", "year": 2026}, added)
other = client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=("shipping.txt", b"Shipping takes five days within Europe."))
client.vector_stores.files.update(other.id, vector_store_id=store.id, attributes={"region": "US", "year": 2023})
batch = client.vector_stores.file_batches.upload_and_poll(
    vector_store_id=store.id, files=[("a.txt", b"Our office is in Lisbon."), ("b.html", b"<h1>Contact</h1><p>Write to help@example.com.</p>")]
)
check(batch.file_counts.completed == 2, batch)
check(len(list(client.vector_stores.file_batches.list_files(batch.id, vector_store_id=store.id))) == 2, "the batch has no files")
client.vector_stores.file_batches.retrieve(batch.id, vector_store_id=store.id)
client.vector_stores.file_batches.cancel(batch.id, vector_store_id=store.id)
check(client.vector_stores.retrieve(store.id).file_counts.total == 4, "the store has not four files")
check(client.vector_stores.update(store.id, name="FAQ").name == "FAQ", "the name stays")
check(store.id in [s.id for s in client.vector_stores.list(limit=1)], "the store is not listed")
check(len(list(client.vector_stores.files.list(store.id, limit=1))) == 4, "pages end too early")

found = client.vector_stores.search(store.id, query="How long may a product be returned?").data
check(found[0].filename == "refunds.md" and "30 days" in found[0].content[0].text and 0 < found[0].score <= 1, found)
for filters, want in [
    ({"type": "eq", "key": "region", "value": "US"}, {"shipping.txt"}),
    ({"type": "gte", "key": "year", "value": 2025}, {"refunds.md"}),
    ({"type": "or", "filters": [{"type": "in", "key": "region", "value": ["EU", "US"]}]}, {"shipping.txt", "refunds.md"}),
]:
    some = client.vector_stores.search(
        store.id, query="days of shipping, of a returned product", filters=filters, max_num_results=5, rewrite_query=True,
        ranking_options={"ranker": "auto", "score_threshold": 0.0},
    )
    check({r.filename for r in some} == want, (filters, some))
check("30 days" in next(iter(client.vector_stores.files.content(file.id, vector_store_id=store.id))).text, "no content")
check("30 days" in client.files.content(file.id).text and client.files.retrieve(file.id).bytes > 0, "no file")
for call, error in [
    (lambda: client.vector_stores.retrieve("vs_none"), openai.NotFoundError),
    (lambda: client.vector_stores.search(store.id, query="x", filters={"type": "like", "key": "a", "value": "b"}), openai.UnprocessableEntityError),
]:
    try:
        call()
        check(False, f"no {error}")
    except error as e:
        check(e.code and e.message, e)
client.vector_stores.files.delete(other.id, vector_store_id=store.id)
client.files.delete(file.id)
check(len(list(client.vector_stores.files.list(store.id))) == 2, "deleted files are left")
check(client.vector_stores.delete(store.id).deleted, "the store is left")


async def asynchronous():
    client = openai.AsyncOpenAI(api_key="any", base_url=base)
    store = await client.vector_stores.create(name="async")
    await client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=("a.txt", b"The answer is 42."))
    found = [r async for r in client.vector_stores.search(store.id, query="What is the answer?")]
    check(found[0].content[0].text == "The answer is 42.", found)
    await client.vector_stores.delete(store.id)


asyncio.run(asynchronous())
print(f"openai {openai.__version__} (PyPI): ok")
