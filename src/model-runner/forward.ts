// A way from a process without a network to the platform, and to nothing else: a socket in its folder.
import { connect, createServer } from "node:net";
import { join } from "node:path";

const connectionsMax = 16;

/** Leads every connection to the socket `name` in `folder` on to the platform, until it is disposed of. */
export async function forwardTo(platform: URL, folder: string, name: string): Promise<AsyncDisposable> {
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
    server.once("error", reject).listen(join(folder, name), resolve);
  });
  return {
    // Whoever was connected has ended with the process.
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
