// Ports for servers that cannot choose one themselves.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Systems choose ports for connections and for port 0 from 32768 on, so that none takes a found one. */
const [lowest, beyond] = [10_000, 32_000];

/** A port of loopback that was free just now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, beyond);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await Promise.race([
      once(server, "listening").then(() => true),
      new Promise<boolean>((resolve) => server.once("error", () => resolve(false))),
    ]);
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
