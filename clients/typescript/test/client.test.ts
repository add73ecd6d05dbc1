/** The client against a real server. RAGCTX_BINARY names the program. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ApiError, Conflict, ConnectionFailed, DeadlineExceeded, InvalidRequest, NotFound, Ragctx } from "ragctx";
import { StartFailed, Unauthenticated, UsageError } from "ragctx";

let server: Ragctx;
before(async () => (server = await Ragctx.local()));
after(() => server.close());

/** Each test has a namespace of its own. */
const here = (name: string) => server.with({ namespace: name });

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

test("documents", async () => {
  const ragctx = here("documents");
  assert.equal((await ragctx.documents.put("a/b c.md", { text: "# Leave\n\nAsk two weeks ahead." })).status, "created");
  assert.equal((await ragctx.documents.put("a/b c.md", { text: "# Leave\n\nAsk two weeks ahead." })).status, "unchanged");
  assert.equal((await ragctx.documents.get("a/b c.md")).text, "# Leave\n\nAsk two weeks ahead.");
  const page = "<html><head><title>Travel</title></head><body><p>Book trains first.</p></body></html>";
  await ragctx.documents.upload("page.html", new Blob([page], { type: "text/html" }), { tags: ["travel"] });
  assert.equal((await ragctx.documents.get("page.html")).title, "Travel");
  await ragctx.documents.upload("note.md", new TextEncoder().encode("# Desk\n\nDesks are booked daily."));
  const { id } = await ragctx.documents.create({ url: "https://example.com/x", text: "Expenses are paid monthly." });
  const [item] = (await ragctx.search({ query: "when are expenses paid?" })).items;
  assert.equal(item?.source, "https://example.com/x");
  const question = "when are expenses paid?";
  assert.match((await ragctx.context(question, { max_tokens: 500 })).xml, /paid monthly/);
  assert.equal((await ragctx.search(question, { max_results: 1 })).items[0]?.id, item.id);
  assert.deepEqual(Object.keys(await ragctx.explain(question)), Object.keys(await ragctx.explain({ query: question })));
  assert.equal((await ragctx.memories.search(question)).items.length, 0);
  assert.equal((await ragctx.item(item.id)).text, "Expenses are paid monthly.");
  assert.equal((await all(ragctx.documents.list({ limit: 1 }))).length, 4);
  await ragctx.documents.delete(id);
  await assert.rejects(ragctx.documents.get(id), (error) => error instanceof NotFound && error.status === 404 && error.requestId !== "");
});

test("bulk and jobs", async () => {
  const ragctx = here("bulk");
  const { id } = await ragctx.documents.bulk(Array.from({ length: 120 }, (_, n) => ({ id: `d${n}`, text: `Room ${n} has ${n} chairs.` })));
  const progress = await all(await ragctx.jobs.watch(id));
  assert.equal(progress.at(-1)?.state, "done");
  assert.equal((await ragctx.jobs.wait(id)).counts.created, 120);
  assert.equal((await all(ragctx.documents.list({ limit: 50 }))).length, 120);
  assert.equal((await all(ragctx.jobs.items(id, { limit: 50 }))).length, 120);
  await assert.rejects(ragctx.jobs.retry(id), Conflict);
});

test("memories", async () => {
  const ragctx = here("memories");
  const { id } = await ragctx.memories.create({ content: "Releases are frozen on Fridays.", user_id: "ada", tags: ["ops"] });
  assert.equal((await ragctx.memories.change(id, { content: "Releases are frozen on Thursdays." })).status, "replaced");
  assert.equal((await ragctx.memories.history(id)).history.length, 2);
  await ragctx.memories.undo(id);
  assert.equal((await ragctx.memories.get(id, { user_id: "ada" })).content, "Releases are frozen on Fridays.");
  await ragctx.memories.changeTags(id, { add: ["release"] });
  assert.deepEqual((await all(ragctx.memories.tags({ user_id: "ada" }))).map((tag) => tag.tag).sort(), ["ops", "release"]);
  assert.equal((await ragctx.memories.search({ query: "when are releases frozen?", user_id: "ada" })).items[0]?.id, id);
  await ragctx.memories.delete(id, { user_id: "ada", erase: true });
  assert.deepEqual(await all(ragctx.memories.list({ user_id: "ada" })), []);
});

