// The stored conversations: branches, tokens, compactions, and what a model is shown.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, fits, picture, root, until } from "../harness.mjs";

// talked is a server with a long session of ada: dialogues of testdata, calls of tools and a second branch.
const talked = async (t, options = {}) => {
  const s = await t.serve(options);
  const messages = [{ id: "first", role: "system", content: "You repair software." }];
  for (const file of ["daily", "updates", "remember"]) {
    for (const line of readFileSync(join(root, `testdata/memory/dev/${file}.jsonl`), "utf8").split("\n").filter(Boolean)) {
      for (const turn of JSON.parse(line).turns) {
        messages.push({ role: "user", content: turn.user });
        if (turn.assistant) messages.push({ role: "assistant", content: turn.assistant });
      }
    }
  }
  await s.call("POST", "/v1/sessions", { id: "s-1", user_id: "ada", messages: messages.slice(0, 90) });
  const append = (body) => s.call("POST", "/v1/sessions/s-1/messages?user_id=ada", body);
  await append({ messages: [{ id: "ask", role: "user", content: "The login fails after midnight." }] });
  await append({ format: "openai", step: { execution_id: "run-1", step_id: "1" }, messages: [
    { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "grep", arguments: "{\"for\": \"rotate\"}" } }] },
    { role: "tool", tool_call_id: "c1", content: "keys.go:17: rotate at 00:00" }] });
  await append({ step: { execution_id: "run-1", step_id: "2", final: true }, messages: [{ id: "answer", role: "assistant", content: "Keys rotate at midnight. Reload them." }] });
  await s.call("PUT", "/v1/sessions/s-1/messages/answer/label?user_id=ada", { label: "the cause" });
  await append({ parent_id: "ask", messages: [{ id: "sundays", role: "user", content: "And only on Sundays." }, { id: "other", role: "assistant", content: "Then look at the weekly job." }] });
  await s.call("POST", "/v1/sessions/s-1:navigate?user_id=ada", { message_id: "answer" });
  return s;
};

export async function conversation(t) {
  const s = await talked(t);
  const page = await t.open(s, "/console/conversations");
  await page.getByRole("rowheader", { name: "s-1" }).waitFor();
  await accessible(page);
  await fits(page);
  await page.getByRole("link", { name: "s-1" }).click();
  await page.getByRole("heading", { level: 1, name: "s-1" }).waitFor();
  await page.getByText(/^Stored: [\d\s]+ tokens. Shown to the model: [\d\s]+ tokens/).first().waitFor();
  assert.equal(await page.locator("svg.graph circle.leaf").count(), 1);
  assert.equal(await page.locator(".tips li").count(), 2);
  const stored = page.locator(".sides.stored section").first(), seen = page.locator(".sides.stored section").nth(1);
  assert.match(await stored.locator("li", { hasText: "rotate at 00:00" }).textContent(), /hidden: a step of an earlier execution/);
  assert.equal(await seen.locator("li", { hasText: "rotate at 00:00" }).count(), 0);
  assert.match(await seen.textContent(), /steps of earlier executions: 2 messages/);
  await accessible(page);
  await fits(page);
  // The other branch, by the keyboard, and back.
  const other = page.locator(".tips a", { hasText: "weekly job" });
  await other.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/leaf=other/);
  assert.equal(await stored.locator("li", { hasText: "only on Sundays" }).count(), 1);
  assert.equal(await stored.locator("li", { hasText: "Keys rotate" }).count(), 0);
  await page.goBack();
  await stored.locator("li", { hasText: "Keys rotate" }).waitFor();
  await page.goForward();
  await page.getByRole("button", { name: "Continue from here" }).click();
  await page.getByRole("status").getByText("The next message follows").waitFor();
  assert.equal((await s.call("GET", "/v1/sessions/s-1?user_id=ada")).leaf, "other");
}

