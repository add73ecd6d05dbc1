/** Adapters for LangChain.js: a retriever, a chat history and memory tools. */

import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import { DynamicStructuredTool } from "@langchain/core/tools";
import type { AsUser, Ragctx } from "./client.js";
import { NotFound } from "./errors.js";
import type { ContextRequest } from "./schema.js";
import { saveMemory, searchMemory, type Memory } from "./tools.js";

/** Finds documents and memories. `request` has fields of `Ragctx.search`, such as `user_id` or `max_results`. */
export class RagctxRetriever extends BaseRetriever {
  lc_namespace = ["ragctx", "retrievers"];

  constructor(private readonly client: Ragctx, private readonly request: Partial<ContextRequest> = {}, fields?: BaseRetrieverInput) {
    super(fields);
  }

  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    const { items } = await this.client.search({ ...this.request, query });
    return items.map(({ id, content, metadata, source, context_type, relevance }) => {
      return new Document({ id, pageContent: content, metadata: { ...metadata, source, context_type, relevance } });
    });
  }
}

/** The messages of a session. `getMessages` returns those that a model is shown: a compaction replaces older ones by a summary. */
export class RagctxChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ["ragctx", "chat_history"];

  constructor(private readonly client: Ragctx, private readonly sessionId: string, private readonly user: AsUser = {}) {
    super();
  }

  async getMessages(): Promise<BaseMessage[]> {
    try {
      const { messages } = await this.client.sessions.compile(this.sessionId, { ...this.user, format: "openai" });
      return (messages as OpenAIMessage[]).map(fromOpenAI);
    } catch (error) {
      if (error instanceof NotFound) return [];
      throw error;
    }
  }

  addMessage(message: BaseMessage): Promise<void> {
    return this.addMessages([message]);
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    await this.client.sessions.append(this.sessionId, { ...this.user, create: true, format: "openai", messages: messages.map(toOpenAI) });
  }

  override async clear(): Promise<void> {
    await this.client.sessions.erase(this.sessionId, this.user).catch((error) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}

/** Return the tools `search_memory` and `save_memory` for a user. */
export function memoryTools(client: Ragctx, memory: Memory) {
  return [
    new DynamicStructuredTool({ ...searchMemory, func: (given) => searchMemory.run(client, memory, (given as { query: string }).query) }),
    new DynamicStructuredTool({ ...saveMemory, func: (given) => saveMemory.run(client, memory, (given as { content: string }).content) }),
  ];
}

interface OpenAIMessage {
  role: string;
  content: BaseMessage["content"] | null;
  name?: string;
  tool_call_id?: string;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

const roles: Record<string, string> = { human: "user", ai: "assistant", system: "system", tool: "tool", developer: "developer" };

function toOpenAI(message: BaseMessage): OpenAIMessage {
  const written: OpenAIMessage = { role: roles[message.getType()] ?? "user", content: message.content };
  if (message.name) written.name = message.name;
  if (ToolMessage.isInstance(message)) written.tool_call_id = message.tool_call_id;
  if (AIMessage.isInstance(message) && message.tool_calls?.length) {
    written.tool_calls = message.tool_calls.map(({ id, name, args }) => {
      return { id: id ?? "", type: "function", function: { name, arguments: JSON.stringify(args) } };
    });
  }
  return written;
}

function fromOpenAI({ role, content, name, tool_call_id, tool_calls }: OpenAIMessage): BaseMessage {
  const fields = { content: content ?? "", ...(name === undefined ? {} : { name }) };
  if (role === "user") return new HumanMessage(fields);
  if (role === "tool") return new ToolMessage({ ...fields, tool_call_id: tool_call_id ?? "" });
  if (role !== "assistant") return new SystemMessage(fields);
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => {
    return { id, name, args: JSON.parse(text || "{}") as Record<string, unknown>, type: "tool_call" as const };
  });
  return new AIMessage({ ...fields, tool_calls: calls });
}
