// The programs of mem0's documentation: mem0_client.mjs URL.
import assert from "node:assert/strict";
import { MemoryClient } from "mem0ai";

const client = new MemoryClient({ apiKey: "any", host: process.argv[2] + "/mem0" });
const userId = "alex-npm", filters = { user_id: userId };
await client.ping();
const added = await client.add(
  [{ role: "user", content: "Hi, I'm Alex. I'm a vegetarian and I'm allergic to nuts." }, { role: "assistant", content: "Noted." }],
  { userId, metadata: { food: "vegan" } },
);
assert(added.results.some((m) => m.memory.includes("vegetarian")), JSON.stringify(added));
const found = await client.search("What can I eat?", { filters, topK: 3 });
assert(found.results[0].memory.includes("vegetarian") && found.results[0].score > 0.1, JSON.stringify(found));
const all = await client.getAll({ filters, page: 1, pageSize: 10 });
const id = all.results.find((m) => m.memory.includes("nuts")).id;
assert.deepEqual((await client.get(id)).metadata, { food: "vegan" });
await client.update(id, { text: "Is allergic to peanuts." });
assert.equal((await client.history(id)).length, 2);
await client.batchUpdate([{ memoryId: id, text: "Is allergic to all nuts." }]);
await client.batchDelete([id]);
await assert.rejects(client.get(id));
assert((await client.users()).results.some((u) => u.name === userId));
await client.deleteUsers({ userId });
await client.add("I live in Rome.", { userId });
await client.deleteAll({ userId });
assert.equal((await client.getAll({ filters })).results.length, 0);
console.log("mem0ai (npm): ok");
process.exit(0);
