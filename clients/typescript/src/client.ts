import type * as t from "./schema.js";
import type { LocalOptions, Server } from "./local.js";
import { asked, lines, path, send, settled, Stream, type Options, type Parts } from "./wire.js";

/** The user that a call acts as. */
export interface AsUser {
  user_id?: string;
}

/** An event of the server. docs/events.md lists the types and their data. */
export interface Event {
  sequence: number;
  id: string;
  type: string;
  time: string;
  data: Record<string, unknown>;
  namespace?: string;
  user_id?: string;
  session_id?: string;
  request_id?: string;
}

/**
 * A client of a ragctx server.
 *
 * Ids are positional arguments. Fields of the query and of the body are one object, named and typed as in the REST API. The
 * first argument of `context`, `search` and `explain` may be the `query` alone, and the second one further fields.
 */
export class Ragctx {
  readonly documents = new Documents(this);
  readonly memories = new Memories(this);
  readonly turns = new Turns(this);
  readonly sessions = new Sessions(this);
  readonly jobs = new Jobs(this);
  readonly procedures = new Procedures(this);
  readonly clusters = new Clusters(this);
  readonly namespaces = new Namespaces(this);
  private server: Server | undefined;

  private readonly options: Options & { url: string };

  constructor(options: Options = {}) {
    this.options = settled(options);
  }

  /**
   * Start a server on a free port beside the program, and return a client of it (Node.js, Bun and Deno). It ends with `close()`, or
   * with the program, even if that is killed.
   */
  static async local(options: LocalOptions & Options = {}): Promise<Ragctx> {
    const { start } = await import("./local.js");
    const server = await start(options);
    const client = new Ragctx({ ...options, url: server.url });
    client.server = server;
    return client;
  }

  /** Address of the server. */
  get url(): string {
    return this.options.url;
  }

  /** Return a client with other options. */
  with(options: Options): Ragctx {
    return new Ragctx({ ...this.options, ...options });
  }

  /** End a server of one's own. */
  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Send a request to any route, with retries, and return the answer. A refusal throws an `ApiError`. */
  request(method: string, path: string, parts: Parts = {}): Promise<Response> {
    return send(this.options, method, path, parts);
  }

  /** Send a request, and return the JSON of the answer. */
  async call<T>(method: string, path: string, query?: object, body?: unknown): Promise<T> {
    const response = await this.request(method, path, { query, body });
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** Iterate over the entries of all pages. */
  async *pages<T>(path: string, entries: string, query: { cursor?: string } = {}): AsyncGenerator<T, void, undefined> {
    for (let cursor = query.cursor; ; ) {
      const page = await this.call<Record<string, T[]> & { next_cursor?: string }>("GET", path, { ...query, cursor });
      yield* page[entries] ?? [];
      cursor = page.next_cursor;
      if (!cursor) return;
    }
  }

  /** Open a stream of server-sent events. */
  stream<T>(path: string, query: object = {}): Promise<Stream<T>> {
    return Stream.open<T>((headers) => this.request("GET", path, { query, headers, stream: true }));
  }

  /** Return what the model should see for a query: `xml` goes in front of the model call. */
  context(request: string | t.ContextRequest, more: t.ContextOptions = {}): Promise<t.Answer> {
    return this.call("POST", "/v1/context", {}, asked(request, more));
  }

  /** Return the best items of documents and memories, ranked, without a budget. */
  search(request: string | t.ContextRequest, more: t.ContextOptions = {}): Promise<t.SearchResult> {
    return this.call("POST", "/v1/search", {}, asked(request, more));
  }

  /** Explain why an answer is empty or lacks an item. */
  explain(request: string | t.ContextRequest, more: t.ContextOptions = {}): Promise<t.Explanation> {
    return this.call("POST", "/v1/explain", {}, asked(request, more));
  }

  /** Build a whole model call from a conversation in the request: system prompt, context and messages that fit. */
  assemble(request: t.AssembleRequest): Promise<t.AssembleAnswer> {
    return this.call("POST", "/v1/assemble", {}, request);
  }

  /** Return the text behind an item id. */
  item(id: string, query: t.GetItemQuery = {}): Promise<t.Item> {
    return this.call("GET", path`/v1/items/${id}`, query);
  }

  /** Return vectors of texts, from the server's embedder. */
  embeddings(request: t.EmbeddingRequest): Promise<t.Embeddings> {
    return this.call("POST", "/v1/embeddings", {}, request);
  }

  /** Return sizes, counts and current problems of the server. */
  status(): Promise<t.Status> {
    return this.call("GET", "/v1/status");
  }

  /** Erase all data of a user permanently. */
  eraseUser(id: string): Promise<t.Erased> {
    return this.call("DELETE", path`/v1/users/${id}`, { erase: true });
  }

  /** Open the stream of the server's events. It has what happens from then on. */
  events(query: t.StreamEventsQuery = {}): Promise<Stream<Event>> {
    return this.stream("/v1/events", query);
  }
}

/** Documents: texts and files under ids. */
export class Documents {
  constructor(private readonly client: Ragctx) {}

