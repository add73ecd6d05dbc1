// Runs the tests of the pages: each file of pages/ exports tests by name, functions of a context (harness.mjs).
import { readdirSync } from "node:fs";
import { join, basename } from "node:path";
import { Browser } from "./harness.mjs";

const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const files = readdirSync(join(here, "pages")).filter((f) => f.endsWith(".mjs"))
  .filter((f) => wanted.length === 0 || wanted.includes(basename(f, ".mjs"))).sort();
if (files.length === 0) throw new Error(`no page is named ${wanted.join(" or ")}`);

// passes runs a test in a context of its own, and prints how it ended.
async function passes(file, name, test) {
  const began = Date.now();
  if (browser.ended) browser = await Browser.start();
  const context = await browser.context();
  try {
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("the test takes longer than three minutes")), 180_000); });
    await Promise.race([test(context), late]).finally(() => clearTimeout(timer));
    await context.finish();
    console.log(`ok    ${basename(file, ".mjs")} ${name} (${Date.now() - began} ms)`);
    return true;
  } catch (err) {
    console.log(`FAIL  ${basename(file, ".mjs")} ${name}\n${err.stack}\n${context.log()}`);
    return false;
  } finally {
    await context.close();
  }
}

let browser = await Browser.start();
let failed = 0, passed = 0;
try {
  for (const file of files) {
    const tests = await import(join(here, "pages", file));
    for (const [name, test] of Object.entries(tests)) {
      if (process.env.TEST && name !== process.env.TEST) continue;
      // A browser on a busy machine may lose a click or a page: a test that fails is tried once more, and both are printed.
      if (await passes(file, name, test) || await passes(file, name, test)) passed++;
      else failed++;
    }
  }
} finally {
  await browser.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
