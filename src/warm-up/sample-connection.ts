// A connection to an HTTP server that listens nowhere. Its ends are sockets, as those of clients are: with a
// stream in memory instead, other code of Node runs, and the second to the tenth request for the login status
// took a third longer.
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const host = "127.0.0.1";

export interface SampleRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends one request after the other. */
export class SampleConnection implements Disposable {
  readonly #server: Server;
  readonly #socket: Socket;

  private constructor(server: Server, socket: Socket) {
    this.#server = server;
    // It discards the responses. The server ends it only with a response, which `send` reports.
    this.#socket = socket.resume().on("error", () => {});
  }

  /** Connects through a port that is closed before this resolves. */
  static async open(server: Server): Promise<SampleConnection> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }).listen({ host, port: 0 });
    try {
      await once(listener, "listening");
      const { port } = listener.address() as AddressInfo;
      const accepted = once(listener, "connection");
      const socket = connect({ host, port, noDelay: true });
      const [[other]] = await Promise.all([accepted as Promise<[Socket]>, once(socket, "connect")]);
      if (other.remotePort !== socket.localPort) {
        for (const one of [socket, other]) one.destroy();
        throw new Error("Another program connected to the port of the warm-up");
      }
      server.emit("connection", other);
      return new SampleConnection(server, socket);
    } finally {
      listener.close();
    }
  }

  /** Resolves with the status when the response has been written. Rejects if the response is destroyed. */
  send({ method, path, headers, body = "" }: SampleRequest): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#server.once("request", (_request, response: ServerResponse) => {
      response.once("finish", () => resolve(response.statusCode));
      response.once("close", () => reject(new Error(`the response to ${path} was destroyed`)));
    });
    const bytes = Buffer.from(body as string);
    const lines = Object.entries({ host: "localhost", ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    if (bytes.length > 0) lines.push(`content-length: ${bytes.length}`);
    const head = Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
    this.#socket.write(Buffer.concat([head, bytes]));
    return promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