  /** Store a document. Sent again it is unchanged; with another text it is replaced. */
  put(id: string, document: t.DocumentRequest): Promise<t.DocumentPut> {
    return this.client.call("PUT", path`/v1/documents/${id}`, {}, document);
  }

  /** Store a document under its `url` or a new id. */
  create(document: t.NewDocumentRequest): Promise<t.DocumentPut> {
    return this.client.call("POST", "/v1/documents", {}, document);
  }

  /** Store a file, such as a PDF, as a document. Without a media type, the extension of the id decides. */
  async upload(id: string, file: Blob | Uint8Array<ArrayBuffer>, query: t.PutDocumentQuery & { media_type?: string } = {}): Promise<t.DocumentPut> {
    const { media_type = (file instanceof Blob && file.type) || "application/octet-stream", ...rest } = query;
    // The bytes are sent, since a Blob would set a Content-Type of its own.
    const content = file instanceof Blob ? await file.arrayBuffer() : file;
    const headers = { "Content-Type": media_type };
    const response = await this.client.request("PUT", path`/v1/documents/${id}`, { query: rest, content, headers });
    return (await response.json()) as t.DocumentPut;
  }

  /** Return a document with its text. */
  get(id: string, query: t.GetDocumentQuery = {}): Promise<t.Document> {
    return this.client.call("GET", path`/v1/documents/${id}`, query);
  }

  /** Delete a document, or with `erase` remove it from the files, too. */
  delete(id: string, query: { erase?: boolean } = {}): Promise<void> {
    return this.client.call("DELETE", path`/v1/documents/${id}`, query);
  }

  /** Store and delete many documents in one job. `wait`, such as `30s`, waits for its end. */
  async bulk(documents: Iterable<t.BulkLine>, query: { wait?: string } = {}): Promise<t.Job> {
    const headers = { "Content-Type": "application/x-ndjson" };
    const response = await this.client.request("POST", "/v1/documents:bulk", { query, content: lines(documents), headers });
    return (await response.json()) as t.Job;
  }

  /** Iterate over the documents of all pages, without their texts. */
  list(query: t.ListDocumentsQuery = {}): AsyncGenerator<t.Document, void, undefined> {
    return this.client.pages("/v1/documents", "documents", query);
  }
}

/** Memories: what is remembered of users and conversations. */
export class Memories {
  constructor(private readonly client: Ragctx) {}

  /** Store a memory. */
  create(memory: t.MemoryRequest): Promise<t.MemoryPut> {
    return this.client.call("POST", "/v1/memories", {}, memory);
  }

  /** Return a memory. */
  get(id: string, query: AsUser = {}): Promise<t.Memory> {
    return this.client.call("GET", path`/v1/memories/${id}`, query);
  }

  /** Search memories only. */
  search(request: string | t.ContextRequest, more: t.ContextOptions = {}): Promise<t.SearchResult> {
    return this.client.call("POST", "/v1/memories:search", {}, asked(request, more));
  }

  /** Change fields of a memory. Absent fields stay as they are. */
  change(id: string, { user_id, ...patch }: t.MemoryPatch & AsUser): Promise<t.MemoryPut> {
    return this.client.call("PATCH", path`/v1/memories/${id}`, { user_id }, patch);
  }

