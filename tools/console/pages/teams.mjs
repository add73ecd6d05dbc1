// The teams: the ledger of a cluster, live, and the pack of an agent.
import assert from "node:assert/strict";
import { accessible, fits, picture, until } from "../harness.mjs";

const say = (s, body, cluster = "issue-17") => s.call("POST", `/v1/clusters/${encodeURIComponent(cluster)}/messages`, body);

// team is a server with the messages of a planner, a worker and a validator.
const team = async (t) => {
  const s = await t.serve();
  await say(s, { topic: "ISSUE_OPENED", sender: "ada", text: "Login fails after midnight." });
  await say(s, { topic: "PLAN_READY", sender: "planner", text: "Reload the signing keys when they rotate.",
    data: { acceptanceCriteria: [{ id: "AC1", priority: "MUST", criterion: "a token of 23:59 works at 00:01" }] } });
  await say(s, { topic: "AGENT_LIFECYCLE", sender: "worker", data: { event: "TASK_STARTED" } });
  await say(s, { topic: "IMPLEMENTATION_READY", sender: "worker", text: "Keys are reloaded every hour.", data: { canValidate: true, percentComplete: 80 } });
  return s;
};

export async function ledger(t) {
  const s = await team(t);
  const page = await t.open(s, "/console/teams");
  await page.getByRole("link", { name: "issue-17" }).click();
  await page.locator("#ledger > li", { hasText: "PLAN_READY" }).last().waitFor();
  assert.match(await page.locator("main").textContent(), /State.*Task: Login fails/s);
  await accessible(page);
  await fits(page);
  await new Promise((later) => setTimeout(later, 300));
  await say(s, { topic: "VALIDATION_RESULT", sender: "validator", text: "A token of 23:59 fails <b>still</b>." });
  const first = page.locator("#ledger > li", { hasText: "VALIDATION_RESULT" }).filter({ hasText: "<b>still</b>" }).filter({ hasText: "validator" });
  await first.waitFor();
  assert.equal(await first.count(), 1, "a message comes once");
}

export async function serverGoesAway(t) {
  const s = await team(t);
  t.expect(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|Failed to load resource/);
  const page = await t.open(s, "/console/teams/one?cluster=issue-17");
  await page.locator("#ledger > li").first().waitFor();
  await s.stop();
  await s.start();
  await say(s, { topic: "VALIDATION_RESULT", sender: "validator", text: "It works." });
  const message = page.locator("#ledger > li", { hasText: "VALIDATION_RESULT" }).filter({ hasText: "validator" });
  await message.first().waitFor();
  assert.equal(await message.count(), 1, "a message comes once");
}

export async function pack(t) {
  const s = await team(t);
  const page = await t.open(s, "/console/teams/one?cluster=issue-17");
  await page.getByRole("textbox", { name: "Agent" }).fill("worker");
  await page.getByLabel("Role").fill("worker");
  await page.getByLabel("Strategy").fill('{"sources": [{"topic": "ISSUE_OPENED", "priority": "required", "amount": 1}, {"topic": "NOTHING"}], "maxTokens": 2000}');
  await page.getByRole("button", { name: "Show the pack" }).click();
  await page.getByText("What the agent is shown").waitFor();
  assert.match(await page.locator(".pack").textContent(), /of 2\D?000 tokens.*source:ISSUE_OPENED:0requiredincluded, full.*Messages from topic: ISSUE_OPENED.*Login fails/s);
  await accessible(page);
  await fits(page);
  await page.reload();
  await page.getByText("What the agent is shown").waitFor();
  t.expect(/422/);
  await page.getByLabel("Strategy").fill("{");
  await page.getByRole("button", { name: "Show the pack" }).click();
  await page.getByRole("alert").getByText("not JSON").waitFor();
  await page.goBack();
  await page.getByText("What the agent is shown").waitFor();
}

export async function hostile(t) {
  const s = await t.serve();
  const bad = `<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"'>${"y".repeat(150)}`;
  const body = { topic: bad, sender: bad, receiver: bad, text: bad, data: { [bad]: bad } };
  await say(s, body, bad);
  const page = await t.open(s, "/console/teams");
  await fits(page);
  await page.locator("tbody a").click();
  await page.locator("#ledger > li").waitFor();
  await new Promise((later) => setTimeout(later, 300));
  await say(s, body, bad);
  await until(async () => assert.equal(await page.locator("#ledger > li").count(), 2));
  await page.getByRole("button", { name: "Show the pack" }).click();
  await page.locator(".pack").waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main script, main img").count(), 0);
  await fits(page);
}

export async function none(t) {
  const s = await t.serve();
  t.expect(/404/);
  const page = await t.open(s, "/console/teams");
  await page.getByText("No cluster has messages").waitFor();
  await accessible(page);
  await page.goto(s.url + "/console/teams/one?cluster=none");
  await page.getByRole("alert").waitFor();
}

export async function pictures(t) {
  const s = await team(t);
  const page = await t.open(s, "/console/teams/one?cluster=issue-17", { width: 1100, height: 640 });
  await page.getByRole("textbox", { name: "Agent" }).fill("worker");
  await page.getByRole("button", { name: "Show the pack" }).click();
  await page.getByText("What the agent is shown").waitFor();
  await picture(page, "console-teams");
}
