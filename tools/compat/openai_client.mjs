// The vector stores of OpenAI's documentation: openai_client.mjs URL.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";

const client = new OpenAI({ apiKey: "any", baseURL: process.argv[2] + "/v1", maxRetries: 0 });
const vector = await client.embeddings.create({ model: "static", input: "hello world" });
assert(vector.data[0].embedding.length > 0);
const store = await client.vectorStores.create({ name: "Support FAQ" });
const refunds = await toFile(Buffer.from("# Refunds\n\nA product may be returned within 30 days.\n"), "refunds.md");
const file = await client.vectorStores.files.uploadAndPoll(store.id, refunds);
assert.equal(file.status, "completed");
const office = await toFile(Buffer.from("Our office is in Lisbon."), "office.txt");
const batch = await client.vectorStores.fileBatches.uploadAndPoll(store.id, { files: [office] });
assert.equal(batch.file_counts.completed, 1);
await client.vectorStores.files.update(file.id, { vector_store_id: store.id, attributes: { region: "EU" } });
const found = await client.vectorStores.search(store.id, {
  query: "How long may a product be returned?", filters: { type: "eq", key: "region", value: "EU" },
});
assert.equal(found.data[0].filename, "refunds.md");
const names = [];
for await (const f of client.vectorStores.files.list(store.id, { limit: 1 })) names.push(f.id);
assert.equal(names.length, 2);
await assert.rejects(client.vectorStores.retrieve("vs_none"), OpenAI.NotFoundError);
await client.files.delete(file.id);
assert((await client.vectorStores.delete(store.id)).deleted);
console.log("openai (npm): ok");
