/** The adapters for the Vercel AI SDK, against the real library. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { Ragctx } from "ragctx";
import { memoryTools, ragctxMiddleware } from "ragctx/ai-sdk";

let server: Ragctx;
before(async () => (server = await Ragctx.local()));
after(() => server.close());

const wrapped = (ragctx: Ragctx, session_id: string) =>
  wrapLanguageModel({ model: openai.chat("gpt-5"), middleware: ragctxMiddleware(ragctx, { user_id: "ada", session_id, max_tokens: 1000 }) });

async function turns(ragctx: Ragctx): Promise<string[]> {
  const found: string[] = [];
  for await (const memory of ragctx.memories.list({ user_id: "ada", type: ["episodic"] })) found.push(memory.content);
  return found;
}

test("generateText knows documents, and what was said in another conversation", async () => {
  const ragctx = server.with({ namespace: "generate" });
  await ragctx.documents.put("oncall.md", { text: "The pager goes to the platform team." });
  const first = await generateText({ model: wrapped(ragctx, "s1"), system: "You answer briefly.", prompt: "Who carries the pager?" });
  assert.match(first.text, /platform team/);
  await generateText({ model: wrapped(ragctx, "s2"), prompt: "My dentist is called Grabow." });
  assert.match((await generateText({ model: wrapped(ragctx, "s3"), prompt: "What is my dentist called?" })).text, /Grabow/);
  assert.equal((await turns(ragctx)).length, 3);
});

test("streamText stores the exchange at the end of the stream", async () => {
  const ragctx = server.with({ namespace: "stream" });
  await ragctx.documents.put("oncall.md", { text: "The pager goes to the platform team." });
  const { textStream } = streamText({ model: wrapped(ragctx, "s1"), prompt: "Who carries the pager?" });
  let text = "";
  for await (const part of textStream) text += part;
  assert.equal(text, "The pager goes to the platform team.");
  const [turn, ...others] = await turns(ragctx);
  assert.match(turn!, /Who carries the pager\?[^]*platform team/);
  assert.equal(others.length, 0);
});

test("memory tools, whose calls are steps of one exchange", async () => {
  const ragctx = server.with({ namespace: "tools" });
  await ragctx.memories.create({ content: "Ada is allergic to peanuts.", user_id: "ada", memory_type: "semantic" });
  const { search_memory, save_memory } = memoryTools(ragctx, { user_id: "ada" });
  const asked = await generateText({
    model: wrapped(ragctx, "s1"), tools: { search_memory }, stopWhen: stepCountIs(3), prompt: "What is Ada allergic to?",
  });
  assert.match(asked.text, /peanuts/);
  assert.equal(asked.steps.length, 2);
  assert.equal((await turns(ragctx)).length, 1);
  await generateText({ model: openai.chat("gpt-5"), tools: { save_memory }, prompt: "The harbour opens at six." });
  assert.match((await ragctx.memories.search({ query: "harbour", user_id: "ada" })).items[0]!.content, /opens at six/);
});
