// Sends statements to ClickHouse's HTTP interface over connections that are kept open.
import { Agent, type IncomingMessage, request } from "node:http";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type ClickHouseLocation, withoutPassword } from "./location.ts";
import { decodeBlocks, type NativeRows } from "./native-format.ts";
import type { Sql } from "./sql.ts";

export type ClickHouseSettings = Readonly<Record<string, string | number>>;

/** ClickHouse executed the statement and reported an error. */
export class ClickHouseError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "ClickHouseError";
    this.code = code;
  }
}

/**
 * Codes of errors that pass: timeouts (159, 209), network (210), too many queries (202), memory (241), a
 * read-only replica (242), too many parts (252), missing replicas and quorums (285, 286, 289, 319),
 * ZooKeeper (999).
 */
const passingCodes: ReadonlySet<number> = new Set([
  159, 202, 209, 210, 241, 242, 252, 285, 286, 289, 319, 999,
]);

/** Lists of series and tombstones make statements longer than ClickHouse's default of 256 KiB. */
const statementBytesMax = 2 ** 20;

interface Exchange {
  readonly statement: string;
  readonly settings: ClickHouseSettings;
  readonly body?: Buffer;
}

export class ClickHouseClient {
  readonly #location: ClickHouseLocation;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: limits.clickHouseConnectionsMax });

  constructor(location: ClickHouseLocation) {
    this.#location = location;
  }

  /** The database, for messages. */
  get name(): string {
    return withoutPassword(this.#location);
  }

  async query({ text }: Sql, settings: ClickHouseSettings = {}): Promise<NativeRows> {
    return decodeBlocks(await this.#send({ statement: `${text} FORMAT Native`, settings }));
  }

  async execute({ text }: Sql, settings: ClickHouseSettings = {}): Promise<void> {
    await this.#send({ statement: text, settings });
  }

  /** Inserts one block, all or nothing. Repeating it after a failure must be harmless. */
  async insert({ text }: Sql, block: Buffer, settings: ClickHouseSettings = {}): Promise<void> {
    await this.#send({ statement: `${text} FORMAT Native`, settings, body: block });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Throws `points-away` for a failure that passes, and `ClickHouseError` for any other refusal. */
  async #send(exchange: Exchange): Promise<Buffer> {
    let answer: { readonly status: number; readonly body: Buffer };
    try {
      answer = await this.#repeated(exchange);
    } catch (problem) {
      throw fail("points-away", { problem: (problem as NodeJS.ErrnoException).code ?? "no response" });
    }
    if (answer.status === 200) return answer.body;
    const message = answer.body.toString("utf8", 0, 2_000);
    const code = Number(/^Code: (\d+)/.exec(message)?.[1] ?? 0);
    if (passingCodes.has(code)) throw fail("points-away", { problem: `code ${code}` });
    throw new ClickHouseError(code, `ClickHouse at ${this.name} refused a statement: ${message}`);
  }

  /** ClickHouse may close an idle connection while a statement is sent; another one then works. */
  async #repeated(exchange: Exchange): Promise<{ readonly status: number; readonly body: Buffer }> {
    try {
      return await this.#once(exchange);
    } catch (problem) {
      const { code } = problem as NodeJS.ErrnoException;
      if (code !== "ECONNRESET" && code !== "EPIPE") throw problem;
      return this.#once(exchange);
    }
  }

  #once({ statement, settings, body }: Exchange): Promise<{ status: number; body: Buffer }> {
    const { host, port, user, password, database } = this.#location;
    const parameters = new URLSearchParams({
      ...{ database, wait_end_of_query: "1", max_query_size: String(statementBytesMax) },
    });
    for (const [name, value] of Object.entries(settings)) parameters.set(name, String(value));
    if (body !== undefined) parameters.set("query", statement);
    return new Promise((resolve, reject) => {
      const sending = request({
        agent: this.#agent,
        host,
        port,
        method: "POST",
        path: `/?${parameters}`,
        headers: { "X-ClickHouse-User": user, "X-ClickHouse-Key": password },
        signal: AbortSignal.timeout(limits.clickHouseMsMax),
      });
      sending.on("error", reject);
      sending.on("response", (response) => {
        bytesOf(response).then((bytes) => resolve({ status: response.statusCode ?? 0, body: bytes }), reject);
      });
      sending.end(body ?? statement);
    });
  }
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
