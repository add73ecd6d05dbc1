import { ApiError, ConnectionFailed, DeadlineExceeded, RagctxError, refusal, UsageError } from "./errors.js";
import type { ContextOptions, ContextRequest } from "./schema.js";

/** Settings of a client. */
export interface Options {
  /** address of the server; default is RAGCTX_SERVER, or http://127.0.0.1:7700 */
  url?: string | undefined;
  /** API key; default is RAGCTX_KEY */
  key?: string | undefined;
  /** namespace of all calls that name no other */
  namespace?: string | undefined;
  /** milliseconds for one call, retries included; default is 60,000 */
  timeout?: number | undefined;
  /** number of further tries after a failure that may pass; default is 3 */
  retries?: number | undefined;
  /** names one request: use it for one call, and for the same call again */
  idempotencyKey?: string | undefined;
  /** ends a call or a stream */
  signal?: AbortSignal | undefined;
  /** a fetch of your own, for proxies or certificates */
  fetch?: typeof fetch | undefined;
}

/** What a request has besides method and path. */
export interface Parts {
  query?: object | undefined;
  /** sent as JSON */
  body?: unknown;
  /** sent as it is */
  content?: BodyInit | undefined;
  headers?: Record<string, string> | undefined;
  /** the answer is a stream: the deadline ends with its beginning */
  stream?: boolean;
}

/** Statuses after which the same request may succeed. */
const passing = [408, 429, 502, 503, 504];

/** Routes that work in no namespace. */
const unscoped = /^(\/v1\/(compact|compile|doctor|embedder|embeddings|indexes|jobs\/.*|keys.*|namespaces.*|models.*|providers|reembed|rerank|snapshot|status)|(?!\/v1\/).*)$/;

/** Return the options with their url and key, or throw a `UsageError` that does not show the key. */
export function settled(options: Options): Options & { url: string } {
  const url = (options.url || env("RAGCTX_SERVER") || "http://127.0.0.1:7700").trim();
  if (!/^https?:\/\/[^/]/i.test(url))
    throw new UsageError(`url is "${url}"; begin it with http:// or https://, such as http://127.0.0.1:7700`);
  const key = (options.key || env("RAGCTX_KEY") || "").trim();
  if (!/^[!-~]*$/.test(key))
    throw new UsageError("key has a character that is not visible ASCII; use the key as the server printed it, rgx_…");
  return { ...options, url: url.replace(/\/+$/, ""), key: key || undefined };
}

/** Send a request, again after a failure that may pass, and return the answer. A refusal throws an `ApiError`. */
export async function send(options: Options & { url: string }, method: string, path: string, parts: Parts): Promise<Response> {
  const { timeout = 60_000, retries = 3 } = options;
  if (path.startsWith("/v1/") && path.replace(/\?.*/s, "").split("/").slice(1).some((part) => ["", ".", ".."].includes(part)))
    throw new UsageError(`the id in ${path} would change the path; use an id that is not empty, "." or ".."`);
  const ends = Date.now() + timeout;
  const address = url(options, path, parts);
  const what = `${method} ${address.origin}${address.pathname}`;
  const headers: Record<string, string> = { ...parts.headers };
  if (options.key) headers["Authorization"] = `Bearer ${options.key}`;
  if (method !== "GET") headers["Idempotency-Key"] ??= options.idempotencyKey ?? crypto.randomUUID();
  if (parts.body !== undefined) headers["Content-Type"] ??= "application/json";
  const body = parts.body === undefined ? parts.content : JSON.stringify(parts.body);
  for (let tries = 1; ; tries++) {
    let failed: RagctxError;
    try {
      return await once(options, address, { method, headers, ...(body === undefined ? {} : { body }) }, ends - Date.now(), parts.stream);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (Date.now() >= ends) throw new DeadlineExceeded(`${what}: no answer within ${timeout} ms`, { cause: error });
      if (error instanceof ApiError && !passing.includes(error.status)) throw error;
      failed = error instanceof ApiError ? error : new ConnectionFailed(`${what}: ${reason(error)}`, { cause: error });
    }
    const pause = failed instanceof ApiError && failed.retryAfter ? failed.retryAfter * 1000 : (0.5 + Math.random() / 2) * 250 * 2 ** tries;
    if (tries > retries || Date.now() + pause > ends) throw failed;
    await sleep(pause);
  }
}

