export * from "./client.js";
export * from "./errors.js";
export type * as types from "./schema.js";
export type { LocalOptions } from "./local.js";
export { Stream, type Options, type Parts } from "./wire.js";
