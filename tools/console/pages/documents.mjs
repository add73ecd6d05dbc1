// The documents: browse, search, upload, chunks, versions, duplicates, delete and undo.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, fits, picture, root, until } from "../harness.mjs";

const text = (name) => readFileSync(join(root, `docs/${name}.md`), "utf8");

export async function browse(t) {
  const s = await t.serve();
  for (const name of ["budget", "memory", "retrieval"]) await s.put({ [`docs/${name}.md`]: { text: text(name), mime: "text/markdown", tags: ["guide"] } });
  await s.put({ "notes/a.txt": "the pager goes to the platform team", "b.txt": "on Fridays nobody deploys" });
  const page = await t.open(s, "/console/documents");
  assert.deepEqual(await page.locator(".folder th").allTextContents(), ["no folder", "docs", "notes"]);
  await accessible(page);
  await fits(page);
  await page.getByRole("link", { name: "docs", exact: true }).click();
  assert.equal(await page.locator("tbody tr:not(.folder)").count(), 3);
  assert.equal(await page.getByLabel("Ids that begin with").inputValue(), "docs/");
  await page.getByRole("link", { name: "budget.md" }).click();
  await page.getByRole("heading", { level: 1, name: "docs/budget.md" }).waitFor();
  const chunks = page.locator(".chunk");
  const { chunk_list: wanted, text: whole } = await s.call("GET", "/v1/documents/docs%2Fbudget.md?chunks=true");
  assert.equal(await chunks.count(), wanted.length);
  const bytes = Buffer.from(whole);
  for (const i of [0, 5, wanted.length - 1]) {
    const shown = await chunks.nth(i).locator("pre").textContent();
    assert.equal(shown.replace(/^\n/, ""), bytes.subarray(wanted[i].start.byte, wanted[i].end.byte).toString(), `chunk ${i}`);
  }
  await accessible(page);
  await fits(page);
  await page.goBack();
  await page.goBack();
  await page.getByLabel("Search in the texts").fill("who carries the pager?");
  await page.keyboard.press("Enter");
  await page.locator(".found a", { hasText: "platform team" }).or(page.locator(".found a").first()).first().click();
  await page.locator(".chunk[data-wanted]").waitFor();
  assert.match(await page.locator(".chunk[data-wanted]").textContent(), /pager/);
  await page.goBack();
  assert.match(await page.locator(".found").textContent(), /pager/);
  await accessible(page);
}

