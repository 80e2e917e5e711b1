// A connection in memory to an HTTP server that listens nowhere.
import type { Server, ServerResponse } from "node:http";
import { Duplex } from "node:stream";

/** The socket that the server gets. It discards the responses. */
class ServerEnd extends Duplex {
  readonly remoteAddress = "127.0.0.1";

  override _read(): void {}

  /** It is never idle: it discards everything at once. */
  setTimeout(): this {
    return this;
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

export interface SampleRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends one request after the other. */
export class SampleConnection implements Disposable {
  readonly #server: Server;
  readonly #end = new ServerEnd();

  constructor(server: Server) {
    this.#server = server;
    server.emit("connection", this.#end);
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
    this.#end.push(Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n")));
    if (bytes.length > 0) this.#end.push(bytes);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#end.destroy();
  }
}
