// The browser, the server and the checks that all tests share.
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";

const { MODULES, WORK, RAGCTX, PICTURES, GALLERY } = process.env;
const require = createRequire(join(MODULES, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const root = join(import.meta.dirname, "../..");

// Server is a ragctx server in a data directory of its own.
export class Server {
  constructor() {
    this.data = mkdtempSync(join(WORK, "data-"));
    this.port = 0;
  }

  // start waits until the server prints its address. A second start has the same address and data.
  async start(args = [], env = {}) {
    this.args = args, this.env = env;
    this.output = "";
    this.process = spawn(RAGCTX, ["serve", "--addr", `127.0.0.1:${this.port}`, "--data", this.data, "--log-level", "warn", ...args],
      { cwd: WORK, env: { PATH: process.env.PATH, HOME: WORK, ...env } });
    this.ended = new Promise((done) => this.process.on("exit", done));
    const served = new Promise((resolve, reject) => {
      const read = (chunk) => {
        this.output += chunk;
        const found = this.output.match(/serves (http:\/\/127\.0\.0\.1:(\d+))[\s\S]*\nnamespace /);
        if (found) resolve(found);
      };
      this.process.stdout.on("data", read);
      this.process.stderr.on("data", read);
      this.ended.then(() => reject(new Error(`the server has ended: ${this.output}`)));
    });
    const found = await served;
    [this.url, this.port] = [found[1], Number(found[2])];
    return this;
  }

  async stop(signal = "SIGTERM") {
    this.process.kill(signal);
    await this.ended;
  }

  // call calls REST and returns the decoded answer.
  async call(method, path, body, headers = {}) {
    const answer = await fetch(this.url + path, {
      method, headers: { "Content-Type": "application/json", ...(this.key ? { Authorization: `Bearer ${this.key}` } : {}), ...headers },
      body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text && answer.headers.get("content-type").includes("json") ? JSON.parse(text) : text;
  }

  // put stores documents by id: texts, or objects with text, title and so on.
  async put(documents, namespace = "default") {
    for (const [id, document] of Object.entries(documents)) {
      await this.call("PUT", `/v1/documents/${encodeURIComponent(id)}?namespace=${namespace}`,
        typeof document === "string" ? { text: document } : document);
    }
  }
}

// Browser is Chromium with a profile of its own.
export class Browser {
  static async start() {
    const b = new Browser();
    b.chromium = await chromium.launchPersistentContext(mkdtempSync(join(WORK, "profile-")), {
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true,
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"],
    });
    b.chromium.on("close", () => { b.ended = true; });
    return b;
  }

  async stop() { await this.chromium.close(); }

  async context() { return new Context(await this.chromium.browser()?.newContext() ?? this.chromium, this); }
}

// Context is what a test gets: a page of a fresh profile, and servers that end with it.
export class Context {
  constructor(context, browser) {
    this.context = context;
    this.browser = browser;
    this.servers = [];
    this.faults = [];
    this.allowed = [/htmx:(sendAbort|afterRequest), .*htmx\.min\.js/]; // a newer request replaced it
  }

  log() { return [...this.faults, ...this.servers.map((s) => s.output)].join("\n"); }

  // serve starts a server. With keys it has an admin's key, which is in its property key.
  async serve({ keys = false, args = [] } = {}) {
    const s = await new Server().start(args, keys ? { RAGCTX_FIRST_KEY: "new" } : {});
    if (keys) s.key = s.output.match(/\brgx_\S+/)?.[0] ?? assert.fail(`no key in ${s.output}`);
    this.servers.push(s);
    return s;
  }

  // open opens an address of the server in a new page. A script that fails, a refused script and any error
  // in the page's log fail the test.
  async open(server, path, { width = 1440, height = 900, dark = false } = {}) {
    const page = await this.context.newPage();
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    page.on("pageerror", (err) => this.faults.push(`script error: ${err.stack}`));
    page.on("dialog", (d) => { this.dialogs = (this.dialogs ?? 0) + 1; (this.onDialog ?? (() => d.dismiss()))(d); });
    page.on("console", (m) => { if (m.type() === "error") this.faults.push(`console: ${m.text()} ${m.location().url}`); });
    await page.goto(server.url + path);
    return page;
  }

  // expect allows errors in the page's log that match.
  expect(pattern) { this.allowed.push(pattern); }

  // finish fails if a page had an error that was not expected.
  async finish() {
    const bad = this.faults.filter((f) => !this.allowed.some((a) => a.test(f)));
    assert.deepEqual(bad, [], "errors in the pages");
  }

  async close() {
    if (!this.browser.ended) {
      for (const p of this.context.pages()) await p.close();
      await this.context.clearCookies();
    }
    for (const s of this.servers) if (s.process.exitCode === null) await s.stop("SIGKILL");
  }
}

// accessible runs axe-core, in both colours, and fails for anything serious. It also fails if the page is
// wider than its window.
export async function accessible(page) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await exhibit(page, colorScheme);
    const found = await page.evaluate(`(() => { const module = undefined, exports = undefined, define = undefined; ${axe}; return window.axe.run(); })()`);
    const serious = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join("\n")}`), [], `axe in ${colorScheme}`);
  }
}

// fits checks the layout from 320 to 2560 pixels: nothing is wider than the window.
export async function fits(page) {
  const before = page.viewportSize();
  for (const width of [320, 640, 1024, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => {
      const over = document.documentElement.scrollWidth - innerWidth;
      if (over <= 0) return "";
      const guilty = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
        .slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
      return `${over} px too wide: ${guilty.join(" | ")}`;
    });
    assert.equal(wide, "", `at ${width} px`);
    await exhibit(page, width);
  }
  await page.setViewportSize(before);
}

// picture writes a screenshot for the docs if they are asked for.
export async function picture(page, name) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

// exhibit writes a picture of the whole page into GALLERY, for people who judge the design.
let exhibits = 0;
async function exhibit(page, what) {
  if (!GALLERY) return;
  mkdirSync(GALLERY, { recursive: true });
  const name = new URL(page.url()).pathname.replace("/console/", "").replaceAll("/", "-");
  await page.screenshot({ path: join(GALLERY, `${String(++exhibits).padStart(3, "0")}-${name}-${what}.png`), fullPage: true });
}

// until waits for a condition, and fails with its last error after a minute.
export async function until(check) {
  for (const began = Date.now(); ;) {
    try {
      return await check();
    } catch (err) {
      if (Date.now() - began > 60_000) throw err;
      await new Promise((again) => setTimeout(again, 50));
    }
  }
}
