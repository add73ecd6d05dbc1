/** The adapters for LangChain.js, against the real library. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnablePassthrough, RunnableSequence, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { ChatOpenAI } from "@langchain/openai";
import { Ragctx } from "ragctx";
import { memoryTools, RagctxChatMessageHistory, RagctxRetriever } from "ragctx/langchain";

let server: Ragctx;
before(async () => (server = await Ragctx.local()));
after(() => server.close());

const model = () => new ChatOpenAI({ model: "gpt-5", useResponsesApi: false });

test("retriever", async () => {
  const ragctx = server.with({ namespace: "retriever" });
  await ragctx.documents.put("oncall.md", { text: "The pager goes to the platform team.", metadata: { team: "sre" } });
  const retriever = new RagctxRetriever(ragctx, { max_results: 3 });
  const [found] = await retriever.invoke("pager");
  assert.equal(found?.pageContent, "The pager goes to the platform team.");
  assert.deepEqual([found.metadata["team"], found.metadata["source"]], ["sre", "docs:oncall.md"]);
  const context = retriever.pipe((documents) => documents.map((document) => document.pageContent).join("\n"));
  const prompt = ChatPromptTemplate.fromTemplate("{context}\n\n{question}");
  const chain = RunnableSequence.from([{ context, question: new RunnablePassthrough() }, prompt, model(), new StringOutputParser()]);
  assert.match(await chain.invoke("Who carries the pager?"), /platform team/);
});

test("chat history", async () => {
  const ragctx = server.with({ namespace: "history" });
  const history = new RagctxChatMessageHistory(ragctx, "chat", { user_id: "ada" });
  assert.deepEqual(await history.getMessages(), []);
  const call = { name: "grep", args: { for: "rotate" }, id: "c1", type: "tool_call" as const };
  const said = [
    new HumanMessage("Grep it."),
    new AIMessage({ content: "", tool_calls: [call] }),
    new ToolMessage({ content: "keys.go:17", tool_call_id: "c1" }),
    new AIMessage("Line 17."),
  ];
  await history.addMessages(said);
  const messages = await history.getMessages();
  assert.deepEqual(messages.map((message) => [message.getType(), message.content]), said.map((message) => [message.getType(), message.content]));
  assert.deepEqual((messages[1] as AIMessage).tool_calls, [call]);
  assert.equal((messages[2] as ToolMessage).tool_call_id, "c1");
  await history.clear();
  await history.clear();
  assert.deepEqual(await history.getMessages(), []);
});

test("a chain with a history", async () => {
  const ragctx = server.with({ namespace: "chain" });
  const prompt = ChatPromptTemplate.fromMessages([new MessagesPlaceholder("history"), ["human", "{question}"]]);
  const chain = new RunnableWithMessageHistory({
    runnable: prompt.pipe(model()),
    getMessageHistory: (id) => new RagctxChatMessageHistory(ragctx, id as string),
    inputMessagesKey: "question",
    historyMessagesKey: "history",
  });
  const config = { configurable: { sessionId: "s" } };
  await chain.invoke({ question: "My dentist is called Grabow." }, config);
  assert.match(String((await chain.invoke({ question: "Which dentist?" }, config)).content), /Grabow/);
  assert.equal((await ragctx.sessions.get("s")).messages, 4);
});

test("memory tools", async () => {
  const ragctx = server.with({ namespace: "tools" });
  const [search, save] = memoryTools(ragctx, { user_id: "ada" });
  assert.equal(await save!.invoke({ content: "Ada is allergic to peanuts." }), "Remembered (created).");
  assert.match(String(await search!.invoke({ query: "What is Ada allergic to?" })), /peanuts/);
  const { tool_calls } = await model().bindTools([search!]).invoke("What is Ada allergic to?");
  assert.equal(tool_calls?.[0]?.name, "search_memory");
});