  /** Delete a memory, or with `erase` remove it from the files, too. */
  delete(id: string, query: AsUser & { erase?: boolean } = {}): Promise<void> {
    return this.client.call("DELETE", path`/v1/memories/${id}`, query);
  }

  /** Return the changes of a memory. */
  history(id: string, query: AsUser = {}): Promise<t.MemoryHistory> {
    return this.client.call("GET", path`/v1/memories/${id}/history`, query);
  }

  /** Undo the newest change of a memory. */
  undo(id: string, query: AsUser = {}): Promise<t.Undone> {
    return this.client.call("POST", path`/v1/memories/${id}:undo`, query);
  }

  /** Add and remove tags of a memory. */
  changeTags(id: string, { user_id, ...tags }: t.TagsRequest & AsUser): Promise<t.MemoryPut> {
    return this.client.call("PATCH", path`/v1/memories/${id}/tags`, { user_id }, tags);
  }

  /** Release a memory from quarantine. */
  release(id: string, query: AsUser = {}): Promise<t.Memory> {
    return this.client.call("POST", path`/v1/memories/${id}:release`, query);
  }

  /** Discard a quarantined memory. */
  discard(id: string, query: AsUser = {}): Promise<void> {
    return this.client.call("POST", path`/v1/memories/${id}:discard`, query);
  }

  /** Preview the facts that would be extracted from a turn. */
  extract(request: t.ExtractRequest): Promise<t.Extraction> {
    return this.client.call("POST", "/v1/memories:extract", {}, request);
  }

  /** Store the outcome of a task. */
  outcome(request: t.OutcomeRequest): Promise<t.MemoryPut> {
    return this.client.call("POST", "/v1/memories:outcome", {}, request);
  }

  /** Delete old, unimportant memories, or with `dry_run` list them. */
  prune(request: t.PruneRequest): Promise<t.Pruned> {
    return this.client.call("POST", "/v1/memories:prune", {}, request);
  }

  /** Count memories. */
  stats(query: t.MemoryStatsQuery = {}): Promise<t.MemoryStats> {
    return this.client.call("GET", "/v1/memories:stats", query);
  }

  /** Iterate over the tags with their numbers of memories. */
  tags(query: t.ListMemoryTagsQuery = {}): AsyncGenerator<t.TagCount, void, undefined> {
    return this.client.pages("/v1/memories:tags", "tags", query);
  }

  /** Iterate over the memories in quarantine. */
  quarantine(query: t.ListQuarantineQuery = {}): AsyncGenerator<t.Quarantined, void, undefined> {
    return this.client.pages("/v1/memories:quarantine", "memories", query);
  }

  /** Iterate over the memories of all pages. */
  list(query: t.ListMemoriesQuery = {}): AsyncGenerator<t.Memory, void, undefined> {
    return this.client.pages("/v1/memories", "memories", query);
  }
}

/** Turns: exchanges, from which memories are extracted. */
export class Turns {
  constructor(private readonly client: Ragctx) {}

  /** Store an exchange after a model call. It is searchable at once; facts are extracted in the background. */
  create(turn: t.TurnRequest): Promise<t.TurnResult> {
    return this.client.call("POST", "/v1/turns", {}, turn);
  }

  /** Return a turn word for word. */
  get(id: string, query: AsUser = {}): Promise<t.Turn> {
    return this.client.call("GET", path`/v1/turns/${id}`, query);
  }

  /** Undo the memories that were extracted from a turn. */
  undo(id: string, query: AsUser = {}): Promise<t.TurnUndone> {
    return this.client.call("POST", path`/v1/turns/${id}:undo`, query);
  }
}

/** Sessions: stored conversations. */
export class Sessions {
  constructor(private readonly client: Ragctx) {}

  /** Create a session. */
  create(session: t.SessionRequest): Promise<t.Session> {
    return this.client.call("POST", "/v1/sessions", {}, session);
  }

  /** Return the state of a session. */
  get(id: string, query: AsUser = {}): Promise<t.Session> {
    return this.client.call("GET", path`/v1/sessions/${id}`, query);
  }