// A folder of real documents, such as the documentation of Kubernetes. TREE names it.
export async function tree(t) {
  if (!process.env.TREE) return console.log("      skipped: TREE names no folder of documents");
  const s = await t.serve();
  const counts = execFileSync(process.env.RAGCTX, ["ingest", process.env.TREE, "--server", s.url], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const stored = (await s.call("GET", "/v1/status")).total.documents;
  assert.ok(stored > 0, counts);
  const page = await t.open(s, "/console/playground?q=how+are+the+pods+of+a+deployment+restarted%3F");
  assert.ok(await page.locator(".items > li").count() > 3);
  await accessible(page);
  await fits(page);
  for (const path of ["documents", "documents?q=restart+policy", "documents/duplicates", "map", "map?q=restart+policy", "health"]) {
    await page.goto(`${s.url}/console/${path}`);
    if (path.startsWith("map")) await page.locator("canvas[data-drawn]").waitFor({ timeout: 120_000 });
    await page.getByRole("alert").waitFor({ state: "detached" });
    await accessible(page);
    await fits(page);
  }
  await page.goto(`${s.url}/console/documents`);
  for (let seen = 0; ; await page.getByRole("link", { name: "Next documents" }).click()) {
    const rows = page.locator("tbody tr:not(.folder)");
    await until(async () => assert.notEqual(await rows.first().textContent(), seen));
    seen = await rows.first().textContent();
    await rows.first().getByRole("link").first().click();
    await page.locator(".chunk").first().waitFor();
    await fits(page);
    await page.goBack();
    if (await page.getByRole("link", { name: "Next documents" }).count() === 0) break;
  }
}

export async function many(t) {
  const s = await t.serve();
  const lines = Array.from({ length: 10_000 }, (_, i) => JSON.stringify({ id: `n/${String(i).padStart(5, "0")}`, text: `note ${i} of the harbour ${i * 7919}` }));
  await s.call("POST", "/v1/documents:bulk?wait=2m", lines.join("\n"), { "Content-Type": "application/x-ndjson" });
  const page = await t.open(s, "/console/documents");
  assert.equal(await page.locator("tbody tr:not(.folder)").count(), 100);
  await page.getByRole("link", { name: "Next documents" }).click();
  await page.getByRole("link", { name: "00100", exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "00000", exact: true }).waitFor();
  await page.getByLabel("Ids that begin with").fill("n/0999");
  await page.keyboard.press("Enter");
  await until(async () => assert.equal(await page.locator("tbody tr:not(.folder)").count(), 10));
  await page.getByRole("link", { name: "Near duplicates" }).click();
  await page.getByRole("heading", { level: 1, name: "Near duplicates" }).waitFor();
}

export async function uploadFiles(t) {
  t.expect(/409/);
  const s = await t.serve();
  const page = await t.open(s, "/console/documents");
  const dir = join(s.data, "..", `files-${s.port}`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "one.md"), "# One\n\nThe lighthouse keeper counts ships.");
  writeFileSync(join(dir, "broken.pdf"), "%PDF-1.4 broken");
  await page.getByLabel("Prefix of their ids").fill("up/");
  await page.locator(".upload input[type=file]").setInputFiles([join(dir, "one.md"), join(dir, "broken.pdf")]);
  await page.locator(".uploads .job strong", { hasText: "done" }).waitFor();
  assert.match(await page.locator(".uploads").textContent(), /1 created, 1 failed/);
  await page.getByRole("link", { name: "one.md" }).waitFor(); // the list follows
  await accessible(page);
  await page.getByRole("link", { name: "what failed" }).click();
  await page.getByRole("cell", { name: "up/broken.pdf" }).waitFor();
  assert.ok((await page.locator("td").nth(1).textContent()).length > 10, "the reason is shown");
  await accessible(page);
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("alert").getByText("retry").waitFor(); // a broken file stays broken, and REST says so
}

