// A lean HTTP client over raw keep-alive sockets and prebuilt requests: the client is not what is measured.
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** A request as its bytes on the wire. */
export type RequestBytes = Buffer;

export interface RequestParts {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export function requestBytes({ method, path, headers = {}, body = "" }: RequestParts): RequestBytes {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const length = method === "POST" ? [`content-length: ${bytes.length}`] : [];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, "host: 127.0.0.1", ...lines, ...length, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** One request after the other over one socket. */
export class Connection {
  readonly #socket: Socket;
  #reader: AnswerReader | undefined;
  #settle: { resolve: (answer: Answer) => void; reject: (problem: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (problem) => this.#settle?.reject(problem));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new Connection(socket)));
      socket.once("error", reject);
    });
  }

  send(request: RequestBytes): Promise<Answer> {
    this.#reader = new AnswerReader();
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const answer = this.#reader?.take(chunk);
    if (!answer) return;
    const { resolve } = this.#settle ?? {};
    this.#settle = undefined;
    resolve?.(answer);
  }
}

const connectionCount = 4;

/** As many as load the server at once in every workload. */
export const openConnections = (port: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: connectionCount }, () => Connection.open(port)));

/** Collects the bytes of one answer: by content-length, chunked, or without a body. */
class AnswerReader {
  #rest: Buffer = Buffer.alloc(0);
  #status = 0;
  /** Bytes of the body or the present chunk still to come; -1 before the head or a chunk's length is read. */
  #missing = -1;
  #chunked = false;
  readonly #parts: Buffer[] = [];

  take(bytes: Buffer): Answer | undefined {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#status === 0 && !this.#readHead()) return undefined;
    return this.#chunked ? this.#takeChunks() : this.#takeLength();
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const head = this.#rest.toString("latin1", 0, end).toLowerCase();
    this.#rest = this.#rest.subarray(end + 4);
    this.#status = Number(head.slice(9, 12));
    this.#chunked = /\r\ntransfer-encoding: *chunked/.test(head);
    this.#missing = this.#chunked ? -1 : Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
    return true;
  }

  #takeLength(): Answer | undefined {
    this.#takeBody();
    return this.#missing === 0 ? this.#answer() : undefined;
  }

  #takeBody(): void {
    const part = this.#rest.subarray(0, this.#missing);
    this.#parts.push(part);
    this.#missing -= part.length;
    this.#rest = this.#rest.subarray(part.length);
  }

  #takeChunks(): Answer | undefined {
    for (;;) {
      if (this.#missing < 0) {
        const lineEnd = this.#rest.indexOf("\r\n");
        if (lineEnd < 0) return undefined;
        const size = Number.parseInt(this.#rest.toString("latin1", 0, lineEnd), 16);
        if (size === 0) return this.#rest.length < lineEnd + 4 ? undefined : this.#answer();
        this.#rest = this.#rest.subarray(lineEnd + 2);
        this.#missing = size;
      }
      this.#takeBody();
      if (this.#missing > 0 || this.#rest.length < 2) return undefined;
      this.#rest = this.#rest.subarray(2);
      this.#missing = -1;
    }
  }

  #answer(): Answer {
    return { status: this.#status, body: Buffer.concat(this.#parts) };
  }
}

/** Sends all requests in order over the connections, each as soon as one is free; in seconds. */
export async function drive(
  connections: readonly Connection[],
  requests: Iterable<RequestBytes>,
): Promise<number> {
  const rest = requests[Symbol.iterator]();
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let next = rest.next(); !next.done; next = rest.next())
        expectSuccess(await connection.send(next.value));
    }),
  );
  return (performance.now() - started) / 1000;
}

export function expectSuccess(answer: Answer): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new Error(`answered ${answer.status}: ${answer.body.toString("utf8", 0, 500)}`);
}