export async function compactions(t) {
  const s = await talked(t);
  const page = await t.open(s, "/console/conversations/one?id=s-1&user=ada");
  await page.getByText("None: the model is shown").waitFor();
  await page.getByLabel("Window of the model").fill("1500");
  await page.keyboard.press("Enter");
  await page.waitForURL(/window=1500/);
  await page.locator(".lines .limit").waitFor({ state: "attached" });
  assert.match(await page.locator(".sides.stored").textContent(), /left out: newer messages use the window/);
  await page.getByRole("button", { name: "Compact now" }).click();
  await page.getByText("Compacted: a summary").waitFor();
  const record = page.locator(".records > li");
  assert.match(await record.textContent(), /extractive.*tokens before.*after.*Replaced: \d+ messages/s);
  await record.locator("summary", { hasText: "Replaced" }).click();
  await record.getByRole("link").first().click();
  assert.match(await page.locator(".messages > li:target").textContent(), /replaced by compaction 1/);
  assert.match(await page.locator(".messages .summary").textContent(), /made by compaction.*Context Summary/s);
  await page.locator(".lines").waitFor();
  await accessible(page);
  await fits(page);
  await page.getByRole("button", { name: "Undo the newest compaction" }).click();
  await page.getByText("is undone; its messages").waitFor();
  assert.deepEqual((await s.call("GET", "/v1/sessions/s-1/compactions?user_id=ada")).compactions, []);
  await page.goto(s.url + "/console/conversations/one?id=s-1&user=ada");
  await s.call("POST", "/v1/sessions", { id: "short", messages: [{ role: "user", content: "Hello." }] });
  await page.goto(s.url + "/console/conversations/one?id=short");
  await page.getByRole("button", { name: "Compact now" }).click();
  await page.getByText("Nothing was compacted:").waitFor();
}

export async function hostile(t) {
  const s = await t.serve();
  const bad = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"'><svg/onload=window.hacked=1>${"y".repeat(200)}`;
  const id = `../a b?c#${bad}`.slice(0, 200);
  await s.call("POST", "/v1/sessions", { id, user_id: bad, messages: [
    { id: bad, role: "user", name: bad, content: bad, metadata: { is_trace: "x", [bad]: bad } },
    { role: "assistant", content: [{ type: "tool_use", id: bad, name: bad, input: { [bad]: bad } }] },
    { role: "tool", content: [{ type: "tool_result", tool_use_id: bad, content: bad.repeat(5) }] },
    { role: "user", content: [{ type: "image", media_type: bad.slice(0, 60), data: "AAAA" }] }] });
  const page = await t.open(s, "/console/conversations");
  await fits(page);
  await page.locator("tbody a").first().click();
  await page.locator(".messages").first().waitFor();
  await page.locator(".lines").waitFor();
  await fits(page);
  for (const link of await page.locator(".tips a, svg.graph a").all()) await link.click();
  await page.locator(".messages").first().waitFor();
  assert.equal(await page.locator("main script, main img").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
}

export async function wrongRequests(t) {
  const s = await talked(t);
  t.expect(/4\d\d/);
  for (const bad of ["one?id=none", "one?id=s-1&user=ada&window=x", "one?id=s-1&user=ada&leaf=none", "?cursor=x"]) {
    const page = await t.open(s, `/console/conversations${bad.startsWith("?") ? "" : "/"}${bad}`);
    await page.getByRole("alert").waitFor();
    await page.close();
  }
}

export async function serverGoesAway(t) {
  const s = await talked(t);
  t.expect(/ERR_CONNECTION_REFUSED|Failed to load resource|htmx:sendError|afterRequest|502|503|net::/);
  const page = await t.open(s, "/console/conversations/one?id=s-1&user=ada");
  await page.locator(".lines").waitFor();
  await s.stop();
  await s.start();
  await page.reload();
  await page.locator(".lines").waitFor();
}

export async function pictures(t) {
  const s = await talked(t);
  await s.call("POST", "/v1/sessions/s-1:compact?user_id=ada", { window: 3000 });
  const page = await t.open(s, "/console/conversations/one?id=s-1&user=ada&window=3000", { height: 900 });
  await page.locator(".lines").waitFor();
  await picture(page, "console-conversations");
}