export async function dropFiles(t) {
  const s = await t.serve();
  const page = await t.open(s, "/console/documents");
  const drop = (kind) => page.evaluate((kind) => {
    const data = new DataTransfer();
    for (const i of [1, 2, 3]) data.items.add(new File([`# Dropped ${i}\n\nA gull sat on the roof, number ${i}.`], `drop${i}.md`, { type: "text/markdown" }));
    document.querySelector(".upload").dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, kind);
  await drop("dragover");
  await page.locator(".upload[data-over]").waitFor();
  await drop("drop");
  await page.locator(".uploads .job strong", { hasText: "done" }).waitFor();
  assert.match(await page.locator(".uploads").textContent(), /3 items 3 created/);
  await page.getByRole("link", { name: "drop2.md" }).waitFor();
}

export async function versionsAndDelete(t) {
  const s = await t.serve();
  for (const pager of ["network", "platform", "database"]) {
    await s.put({ "oncall.md": { text: `# On call\n\nThe pager goes to the ${pager} team.\n\nSame line.`, title: "On call", tags: ["ops"], metadata: { team: pager } } });
  }
  const page = await t.open(s, "/console/documents/one?id=oncall.md");
  assert.equal(await page.locator(".versions li").count(), 3);
  await page.locator(".versions li").nth(2).getByRole("link", { name: "difference" }).click();
  await page.getByRole("heading", { level: 1, name: "Difference" }).waitFor();
  assert.match(await page.locator(".removed").textContent(), /network/);
  assert.match(await page.locator(".added").textContent(), /database/);
  await accessible(page);
  await fits(page);
  await page.goBack();
  await page.getByRole("link", { name: "Version 1" }).click();
  await page.getByText("not the current one").waitFor();
  assert.ok(await page.getByRole("button", { name: "Delete" }).isHidden(), "an old version cannot be deleted alone");
  await page.goto(s.url + "/console/documents/one?id=oncall.md");
  t.onDialog = (d) => d.dismiss();
  await page.getByRole("button", { name: "Delete" }).click();
  assert.equal(t.dialogs, 1);
  assert.match(page.url(), /one\?id=oncall/, "a dismissed question changes nothing");
  t.onDialog = (d) => d.accept();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("“oncall.md” is deleted.").waitFor();
  assert.equal((await s.call("GET", "/v1/documents")).documents.length, 0);
  await accessible(page);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { level: 1, name: "oncall.md" }).waitFor();
  const back = await s.call("GET", "/v1/documents/oncall.md");
  assert.match(back.text, /database team/);
  assert.deepEqual([back.tags, back.metadata.team, back.title], [["ops"], "database", "On call"]);
  await page.getByRole("button", { name: "Erase" }).click();
  await page.getByText("“oncall.md” is deleted.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
  await assert.rejects(s.call("GET", "/v1/documents/oncall.md?version=1"), /404/);
}

export async function duplicates(t) {
  const s = await t.serve();
  await s.put({ "a.md": text("budget"), "b.md": text("budget").replace("4,000", "5,000"), "c.md": text("memory") });
  const page = await t.open(s, "/console/documents/duplicates");
  assert.match(await page.locator("tbody").textContent(), /a\.md.*b\.md.*alike/s);
  await accessible(page);
  await page.getByRole("link", { name: "Difference from the first" }).click();
  assert.match(await page.locator(".added").first().textContent(), /5,000/);
}

export async function missing(t) {
  const s = await t.serve();
  t.expect(/404/);
  const page = await t.open(s, "/console/documents/one?id=nothing.md");
  await page.getByRole("alert").getByText("not found").waitFor();
}

export async function hostile(t) {
  const s = await t.serve();
  const bad = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"'><svg/onload=window.hacked=1>`;
  const id = `javascript:alert(1)//${bad}/..`;
  for (const n of [1, 2]) {
    await s.put({ [id]: { text: `# ${bad}\n\n${bad} ${n}\n\n${"y".repeat(2000)}`, title: bad, source: `javascript:${bad}`, mime: "text/markdown", tags: [bad.slice(0, 60)], metadata: { [bad.slice(0, 40)]: bad, list: [bad] } } });
  }
  const page = await t.open(s, "/console/documents");
  const safe = async () => {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("main script, main img, [href^=javascript]").count(), 0);
    await fits(page);
  };
  await safe();
  await page.locator("tbody td a").first().click();
  await page.locator(".chunk").first().waitFor();
  await safe();
  await page.getByRole("link", { name: "difference" }).click();
  await page.locator(".added").first().waitFor();
  await safe();
  await page.goto(`${s.url}/console/documents?${new URLSearchParams({ q: bad })}`);
  await safe();
  await page.goto(`${s.url}/console/documents?${new URLSearchParams({ prefix: bad, root: bad, deleted: bad, version: bad })}`);
  await safe();
}

// A key may change only what its role allows.
export async function readersCannotDelete(t) {
  const s = await t.serve({ keys: true });
  await s.put({ "a.txt": "the pager" });
  const { key } = await s.call("POST", "/v1/keys", { name: "reader", role: "read" });
  t.expect(/403/);
  const page = await t.open(s, "/console/documents/one?id=a.txt");
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "a.txt" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /Delete|Erase/ }).count(), 0);
  // The button of a page that was opened with another key is refused.
  const refused = await page.evaluate(async () => {
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch("/console/documents/delete", { method: "POST", headers, body: "id=a.txt" });
    return `${answer.status} ${await answer.text()}`;
  });
  assert.match(refused, /^403 .*needs the role write/s);
  await page.goto(s.url + "/console/documents");
  await page.getByRole("link", { name: "a.txt" }).waitFor();
  assert.equal(await page.locator(".upload").count(), 0);
  assert.equal((await s.call("GET", "/v1/documents")).documents.length, 1);
}

export async function pictures(t) {
  const s = await t.serve();
  const first = text("budget").split("\n");
  for (const body of [[...first.slice(0, 20), ...first.slice(24)].join("\n"), first.join("\n")]) {
    await s.put({ "docs/budget.md": { text: body, mime: "text/markdown", source: "file:docs/budget.md" } });
  }
  const page = await t.open(s, "/console/documents/one?id=docs%2Fbudget.md&chunk=2#chunk-2", { width: 1180, height: 620 });
  await page.evaluate(() => scrollTo(0, 0));
  await picture(page, "console-document");
}