  /** Change the layer or the parameters of a session. */
  change(id: string, { user_id, ...patch }: t.SessionPatch & AsUser): Promise<t.Session> {
    return this.client.call("PATCH", path`/v1/sessions/${id}`, { user_id }, patch);
  }

  /** Erase a session and all that was made of it, permanently. */
  erase(id: string, query: AsUser = {}): Promise<t.Erased> {
    return this.client.call("DELETE", path`/v1/sessions/${id}`, { ...query, erase: true });
  }

  /** Append messages, in ragctx's form or as OpenAI's, Anthropic's or Gemini's (`format`). */
  append(id: string, { user_id, ...request }: t.AppendRequest & AsUser): Promise<t.Appended> {
    return this.client.call("POST", path`/v1/sessions/${id}/messages`, { user_id }, request);
  }

  /** Build the next model call of a session: system prompt, context and the messages that fit. */
  assemble(id: string, { user_id, ...request }: t.SessionAssembleRequest & AsUser): Promise<t.SessionAssembleAnswer> {
    return this.client.call("POST", path`/v1/sessions/${id}:assemble`, { user_id }, request);
  }

  /** Return the messages that a model is shown, without context and without any change. */
  compile(id: string, { user_id, ...request }: t.CompileRequest & AsUser = {}): Promise<t.CompileAnswer> {
    return this.client.call("POST", path`/v1/sessions/${id}:compile`, { user_id }, request);
  }

  /** Replace older messages by a summary in later views. The stored messages stay. */
  compact(id: string, { user_id, ...request }: t.CompactRules & AsUser = {}): Promise<t.CompactAnswer> {
    return this.client.call("POST", path`/v1/sessions/${id}:compact`, { user_id }, request);
  }

  /** Undo the newest compaction. */
  undoCompaction(id: string, query: AsUser = {}): Promise<t.StoredCompaction> {
    return this.client.call("POST", path`/v1/sessions/${id}:undo-compaction`, query);
  }

  /** Continue from an earlier message. Later messages stay on a branch of their own. */
  navigate(id: string, messageId: string, query: AsUser = {}): Promise<t.Session> {
    return this.client.call("POST", path`/v1/sessions/${id}:navigate`, query, { message_id: messageId });
  }

  /** Copy a branch into a new session. */
  fork(id: string, { user_id, ...request }: t.ForkRequest & AsUser = {}): Promise<t.Session> {
    return this.client.call("POST", path`/v1/sessions/${id}:fork`, { user_id }, request);
  }

  /** Replace the messages of a section. */
  putSection(id: string, section: string, { user_id, ...said }: t.Said & AsUser): Promise<t.Session> {
    return this.client.call("PUT", path`/v1/sessions/${id}/sections/${section}`, { user_id }, said);
  }

  /** Remove a section with its messages. */
  deleteSection(id: string, section: string, query: AsUser = {}): Promise<void> {
    return this.client.call("DELETE", path`/v1/sessions/${id}/sections/${section}`, query);
  }

  /** Return the newest messages, oldest first. `next_cursor` as `cursor` pages back. */
  messages(id: string, query: t.ListSessionMessagesQuery = {}): Promise<t.SessionMessages> {
    return this.client.call("GET", path`/v1/sessions/${id}/messages`, query);
  }

  /** Iterate over the sessions of all pages. */
  list(query: t.ListSessionsQuery = {}): AsyncGenerator<t.SessionEntry, void, undefined> {
    return this.client.pages("/v1/sessions", "sessions", query);
  }
}

/** Jobs: work that outlives its request. */
export class Jobs {
  constructor(private readonly client: Ragctx) {}

  /** Return the state of a job. */
  get(id: string): Promise<t.Job> {
    return this.client.call("GET", path`/v1/jobs/${id}`);
  }

  /** Cancel a job, and return when it has ended. */
  cancel(id: string): Promise<t.Job> {
    return this.client.call("POST", path`/v1/jobs/${id}:cancel`);
  }

  /** Queue a job again with the items that failed or were not reached. */
  retry(id: string): Promise<t.Job> {
    return this.client.call("POST", path`/v1/jobs/${id}:retry`);
  }

  /** Open the progress of a job. The last entry is the job at its end. */
  watch(id: string): Promise<Stream<t.Job>> {
    return this.client.stream(path`/v1/jobs/${id}/events`);
  }

