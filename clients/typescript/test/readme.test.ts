/** Every program of the README prints the text that follows it. tools/clients/run.sh puts them into programs/. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";

const programs = (await readdir("programs")).filter((name) => name.endsWith(".ts"));
for (const name of programs)
  test(`README program ${name}`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [`out/programs/${name.replace(".ts", ".js")}`], { timeout: 60_000 });
    assert.equal(stdout, await readFile(`programs/${name.replace(".ts", ".txt")}`, "utf8"));
  });
assert.ok(programs.length > 0);
