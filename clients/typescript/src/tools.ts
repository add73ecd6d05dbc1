import type { Ragctx } from "./client.js";

/** Whose memories a tool or a loop uses. */
export interface Memory {
  user_id: string;
  session_id?: string;
}

const text = (name: string) => ({
  type: "object" as const,
  properties: { [name]: { type: "string" as const } },
  required: [name],
  additionalProperties: false as const,
});

/** The tools that the adapters offer to models. A model reads their names and descriptions. */
export const searchMemory = {
  name: "search_memory",
  description: "Search what is remembered of the user and earlier conversations. Ask with the words of the question.",
  schema: text("query"),
  async run(client: Ragctx, { user_id }: Memory, query: string): Promise<string> {
    const { items } = await client.memories.search({ query, user_id, max_results: 10 });
    return items.map((item) => item.content).join("\n\n") || "Nothing is remembered about this.";
  },
};

export const saveMemory = {
  name: "save_memory",
  description: "Remember a lasting fact or preference of the user, as one sentence that is clear without the conversation.",
  schema: text("content"),
  async run(client: Ragctx, memory: Memory, content: string): Promise<string> {
    const { status } = await client.memories.create({ ...memory, content, memory_type: "semantic", origin: "tool" });
    return `Remembered (${status}).`;
  },
};
