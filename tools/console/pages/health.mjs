// Health: sizes, latencies, recall, jobs, keys, the audit log, backup.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { accessible, fits, picture, root, until } from "../harness.mjs";

async function busy(t, options) {
  const s = await t.serve(options);
  for (const name of ["budget", "memory", "retrieval", "operations"]) await s.put({ [`docs/${name}.md`]: readFileSync(join(root, `docs/${name}.md`), "utf8") });
  for (let i = 0; i < 60; i++) await s.call("POST", "/v1/context", { query: `what fits into the budget ${i}?` });
  return s;
}

export async function overview(t) {
  const s = await busy(t, { args: ["--recall-sample", "1"] });
  await until(async () => assert.ok((await s.call("GET", "/v1/indexes")).documents.recall));
  const page = await t.open(s, "/console/health");
  await page.getByText("Everything works.").waitFor();
  assert.match(await page.locator(".figures").textContent(), /Documents4/);
  assert.match(await page.locator(".gauges").textContent(), /recall@10 [01]\.\d\d \([01]\.\d\d to [01]\.\d\d\), \d+ samples?/);
  assert.match(await page.locator(".stages").textContent(), /engine/);
  const row = await page.locator(".requests tr", { hasText: "POST /v1/context" }).textContent();
  assert.match(row, /60/);
  await accessible(page);
  await fits(page);
  await s.put({ "new.txt": "a new text" });
  await until(async () => assert.match(await page.locator(".figures").textContent(), /Documents5/)); // follows by itself
  await picture(page, "console-health");
}

export async function serverGoesAway(t) {
  const s = await busy(t);
  t.expect(/ERR_CONNECTION_REFUSED|Failed to load resource|htmx:sendError|afterRequest/);
  const page = await t.open(s, "/console/health");
  await s.stop();
  await page.getByText("The server does not answer").waitFor(); // the page asks every five seconds
  await s.start();
  await page.locator("#offline").waitFor({ state: "hidden" });
  await s.put({ "new.txt": "a new text" });
  await until(async () => assert.match(await page.locator(".figures").textContent(), /Documents5/));
}

export async function backup(t) {
  const s = await busy(t);
  const page = await t.open(s, "/console/health");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download a snapshot" }).click()]);
  assert.match(file.suggestedFilename(), /^ragctx-\d{4}-\d\d-\d\d-\d{4}\.snapshot$/);
  const path = await file.path();
  assert.ok(statSync(path).size > 10_000);
  const into = join(s.data, "..", `restored-${s.port}`);
  execFileSync(process.env.RAGCTX, ["restore", path, "--data", into]);
}

export async function checkAndJobs(t) {
  const s = await busy(t);
  const page = await t.open(s, "/console/health/jobs");
  await page.getByText("There are no jobs").waitFor();
  await page.goto(s.url + "/console/health");
  await page.getByRole("button", { name: "Check the data directory" }).click();
  await page.locator(".job strong", { hasText: "done" }).waitFor({ timeout: 60_000 });
  await page.reload();
  assert.match(await page.getByRole("heading", { name: "What the check found" }).locator("..").textContent(), /0 differences from the database/);
  await accessible(page);
  // A job that has work for a while can be cancelled.
  const lines = Array.from({ length: 4000 }, (_, i) => JSON.stringify({ id: `n${i}`, text: `note ${i} of the harbour. `.repeat(60) }));
  await s.call("POST", "/v1/documents:bulk", lines.join("\n"), { "Content-Type": "application/x-ndjson" });
  await page.goto(s.url + "/console/health/jobs");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".job strong", { hasText: "cancelled" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Retry" }).count(), 0, "a cancelled job has dropped its items");
  await page.goto(s.url + "/console/health/jobs");
  await accessible(page);
  await fits(page);
}

// The first key is created in the console, and its creator stays signed in.
export async function keys(t) {
  const s = await t.serve();
  t.expect(/401/);
  t.onDialog = (d) => d.accept();
  const page = await t.open(s, "/console/health/keys");
  await page.getByLabel("Purpose").fill("<b>operations</b>");
  await page.getByLabel("Role").selectOption("admin");
  await page.getByRole("button", { name: "Create" }).click();
  const admin = await page.locator("#made").textContent();
  assert.match(admin, /^rgx_/);
  await accessible(page);
  s.key = admin;
  await page.goto(s.url + "/console/health/keys");
  assert.ok(!(await page.content()).includes(admin), "a key is shown once");
  await page.getByLabel("Purpose").fill("billing agent");
  await page.getByLabel("Only these namespaces").fill("billing, team");
  await page.getByLabel("Expires in days").fill("30");
  await page.getByRole("button", { name: "Create" }).click();
  const row = page.locator("tbody tr", { hasText: "billing agent" });
  assert.match(await row.textContent(), /read.*billing, team/);
  await row.getByRole("button", { name: "Revoke billing agent" }).click();
  await page.locator("tbody tr", { hasText: "billing agent" }).getByText("revoked").waitFor();
  await fits(page);
  await page.getByRole("link", { name: "Audit log" }).click();
  await until(async () => { await page.reload(); assert.match(await page.locator("tbody").textContent(), /revoke-key/); });
  assert.match(await page.locator("tbody").textContent(), /<b>operations<\/b>/);
  await accessible(page);
  await fits(page);
}

// A key with fewer rights sees the page, and what it may not see says why.
export async function lesserKeys(t) {
  const s = await t.serve({ keys: true });
  t.expect(/403/);
  const { key } = await s.call("POST", "/v1/keys", { name: "reader", role: "read", namespaces: ["team"] });
  const page = await t.open(s, "/console/health");
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByText("needs the role admin").waitFor();
  assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0);
  await page.goto(s.url + "/console/health/keys");
  await page.getByRole("alert").waitFor();
  await page.goto(s.url + "/console/health/snapshot");
  await page.getByRole("alert").waitFor();
}
