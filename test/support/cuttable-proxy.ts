// A TCP proxy between a server and a backend that tests cut, and connect again.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableProxy {
  readonly port: number;
  /**
   * "closed" ends all connections and refuses new ones; "silent" ends them and passes no byte on; "half-open"
   * keeps them and passes no byte on; "open" does.
   */
  become(state: "open" | "silent" | "half-open" | "closed"): void;
  close(): void;
}

export async function cuttableProxy(targetPort: number): Promise<CuttableProxy> {
  let state: "open" | "silent" | "half-open" | "closed" = "open";
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    if (state === "closed") return void client.destroy();
    const backend = connect(targetPort, "127.0.0.1");
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => {
        if (state === "open") to.write(bytes);
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    become(next) {
      // Swallowed bytes are lost, so a connection of that time cannot continue.
      if (next !== state && next !== "half-open") end();
      state = next;
    },
    close() {
      end();
      proxy.close();
    },
  };
}
