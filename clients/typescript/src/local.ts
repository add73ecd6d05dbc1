import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { StartFailed } from "./errors.js";
import { env } from "./wire.js";

/** Settings of a server of one's own. */
export interface LocalOptions {
  /** data directory; default is a temporary one, which is removed afterwards */
  data?: string;
  /** the program; default is RAGCTX_BINARY, or ragctx on the PATH */
  binary?: string;
  /** further flags of `ragctx serve` */
  arguments?: string[];
}

/** A server that runs. */
export interface Server {
  url: string;
  /** End the server, and remove a temporary data directory. */
  stop(): Promise<void>;
}

// The supervisor is a process between the program and the server. Its standard input closes when the program ends, however it
// ends. Then it ends the server, and removes the data directory if it has made one.
const supervisor = `
const modules = ["child_process", "fs", "os", "path", "process"].map((name) => import("node:" + name));
Promise.all(modules).then(([child, fs, os, path, { default: process }]) => {
  const { binary, data, further } = JSON.parse(process.env.RAGCTX_SUPERVISED);
  const made = data === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), "ragctx-")) : undefined;
  const given = ["serve", "--addr", "127.0.0.1:0", "--data", data ?? made, ...further];
  const server = child.spawn(binary, given, { stdio: ["ignore", "inherit", "inherit"] });
  const end = () => server.kill();
  const exit = (code) => {
    if (made !== undefined) fs.rmSync(made, { recursive: true, force: true });
    process.exit(code);
  };
  process.stdin.on("end", end).on("error", end).resume();
  server.on("error", (error) => { console.error(error.message); exit(1); });
  server.on("exit", (code) => exit(code ?? 0));
});
`;

/** Start a server on a free port and wait until it is ready. It ends with the program, even if the program is killed. */
export async function start(options: LocalOptions): Promise<Server> {
  const binary = options.binary ?? env("RAGCTX_BINARY") ?? "ragctx";
  const supervised = { binary, data: options.data, further: options.arguments ?? [] };
  const child = spawn(process.execPath, ["Deno" in globalThis ? "eval" : "-e", supervisor], {
    detached: true,
    windowsHide: true,
    env: { ...process.env, RAGCTX_SUPERVISED: JSON.stringify(supervised) },
  });
  const exited = new Promise<void>((done) => child.on("exit", () => done()));
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  let said = "";
  child.stderr.on("data", (part) => (said = (said + String(part)).slice(-4096)));
  const output = createInterface({ input: child.stdout });
  const url = await new Promise<string | undefined>((done) => {
    output.on("line", (line) => line.startsWith("ragctx serves ") && done(line.split(" ")[2]));
    child.on("close", () => done(undefined));
  });
  if (url === undefined) {
    await stop();
    throw new StartFailed(`${binary} serve ended: ${said.trim()}`);
  }
  // The server does not keep the program running.
  for (const part of [child, child.stdin, child.stdout, child.stderr] as { unref?: () => void }[]) part.unref?.();
  return { url, stop };
}
