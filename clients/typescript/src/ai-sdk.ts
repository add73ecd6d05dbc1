/** Adapters for the Vercel AI SDK: the loop as a middleware of a model, and memory tools. */

import { jsonSchema, tool, type LanguageModelMiddleware } from "ai";
import type { Ragctx } from "./client.js";
import type { ContextRequest } from "./schema.js";
import { saveMemory, searchMemory, type Memory } from "./tools.js";

type Prompt = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"]["prompt"];

/**
 * Return a middleware for `wrapLanguageModel`: context for the user's last message goes behind the system prompt of each call, and
 * the exchange is stored after the last one. `request` has further fields of `Ragctx.context`, such as `max_tokens`.
 */
export function ragctxMiddleware(client: Ragctx, { user_id, session_id, ...request }: Memory & Partial<ContextRequest>): LanguageModelMiddleware {
  const store = async (prompt: Prompt, response: string) => {
    await client.turns.create({ user_id, ...(session_id === undefined ? {} : { session_id }), prompt: said(prompt), response });
  };
  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const { xml } = await client.context({ ...request, user_id, query: said(params.prompt) });
      return xml === "" ? params : { ...params, prompt: withContext(params.prompt, xml) };
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      if (!result.content.some((part) => part.type === "tool-call")) await store(params.prompt, text);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let text = "";
      let calls = false;
      let broken = false;
      const observer = new TransformStream<typeof stream extends ReadableStream<infer P> ? P : never>({
        transform(part, controller) {
          if (part.type === "text-delta") text += part.delta;
          calls ||= part.type === "tool-call";
          broken ||= part.type === "error";
          controller.enqueue(part);
        },
        // A stream that breaks off or is cancelled is no exchange.
        flush: () => (calls || broken ? undefined : store(params.prompt, text)),
      });
      return { stream: stream.pipeThrough(observer), ...rest };
    },
  };
}

/** Return the tools `search_memory` and `save_memory` for a user. */
export function memoryTools(client: Ragctx, memory: Memory) {
  return {
    search_memory: tool({
      description: searchMemory.description,
      inputSchema: jsonSchema<{ query: string }>(searchMemory.schema),
      execute: ({ query }) => searchMemory.run(client, memory, query),
    }),
    save_memory: tool({
      description: saveMemory.description,
      inputSchema: jsonSchema<{ content: string }>(saveMemory.schema),
      execute: ({ content }) => saveMemory.run(client, memory, content),
    }),
  };
}

/** Return the text of the user's last message. */
function said(prompt: Prompt): string {
  const message = prompt.findLast((message) => message.role === "user");
  return message?.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") : "";
}

function withContext(prompt: Prompt, xml: string): Prompt {
  const [first, ...rest] = prompt;
  if (first?.role === "system") return [{ ...first, content: `${first.content}\n\n${xml}` }, ...rest];
  return [{ role: "system", content: xml }, ...prompt];
}
