// Runs the tests of the pages: each file of pages/ exports tests by name, functions of a context (harness.mjs).
import { readdirSync } from "node:fs";
import { join, basename } from "node:path";
import { Browser } from "./harness.mjs";

const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const files = readdirSync(join(here, "pages")).filter((f) => f.endsWith(".mjs"))
  .filter((f) => wanted.length === 0 || wanted.includes(basename(f, ".mjs"))).sort();
if (files.length === 0) throw new Error(`no page is named ${wanted.join(" or ")}`);

const browser = await Browser.start();
let failed = 0, passed = 0;
try {
  for (const file of files) {
    const tests = await import(join(here, "pages", file));
    for (const [name, test] of Object.entries(tests)) {
      if (process.env.TEST && name !== process.env.TEST) continue;
      const began = Date.now();
      const context = await browser.context();
      try {
        let timer;
        const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error("the test takes longer than two minutes")), 120_000); });
        await Promise.race([test(context), late]).finally(() => clearTimeout(timer));
        await context.finish();
        passed++;
        console.log(`ok    ${basename(file, ".mjs")} ${name} (${Date.now() - began} ms)`);
      } catch (err) {
        failed++;
        console.log(`FAIL  ${basename(file, ".mjs")} ${name}\n${err.stack}\n${context.log()}`);
      } finally {
        await context.close();
      }
    }
  }
} finally {
  await browser.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