  /** Wait for the end of a job, for as long as it takes. */
  async wait(id: string): Promise<t.Job> {
    let last: t.Job | undefined;
    for await (const job of await this.watch(id)) last = job;
    return last ?? this.get(id);
  }

  /** Iterate over the results of a job's items. */
  items(id: string, query: t.ListJobItemsQuery = {}): AsyncGenerator<t.JobItem, void, undefined> {
    return this.client.pages(path`/v1/jobs/${id}/items`, "items", query);
  }

  /** Iterate over the jobs of all pages, newest first. */
  list(query: t.ListJobsQuery = {}): AsyncGenerator<t.Job, void, undefined> {
    return this.client.pages("/v1/jobs", "jobs", query);
  }
}

/** Procedures: step lists that worked. */
export class Procedures {
  constructor(private readonly client: Ragctx) {}

  /** Return a procedure with its versions and draft. */
  get(name: string, query: t.GetProcedureQuery = {}): Promise<t.Procedure> {
    return this.client.call("GET", path`/v1/procedures/${name}`, query);
  }

  /** Write the draft of a procedure. */
  putDraft(name: string, { user_id, agent_id, ...draft }: t.DraftRequest & t.PutDraftQuery): Promise<t.Procedure> {
    return this.client.call("PUT", path`/v1/procedures/${name}/draft`, { user_id, agent_id }, draft);
  }

  /** Publish the draft, so that agents see it. */
  publish(name: string, query: t.PublishProcedureQuery = {}): Promise<t.Procedure> {
    return this.client.call("POST", path`/v1/procedures/${name}:publish`, query);
  }

  /** Iterate over the procedures of all pages. */
  list(query: t.ListProceduresQuery = {}): AsyncGenerator<t.ProcedureEntry, void, undefined> {
    return this.client.pages("/v1/procedures", "procedures", query);
  }
}

/** Clusters: messages that the agents of a team send each other. */
export class Clusters {
  constructor(private readonly client: Ragctx) {}

  /** Append a message or a batch. */
  append(cluster: string, message: t.MessagesRequest): Promise<t.MessageList> {
    return this.client.call("POST", path`/v1/clusters/${cluster}/messages`, {}, message);
  }

  /** Return the state of a cluster's work. */
  state(cluster: string): Promise<t.ClusterState> {
    return this.client.call("GET", path`/v1/clusters/${cluster}/state`);
  }

  /** Build the context of an agent of a cluster. */
  pack(request: t.PackRequest): Promise<t.PackAnswer> {
    return this.client.call("POST", "/v1/packs", {}, request);
  }

  /** Iterate over the messages of all pages. */
  messages(cluster: string, query: t.QueryMessagesQuery = {}): AsyncGenerator<t.LedgerMessage, void, undefined> {
    return this.client.pages(path`/v1/clusters/${cluster}/messages`, "messages", query);
  }

  /** Open the stream of messages: those after `after_sequence`, then new ones. */
  stream(cluster: string, query: t.StreamMessagesQuery = {}): Promise<Stream<t.LedgerMessage>> {
    return this.client.stream(path`/v1/clusters/${cluster}/stream`, query);
  }
}

/** Namespaces: data that never meets. */
export class Namespaces {
  constructor(private readonly client: Ragctx) {}

  /** Create a namespace. The first write does so, too. */
  create(namespace: t.NamespaceRequest): Promise<t.Namespace> {
    return this.client.call("POST", "/v1/namespaces", {}, namespace);
  }

  /** Return a namespace with its sizes. */
  get(name: string): Promise<t.Namespace> {
    return this.client.call("GET", path`/v1/namespaces/${name}`);
  }

  /** Erase a namespace permanently. */
  erase(name: string): Promise<t.Erased> {
    return this.client.call("DELETE", path`/v1/namespaces/${name}`, { erase: true });
  }

  /** Iterate over the namespaces of all pages. */
  list(query: t.ListNamespacesQuery = {}): AsyncGenerator<t.Namespace, void, undefined> {
    return this.client.pages("/v1/namespaces", "details", query);
  }
}
