// A TCP proxy between a server and a backend: it delays, cuts or drops connections on demand.

import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * "pass" forwards. "refuse" closes each connection at once, as a host without the service. "drop" accepts and
 * forwards nothing, as a lost network. "hold" is a network that is cut for a time: open connections stay
 * open, and their bytes arrive when it passes again. A number forwards as many bytes per connection, then
 * cuts it.
 */
export type ProxyMode = "pass" | "refuse" | "drop" | "hold" | number;

export class TcpProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #open = new Set<Socket>();
  #mode: ProxyMode = "pass";
  /** The delay of each chunk. */
  delayMs = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#serve(client));
  }

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.#server.unref();
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Changes the treatment of connections; except for and after "hold" it cuts the open ones. */
  set(mode: ProxyMode): void {
    const wasHeld = this.#mode === "hold";
    this.#mode = mode;
    if (mode === "hold") for (const socket of this.#open) socket.pause();
    else if (wasHeld) for (const socket of this.#open) socket.resume();
    else this.cut();
  }

  /** Cuts all connections that are open. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #serve(client: Socket): void {
    this.#follow(client);
    if (this.#mode === "refuse") return void client.destroy();
    if (this.#mode === "drop") return;
    const backend = this.#follow(connect(Number(this.#target.port), this.#target.hostname));
    let left = typeof this.#mode === "number" ? this.#mode : Number.POSITIVE_INFINITY;
    const forward = (from: Socket, to: Socket) => {
      from.on("data", (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) return void from.destroy();
        from.pause();
        setTimeout(() => {
          to.write(chunk);
          if (this.#mode !== "hold") from.resume();
        }, this.delayMs);
      });
      from.on("close", () => to.destroySoon());
      if (this.#mode === "hold") from.pause();
    };
    forward(client, backend);
    forward(backend, client);
  }

  #follow(socket: Socket): Socket {
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    socket.on("error", () => {});
    return socket;
  }
}