test("sessions and turns", async () => {
  const ragctx = here("sessions");
  await ragctx.sessions.create({ id: "s", messages: [{ role: "system", content: "You repair software." }] });
  for (let n = 0; n < 3; n++)
    await ragctx.sessions.append("s", { messages: [{ role: "user", content: `question ${n}` }, { role: "assistant", content: `answer ${n}` }] });
  assert.equal((await ragctx.sessions.get("s")).messages, 7);
  const compiled = await ragctx.sessions.compile("s", { format: "anthropic" });
  assert.equal(compiled.system, "You repair software.");
  assert.equal((await ragctx.sessions.assemble("s", { format: "openai", budget: { window: 8000 } })).messages.length, 7);
  assert.equal((await ragctx.sessions.fork("s", { to: "s2" })).id, "s2");
  const page = await ragctx.sessions.messages("s", { limit: 5 });
  assert.equal((await ragctx.sessions.messages("s", { limit: 5, cursor: page.next_cursor! })).messages.length, 2);
  const { id } = await ragctx.turns.create({ session_id: "s", prompt: "I live in Rome.", response: "Noted." });
  assert.equal((await ragctx.turns.get(id)).prompt, "I live in Rome.");
  assert.deepEqual((await all(ragctx.sessions.list({ limit: 1 }))).map((session) => session.id).sort(), ["s", "s2"]);
  await ragctx.sessions.erase("s");
  await assert.rejects(ragctx.sessions.get("s"), NotFound);
});

test("clusters, procedures and the server", async () => {
  const ragctx = here("clusters");
  const messages = await ragctx.clusters.stream("issue-17", { after_sequence: "0" });
  await ragctx.clusters.append("issue-17", { topic: "PLAN_READY", sender: "planner", text: "First the tests." });
  assert.equal((await messages.next()).value?.text, "First the tests.");
  await messages.close();
  assert.equal((await all(ragctx.clusters.messages("issue-17", { topic: ["PLAN_READY"] }))).length, 1);
  await ragctx.procedures.putDraft("roll-back", { trigger: "a release fails", steps: ["Stop the rollout.", "Deploy the last tag."] });
  await ragctx.procedures.publish("roll-back");
  assert.equal((await all(ragctx.procedures.list({ all_users: true })))[0]?.name, "roll-back");
  assert.ok((await ragctx.status()).embedder);
  assert.equal((await ragctx.embeddings({ input: ["pager", "on call"] })).data.length, 2);
  assert.ok((await all(ragctx.namespaces.list({ limit: 2 }))).some(({ name }) => name === "clusters"));
  assert.ok(((await (await ragctx.request("GET", "/v1/audit", { query: { limit: 1 } })).json()) as { entries: unknown[] }).entries.length);
});

test("errors", async () => {
  const ragctx = here("errors");
  // @ts-expect-error no such field
  await assert.rejects(ragctx.context({ query: "x", max_result: 3 }), (error) => {
    assert.ok(error instanceof InvalidRequest && error instanceof ApiError);
    assert.deepEqual([error.name, error.code, error.field, error.remedy], ["InvalidRequest", "invalid", "max_result", "did you mean max_results?"]);
    return true;
  });
  await assert.rejects(ragctx.with({ url: "http://127.0.0.1:1", retries: 1 }).status(), ConnectionFailed);
  const ended = AbortSignal.abort(new Error("ended by the caller"));
  await assert.rejects(ragctx.with({ signal: ended }).status(), /ended by the caller/);
});

test("an Idempotency-Key", async () => {
  const ragctx = here("idempotent").with({ idempotencyKey: crypto.randomUUID() });
  const turn = { prompt: "What is the code?", response: "It is blue." };
  assert.deepEqual(await ragctx.turns.create(turn), await ragctx.turns.create(turn));
  await assert.rejects(ragctx.turns.create({ prompt: "Another one.", response: "Yes." }), InvalidRequest);
});

