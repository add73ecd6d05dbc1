// The map: the chunks of a namespace as points.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { accessible, fits, picture, root, until } from "../harness.mjs";

// mapped is a server with the docs of this repository, one of them twice.
const mapped = async (t, options = {}) => {
  const s = await t.serve(options);
  for (const [folder, tag] of [["docs", "guide"], ["docs/decisions", "decision"], ["docs/api", "reference"]]) {
    for (const name of readdirSync(join(root, folder)).filter((n) => n.endsWith(".md"))) {
      const text = readFileSync(join(root, folder, name), "utf8").slice(0, 30000);
      await s.call("PUT", `/v1/documents/${folder}/${name}`, { text, source: `file:${folder}/${name}`, tags: [tag] });
    }
  }
  await s.put({ "copies/budget.md": { text: readFileSync(join(root, "docs/budget.md"), "utf8"), source: "file:copies/budget.md" } });
  return s;
};

const drawn = async (page) => {
  await page.locator("canvas[data-drawn]").waitFor();
  return Number(await page.locator("canvas").getAttribute("data-drawn"));
};

export async function map(t) {
  const s = await mapped(t);
  const page = await t.open(s, "/console/map");
  const count = await drawn(page);
  assert.ok(count > 200, `${count} points`);
  const ink = () => page.evaluate(() => {
    const c = document.getElementById("map"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
    for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 180) seen.add(`${d[i] >> 4},${d[i + 1] >> 4},${d[i + 2] >> 4}`);
    return seen.size;
  });
  assert.ok(await ink() > 5, "several colours are drawn");
  assert.match(await page.locator(".map-legend").textContent(), /file:docs\/decisions\d+/);
  assert.match(await page.locator(".beside").textContent(), /Outliers.*Near duplicates.*budget.md.*copies\/budget.md.*1\.00/s);
  // The chunk under the pointer, and by the keyboard.
  const box = await page.locator("canvas").boundingBox();
  for (let y = 0.2; y < 0.9 && !(await page.locator("canvas").getAttribute("data-at")); y += 0.01) await page.mouse.move(box.x + box.width / 2, box.y + box.height * y);
  await page.locator("#chunk a").waitFor();
  await page.locator("canvas").focus();
  const before = await page.locator("#chunk").textContent();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await until(async () => assert.notEqual(await page.locator("#chunk").textContent(), before));
  await page.locator(".beside a[data-point]").first().focus();
  const wanted = await page.locator(".beside a[data-point]").first().textContent();
  await until(async () => assert.equal(await page.locator("#chunk a").textContent(), wanted));
  await accessible(page);
  await fits(page);
  // Colours by tag, in the address.
  await page.getByLabel("Colour by").selectOption("tag");
  await page.waitForURL(/by=tag/);
  await drawn(page);
  assert.match(await page.locator(".map-legend").textContent(), /reference\d+/);
  // A question drops its point and its neighbours.
  await page.getByLabel("Question").fill("how are items fitted into the token budget?");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=how/);
  await drawn(page);
  assert.ok(await page.locator("canvas").getAttribute("data-question"));
  assert.equal((await page.locator("canvas").getAttribute("data-near")).split(",").length, 10);
  assert.match(await page.locator(".beside table").first().textContent(), /budget/);
  await accessible(page);
  await fits(page);
  const at = page.url();
  await page.locator(".beside table").first().getByRole("link").first().click();
  await page.waitForURL(/documents\/one/);
  await page.goBack();
  assert.equal(page.url(), at);
  await drawn(page);
  // What is stored later is on the map when it is drawn again.
  await s.put({ "later.md": "# Later\n\nA page that came later." });
  await page.getByRole("button", { name: "Draw again" }).click();
  await until(async () => assert.equal(await drawn(page), count + 1));
  // What was erased since is not named, though its point is still there.
  await s.call("DELETE", "/v1/documents/copies%2Fbudget.md?erase=true");
  await page.reload();
  await drawn(page);
  assert.doesNotMatch(await page.locator(".beside").textContent(), /copies\/budget\.md/);
  await page.getByText("no longer stored").first().waitFor();
}

