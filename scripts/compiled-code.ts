// Starts the server once on a temporary data folder, so that the first start of a user finds compiled code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const startMsMax = 20_000;

/** Without success, as where no socket may listen, a build is complete too: the first start takes longer. */
export async function storeCompiledCode(root: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-build-"));
  const settings = Object.entries(process.env).filter(([name]) => !/^(MILLRACE|OTEL)_/.test(name));
  const env = {
    ...Object.fromEntries(settings),
    ...{ MILLRACE_DATA: join(folder, "data"), MILLRACE_HOST: "127.0.0.1", MILLRACE_PORT: "0" },
  };
  try {
    const server = spawn(process.execPath, [join(root, "src/start.js"), "serve"], {
      // A server that hangs may ignore other signals, and the installation would hang with it.
      ...{ cwd: folder, env, timeout: startMsMax, killSignal: "SIGKILL" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = once(server, "close");
    // It stores the code of the main thread before it reports, that of the other threads when it stops.
    server.stdout.once("data", () => server.kill("SIGTERM"));
    await ended;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
