// Forwards connections from a process without a network to the server, and to nothing else.
import { chmod, chown } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname } from "node:path";
import type { RunUser } from "./bounded-process.ts";

const connectionsMax = 16;

interface Forwarding {
  readonly platform: URL;
  /** The path of the Unix socket, in the folder of the process. */
  readonly socket: string;
  /** The user who may connect besides the user of the server. */
  readonly user: RunUser | undefined;
}

/** Forwards every connection from the socket to the platform, until it is disposed of. */
export async function forwardTo({ platform, socket, user }: Forwarding): Promise<AsyncDisposable> {
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
    // All connections ended with the process.
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Gives the user access to the socket only: the user can neither list nor write the folder. */
async function admit({ gid }: RunUser, socket: string): Promise<void> {
  for (const [path, mode] of [
    [dirname(socket), 0o710],
    [socket, 0o660],
  ] as const) {
    await chown(path, process.getuid!(), gid);
    await chmod(path, mode);
  }
}