export async function nothing(t) {
  const s = await t.serve();
  const page = await t.open(s, "/console/map");
  await page.getByText("has no chunks of documents").waitFor();
  await accessible(page);
  await s.put({ one: "One chunk alone." });
  await page.getByRole("button", { name: "Draw again" }).click();
  await until(async () => assert.equal(await drawn(page), 1));
  await page.goto(s.url + "/console/map?q=%21%21%21");
  await page.getByText("cannot represent this question").waitFor();
}

// A key sees the map of its own namespace only, also while the map of another key is kept.
export async function keys(t) {
  const s = await mapped(t, { keys: true });
  t.expect(/403/);
  const { key } = await s.call("POST", "/v1/keys", { name: "reader", role: "read", namespaces: ["team"] }).then((k) => ({ key: k.key ?? k.text ?? k.secret }));
  const page = await t.open(s, "/console/map");
  await page.getByLabel("API key").fill(s.key);
  await page.keyboard.press("Enter");
  await drawn(page);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
  for (const path of ["map", "map/points", "map/drawn", "map/chunk?i=0"]) {
    assert.equal((await page.goto(`${s.url}/console/${path}${path.includes("?") ? "&" : "?"}namespace=default`)).status(), 403, path);
  }
}

export async function hostile(t) {
  const s = await t.serve();
  const bad = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"'><svg/onload=window.hacked=1>${"y".repeat(200)}`;
  for (const n of [1, 2, 3]) {
    await s.call("PUT", `/v1/documents/${encodeURIComponent(`${n}${bad}`.slice(0, 300))}`, { text: `# ${bad}\n\n${"The pager of the team rotates every week. ".repeat(20)} ${bad} number ${n}`, title: bad, source: `${bad}/a/b`, tags: [bad.slice(0, 100)] });
  }
  const page = await t.open(s, `/console/map?${new URLSearchParams({ q: bad, by: "tag" })}`);
  await drawn(page);
  await page.locator(".beside a[data-point]").first().focus();
  await page.locator("#chunk a").waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main script:not([src]), main img").count(), 0);
  await fits(page);
}

// Twenty thousand points of 25,000 chunks. The figures are printed; machines of tests are slow.
export async function large(t) {
  const s = await t.serve();
  const words = "pager budget token memory turn index vector query answer server client key role scope chunk source tag page list cursor".split(" ");
  let x = 1;
  const word = () => words[(x = (x * 48271) % 2147483647) % words.length];
  for (let d = 0; d < 50; d++) {
    const text = Array.from({ length: 500 }, (_, i) => `## Part ${i} ${word()} ${word()}\n\n${Array.from({ length: 24 }, word).join(" ")} ${d}-${i}.\n`).join("\n");
    await s.put({ [`d${d % 12}/${d}.md`]: { text, source: `file:d${d % 12}/${d}.md` } });
  }
  let began = Date.now();
  const page = await t.open(s, "/console/map");
  await page.locator("canvas[data-drawn]").waitFor({ timeout: 180_000 });
  console.log(`      ${await drawn(page)} points drawn after ${Date.now() - began} ms`);
  began = Date.now();
  await page.reload();
  await drawn(page);
  console.log(`      again from the cache after ${Date.now() - began} ms`);
  const cost = await page.evaluate(() => { const b = performance.now(); dispatchEvent(new Event("resize")); return performance.now() - b; });
  console.log(`      drawing takes ${cost.toFixed(0)} ms`);
  assert.ok(await drawn(page) > 15000);
}

export async function pictures(t) {
  const s = await mapped(t);
  const page = await t.open(s, "/console/map?q=how+are+items+fitted+into+the+token+budget%3F", { width: 1000, height: 860 });
  await drawn(page);
  await page.locator(".beside a[data-point]").first().focus();
  await page.locator("#chunk a").waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await picture(page, "console-map");
}