/** Try a request once. */
async function once(options: Options, url: URL, init: RequestInit, left: number, stream = false): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), left);
  const signal = options.signal ? AbortSignal.any([late.signal, options.signal]) : late.signal;
  try {
    const response = await (options.fetch ?? fetch)(url, { ...init, signal });
    if (!response.ok) throw refusal(response.status, response.headers, await response.text());
    if (stream) return response;
    // The body is part of the call: it is read within the deadline.
    const body = await response.arrayBuffer();
    return new Response(response.status === 204 ? null : body, { status: response.status, headers: response.headers });
  } finally {
    clearTimeout(timer);
  }
}

function url(options: Options & { url: string }, path: string, { query, body }: Parts): URL {
  const url = new URL(options.url + path);
  const named = typeof body === "object" && body !== null && "namespace" in body;
  const namespace = options.namespace && !named && !unscoped.test(path) ? options.namespace : undefined;
  for (const [name, value] of Object.entries({ namespace, ...query })) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
  }
  return url;
}

/** Fetch says only "fetch failed"; its cause has the reason. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

export function env(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name] || undefined;
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Put ids into a path, percent-encoded. */
export function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

/** Return the body of a request that may be a question alone, with further fields. */
export function asked(request: string | ContextRequest, more: ContextOptions): ContextRequest {
  return { ...more, ...(typeof request === "string" ? { query: request } : request) };
}

/** Write JSON lines. */
export function lines(entries: Iterable<object>): string {
  return Array.from(entries, (entry) => JSON.stringify(entry) + "\n").join("");
}

/** Milliseconds of silence after which a stream is lost; the server sends a comment every 15 seconds. */
const keepalive = 45_000;

/**
 * A stream of the server, iterated with `for await`. Leaving the loop closes it. A lost connection is opened again, and the stream
 * goes on after the last entry.
 */
export class Stream<T> implements AsyncIterableIterator<T> {
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private decoder = new TextDecoder();
  private rest = "";
  private fields: Record<string, string> = {};
  private lastId: string | undefined;
  private ready: { kind: string; entry: T }[] = [];
  private ended = false;

  private constructor(private readonly connect: (headers: Record<string, string>) => Promise<Response>) {}

  /** Open a stream. It has what happens from then on. */
  static async open<T>(connect: (headers: Record<string, string>) => Promise<Response>): Promise<Stream<T>> {
    const stream = new Stream<T>(connect);
    await stream.reopen();
    return stream;
  }

  private async reopen(): Promise<void> {
    const response = await this.connect({ Accept: "text/event-stream", ...(this.lastId === undefined ? {} : { "Last-Event-ID": this.lastId }) });
    this.reader = response.body!.getReader();
    this.decoder = new TextDecoder();
    this.rest = "";
    this.fields = {};
  }

  async next(): Promise<IteratorResult<T>> {
    while (!this.ended && this.ready.length === 0) {
      if (!this.reader) {
        await sleep(250);
        await this.reopen();
      }
      const chunk = await this.read();
      if (chunk) this.feed(this.decoder.decode(chunk, { stream: true }));
    }
    const next = this.ready.shift();
    if (!next) {
      await this.close();
      return { done: true, value: undefined };
    }
    if (next.kind === "end") this.ended = true;
    return { done: false, value: next.entry };
  }

  /** Read a part of the stream; a lost connection has none. */
  private async read(): Promise<Uint8Array | undefined> {
    const reader = this.reader!;
    const timer = setTimeout(() => void reader.cancel().catch(() => undefined), keepalive);
    try {
      const { value, done } = await reader.read();
      if (done) this.reader = undefined;
      return value;
    } catch {
      this.reader = undefined;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  private feed(text: string): void {
    const whole = (this.rest + text).split("\n");
    this.rest = whole.pop() ?? "";
    for (const line of whole.map((line) => line.replace(/\r$/, ""))) {
      const [, name, value = ""] = /^([^:]+)(?::\s?(.*))?$/.exec(line) ?? [];
      if (name) {
        const data = this.fields["data"];
        this.fields[name] = name === "data" && data !== undefined ? `${data}\n${value}` : value;
      } else if (line === "") {
        const { id, event = "message", data } = this.fields;
        this.lastId = id ?? this.lastId;
        this.fields = {};
        if (data !== undefined) this.ready.push({ kind: event, entry: JSON.parse(data) as T });
      }
    }
  }

  /** Close the stream. */
  async close(): Promise<void> {
    this.ended = true;
    this.ready = [];
    await this.reader?.cancel().catch(() => undefined);
    this.reader = undefined;
  }

  async return(): Promise<IteratorResult<T>> {
    await this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
