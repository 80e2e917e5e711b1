// A way from a process without a network to the platform, and to nothing else: a socket in its folder.
import { chmod, chown } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname } from "node:path";
import type { RunUser } from "./bounded-process.ts";

const connectionsMax = 16;

interface Way {
  readonly platform: URL;
  /** The path of the socket. */
  readonly socket: string;
  /** Who may connect, if not the user of the server alone. */
  readonly user: RunUser | undefined;
}

/** Leads every connection to the socket on to the platform, until it is disposed of. */
export async function forwardTo({ platform, socket, user }: Way): Promise<AsyncDisposable> {
  const host = platform.hostname.replace(/^\[|\]$/g, "");
  const port = Number(platform.port || 80);
  const server = createServer((inner) => {
    const outer = connect(port, host);
    inner.pipe(outer).pipe(inner);
    inner.on("error", () => outer.destroy()).on("close", () => outer.destroy());
    outer.on("error", () => inner.destroy()).on("close", () => inner.destroy());
  });
  server.maxConnections = connectionsMax;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(socket, resolve);
  });
  if (user) await admit(user, socket);
  return {
    // Whoever was connected has ended with the process.
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** To the socket alone: the folder can neither be listed nor written. */
async function admit({ gid }: RunUser, socket: string): Promise<void> {
  for (const [path, mode] of [
    [dirname(socket), 0o710],
    [socket, 0o660],
  ] as const) {
    await chown(path, process.getuid!(), gid);
    await chmod(path, mode);
  }
}
