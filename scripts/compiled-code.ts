// Runs two servers after each other on a temporary data folder, with some requests, so that the first start
// of a user finds compiled code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storesAtEnd } from "../src/code-cache.ts";
import { sendFirst, sendSamples } from "./sample-requests.ts";

const runMsMax = 30_000;
const samplesMsMax = 15_000;
/** So many that each front thread gets most kinds of requests. */
const rounds = 5;
const key = "key-of-the-sample-requests";

/** Without success, as where no socket may listen, a build is complete too: the first start takes longer. */
export async function storeCompiledCode(root: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-build-"));
  const ownCache = join(root, "node_modules/.cache/millrace");
  removeOwn(ownCache, "");
  try {
    // The code is that of a server with data of an earlier one, as most starts are.
    const isStored =
      (await runServer(root, folder, {}, sendFirst)) &&
      (await runServer(root, folder, { [storesAtEnd]: "1" }, (server) => sendSamples(server, rounds)));
    // It lacks most functions, and would not be replaced.
    if (!isStored) removeOwn(process.env["NODE_COMPILE_CACHE"] ?? ownCache, "scripts-");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a server in the folder during these requests; returns whether all succeeded. */
async function runServer(
  root: string,
  folder: string,
  more: Readonly<Record<string, string>>,
  sendTo: typeof sendFirst,
): Promise<boolean> {
  const settings = Object.entries(process.env).filter(([name]) => !/^(MILLRACE|OTEL)_/.test(name));
  const env = {
    ...Object.fromEntries(settings),
    ...{ MILLRACE_DATA: join(folder, "data"), MILLRACE_ADMIN_KEY: key },
    ...{ MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: "0", ...more },
  };
  let areSent = false;
  const server = spawn(process.execPath, [join(root, "src/start.js"), "serve"], {
    // A server that hangs may ignore other signals, and the installation would hang with it.
    ...{ cwd: folder, env, timeout: runMsMax, killSignal: "SIGKILL" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(server, "close");
  server.stdout.setEncoding("utf8").once("data", async (output: string) => {
    const baseUrl = /^Millrace serves (\S+)/.exec(output)?.[1];
    areSent = baseUrl !== undefined && (await wereSent(baseUrl, sendTo));
    server.kill("SIGTERM"); // It stores the code of its threads when it stops.
  });
  await ended;
  return areSent;
}

async function wereSent(baseUrl: string, sendTo: typeof sendFirst): Promise<boolean> {
  try {
    await sendTo({ baseUrl, key, signal: AbortSignal.timeout(samplesMsMax) });
    return true;
  } catch (problem) {
    console.warn("The build stores no compiled code:", problem);
    return false;
  }
}

/** Removes folders of this user from a cache. Those of other users stay: they may not be removable. */
function removeOwn(cache: string, start: string): void {
  const end = process.getuid === undefined ? "" : `-${process.getuid()}`;
  try {
    for (const name of readdirSync(cache))
      if (name.startsWith(start) && name.endsWith(end))
        rmSync(join(cache, name), { recursive: true, force: true });
  } catch {
    // There is none, or it stays.
  }
}
