// Runs the server once on a temporary data folder, with some requests, so that the first start of a user
// finds compiled code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sendSamples } from "./sample-requests.ts";

const runMsMax = 30_000;
/** So many that each front thread gets most kinds of requests. */
const rounds = 5;
const key = "key-of-the-sample-requests";

/** Without success, as where no socket may listen, a build is complete too: the first start takes longer. */
export async function storeCompiledCode(root: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-build-"));
  const settings = Object.entries(process.env).filter(([name]) => !/^(MILLRACE|OTEL)_/.test(name));
  const env = {
    ...Object.fromEntries(settings),
    ...{ MILLRACE_DATA: join(folder, "data"), MILLRACE_ADMIN_KEY: key },
    ...{ MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: "0" },
  };
  // Of earlier builds.
  rmSync(join(root, "node_modules/.cache/millrace"), { recursive: true, force: true });
  try {
    const server = spawn(process.execPath, [join(root, "src/start.js"), "serve"], {
      // A server that hangs may ignore other signals, and the installation would hang with it.
      ...{ cwd: folder, env, timeout: runMsMax, killSignal: "SIGKILL" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(server, "close");
    server.stdout.setEncoding("utf8").once("data", async (output: string) => {
      const baseUrl = /^Millrace serves (\S+)/.exec(output)?.[1];
      if (baseUrl !== undefined) await sendSamples({ baseUrl, key }, rounds).catch(console.warn);
      server.kill("SIGTERM"); // It stores the code of its threads when it stops.
    });
    await ended;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
