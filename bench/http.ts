// A lean HTTP client over raw keep-alive sockets and prebuilt requests, so that figures measure the server.
// Reading allocates nothing: a garbage collection during a request would distort its time.
import { connect, type Socket } from "node:net";

export interface HttpResponse {
  readonly status: number;
  /** In the connection's buffer, valid until its next request. */
  readonly body: Buffer;
}

/** A request as its bytes on the wire. */
export type RequestBytes = Buffer;

export interface RequestParts {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export function requestBytes({ method, path, headers = {}, body = "" }: RequestParts): RequestBytes {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const length = method === "POST" ? [`content-length: ${bytes.length}`] : [];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, "host: 127.0.0.1", ...lines, ...length, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head), bytes]);
}

const readBytes = 2 ** 18;

/** One request after the other over one socket, and over a new one if the server has closed an idle one. */
export class Connection {
  readonly #port: number;
  readonly #buffer = Buffer.alloc(readBytes);
  readonly #reader = new ResponseReader();
  #socket: Socket;
  #settle: { resolve: (response: HttpResponse) => void; reject: (problem: Error) => void } | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.#socket = this.#connected();
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(port);
      connection.#socket.once("connect", () => resolve(connection)).once("error", reject);
    });
  }

  #connected(): Socket {
    const callback = (bytes: number) => this.#take(this.#buffer.subarray(0, bytes));
    const onread = { buffer: this.#buffer, callback };
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true, onread });
    const fail = (problem: Error) => this.#socket === socket && this.#settle?.reject(problem);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the server closed the connection")));
    return socket;
  }

  send(request: RequestBytes): Promise<HttpResponse> {
    this.#reader.begin();
    return new Promise((resolve, reject) => {
      // Without this, a request would never settle: all events of a closed socket are over.
      if (this.#socket.destroyed) this.#socket = this.#connected();
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  /** Returns whether to continue reading. */
  #take(bytes: Buffer): boolean {
    const response = this.#reader.take(bytes);
    if (!response) return true;
    const { resolve } = this.#settle ?? {};
    this.#settle = undefined;
    if (this.#reader.isLast) this.#socket.destroy();
    resolve?.(response);
    return true;
  }
}

const connectionCount = 4;

/** Opens the number of connections that load the server in every workload, or so many. */
export const openConnections = (port: number, count = connectionCount): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => Connection.open(port)));

/** Collects the bytes of one response at a time: by content-length, chunked, or without a body. */
class ResponseReader {
  #bytes = Buffer.alloc(readBytes);
  #length = 0;
  #status = 0;
  #bodyFrom = 0;
  #bodyEnd = 0;
  /** Where the next chunk begins; undefined where the end is known from the head. */
  #chunk: number | undefined;
  #isLast = false;

  /** Whether the server closes the connection after this response. */
  get isLast(): boolean {
    return this.#isLast;
  }

  begin(): void {
    this.#length = 0;
    this.#status = 0;
  }

  take(bytes: Buffer): HttpResponse | undefined {
    this.#append(bytes);
    if (this.#status === 0 && !this.#readHead()) return undefined;
    const isWhole = this.#chunk === undefined ? this.#length >= this.#bodyEnd : this.#joinChunks(this.#chunk);
    if (!isWhole) return undefined;
    return { status: this.#status, body: this.#bytes.subarray(this.#bodyFrom, this.#bodyEnd) };
  }

  #append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(2 * length);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** Index of the string at `from` or later; -1 if it has not arrived yet. */
  #find(text: string, from: number): number {
    const found = this.#bytes.indexOf(text, from, "latin1");
    return found + text.length > this.#length ? -1 : found;
  }

  #readHead(): boolean {
    const end = this.#find("\r\n\r\n", 0);
    if (end < 0) return false;
    const head = this.#bytes.toString("latin1", 0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    this.#bodyFrom = end + 4;
    this.#isLast = /\r\nconnection: *close/.test(head);
    const isChunked = /\r\ntransfer-encoding: *chunked/.test(head);
    this.#chunk = isChunked ? this.#bodyFrom : undefined;
    const length = isChunked ? 0 : Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
    this.#bodyEnd = this.#bodyFrom + length;
    return true;
  }

  /** Moves whole chunks from `next` on together; says whether the last one has come. */
  #joinChunks(next: number): boolean {
    for (;;) {
      const lineEnd = this.#find("\r\n", next);
      if (lineEnd < 0) return false;
      const from = lineEnd + 2;
      const to = from + Number.parseInt(this.#bytes.toString("latin1", next, lineEnd), 16);
      if (to + 2 > this.#length) return false;
      if (to === from) return true;
      this.#bytes.copyWithin(this.#bodyEnd, from, to);
      this.#bodyEnd += to - from;
      next = to + 2;
      this.#chunk = next;
    }
  }
}

/**
 * Sends all requests in order over the connections, each as soon as one is free; in seconds. A connection
 * waits for `settled` after each response.
 */
export async function drive(
  connections: readonly Connection[],
  requests: Iterable<RequestBytes>,
  settled?: () => Promise<void>,
): Promise<number> {
  const rest = requests[Symbol.iterator]();
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let next = rest.next(); !next.done; next = rest.next()) {
        expectSuccess(await connection.send(next.value));
        if (settled) await settled();
      }
    }),
  );
  return (performance.now() - started) / 1000;
}

export function expectSuccess(response: HttpResponse): HttpResponse {
  if (response.status >= 200 && response.status < 300) return response;
  throw new Error(`responded ${response.status}: ${response.body.toString("utf8", 0, 500)}`);
}