/** A proxy that passes requests on; its plan says which answers are lost, cut or slow. */
async function torn(namespace: string) {
  const plan: string[] = [];
  const target = new URL(server.url);
  const proxy = createServer(async (client: Socket) => {
    const fault = plan.shift();
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => (client.destroy(), upstream.destroy());
    for (const side of [client, upstream]) side.on("error", end).on("close", end);
    client.pipe(upstream);
    if (fault === "slow") await new Promise((done) => setTimeout(done, 2000));
    let sent = 0;
    upstream.on("data", (part) => {
      if (fault === "lost") return end();
      client.write(part);
      sent += part.length;
      if (fault === "cut" && sent > 300) client.end(end);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  // Each request has a connection of its own.
  const unkept: typeof fetch = (input, init) => fetch(input, { ...init, headers: { ...(init?.headers as object), Connection: "close" } });
  return { client: server.with({ url, namespace, fetch: unkept }), plan, close: () => proxy.close() };
}

test("lost answers: the request is executed once", async () => {
  const { client, plan, close } = await torn("lost");
  plan.push("lost", "lost");
  await client.memories.create({ content: "The answer to this was lost." });
  assert.equal(plan.length, 0);
  assert.equal((await all(client.memories.list())).length, 1);
  plan.push("lost", "lost", "lost");
  await assert.rejects(client.with({ retries: 2 }).status(), ConnectionFailed);
  close();
});

test("deadline", async () => {
  const { client, plan, close } = await torn("slow");
  plan.push("slow");
  await assert.rejects(client.with({ timeout: 300 }).status(), DeadlineExceeded);
  close();
});

test("a stream that is cut again and again yields each event once", async () => {
  const { client, plan, close } = await torn("cut");
  plan.push("cut");
  const events = await client.events({ type: ["memory_stored"], namespace: "cut" });
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) {
    ids.push((await here("cut").memories.create({ content: `Note number ${n}.` })).id);
    plan.push("cut");
    assert.equal((await events.next()).value?.data["memory_id"], ids[n]);
  }
  await events.close();
  close();
});

const program = `
import { Ragctx } from "ragctx";
const ragctx = await Ragctx.local({ data: process.argv[1] });
console.log(ragctx.url);
setTimeout(() => {}, 60_000);
`;

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`a server ends with its program: ${signal}`, async () => {
    const data = join(await mkdtemp(join(tmpdir(), "ragctx-test-")), "data");
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, data], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    child.kill(signal);
    for (let n = 0; ; n++) {
      assert.ok(n < 1200, "the server still answers");
      if (!(await fetch(`${url}/readyz`).then((answer) => answer.ok, () => false))) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    const again = await Ragctx.local({ data });
    await again.documents.put("a", { text: "b" });
    await again.close();
  });

test("the temporary data directory of a killed program is removed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "test-ragctx-"));
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"], env });
  await once(child.stdout, "data");
  assert.equal((await readdir(folder)).length, 1);
  child.kill("SIGKILL");
  for (let n = 0; (await readdir(folder)).length > 0; n++) {
    assert.ok(n < 1200, "the data directory is still there");
    await new Promise((done) => setTimeout(done, 100));
  }
});

test("a program that does not close its server ends", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program.replace(/setTimeout.*/, "")], { stdio: "inherit" });
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("a server that cannot start", async () => {
  await assert.rejects(Ragctx.local({ binary: "nothing-here" }), StartFailed);
  await assert.rejects(Ragctx.local({ arguments: ["--no-such-flag"] }), /unknown flag/);
  const file = join(await mkdtemp(join(tmpdir(), "ragctx-test-")), "file");
  await writeFile(file, "");
  await assert.rejects(Ragctx.local({ data: file }), StartFailed);
});

test("a wrong url or key is refused, and no error shows a key", () => {
  const secret = "rgx_01234567_secret";
  for (const key of [`${secret}\nx`, `${secret} x`, `${secret}ä`, `${secret}\0`])
    assert.throws(
      () => new Ragctx({ key }),
      (error) => error instanceof UsageError && /key has a character.*; use/.test(error.message) && !error.message.includes("secret"),
    );
  for (const url of ["127.0.0.1:7700", "localhost:7700", "ftp://x", "http://"])
    assert.throws(() => new Ragctx({ url }), (error) => error instanceof UsageError && /url is .*; begin it with http/.test(error.message));
});

test("an id that would change the path is refused", async () => {
  const ragctx = here("ids");
  for (const id of ["", ".", ".."]) {
    await assert.rejects(ragctx.documents.delete(id), UsageError);
    await assert.rejects(ragctx.memories.history(id), /would change the path; use an id/);
  }
  await ragctx.documents.put("...", { text: "Dots." });
  assert.equal((await ragctx.documents.get("...")).text, "Dots.");
});

test("a key", async () => {
  const key = `rgx_01234567_${"k".repeat(43)}`;
  process.env["RAGCTX_FIRST_KEY"] = key;
  const ragctx = await Ragctx.local();
  delete process.env["RAGCTX_FIRST_KEY"];
  await assert.rejects(ragctx.status(), Unauthenticated);
  assert.ok((await ragctx.with({ key: ` ${key}\n` }).status()).embedder);
  await ragctx.close();
});
