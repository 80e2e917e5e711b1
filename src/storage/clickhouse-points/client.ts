// Sends statements to ClickHouse's HTTP interface over connections that are kept open.
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type ClickHouseHost, type ClickHouseLocation, withoutPassword } from "./location.ts";
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

/** ClickHouse may close an idle connection while a statement is sent; another one then works. */
const brokenSockets: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/**
 * A replica without the latest insert (289), one that has lost its session with ZooKeeper (999), and one
 * whose previous insert has no quorum yet (286): inserts with a quorum run one after another in the whole
 * cluster.
 */
const busyProblems: ReadonlySet<string> = new Set(["code 286", "code 289", "code 999"]);

interface Exchange {
  readonly statement: string;
  readonly settings: ClickHouseSettings;
  readonly body?: Buffer;
}

export class ClickHouseClient {
  readonly #location: ClickHouseLocation;
  /** Index of the host that statements go to; it grows with each failure. */
  #current = 0;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: limits.clickHouseConnectionsMax });

  constructor(location: ClickHouseLocation) {
    this.#location = location;
  }

  /** A client for each replica. */
  get replicas(): ClickHouseClient[] {
    return this.#location.hosts.map((host) => new ClickHouseClient({ ...this.#location, hosts: [host] }));
  }

  get location(): ClickHouseLocation {
    return this.#location;
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
    const endMs = performance.now() + limits.clickHouseRetryMsMax;
    const { hosts } = this.#location;
    for (let failures = 1; ; failures++) {
      const { body, problem } = await this.#attempt(hosts[this.#current % hosts.length]!, exchange);
      if (body !== undefined) return body;
      // The other replicas may respond. One that others write to may be free again soon.
      this.#current++;
      const isBusy = busyProblems.has(problem);
      if (!isBusy && failures >= Math.max(hosts.length, brokenSockets.has(problem) ? 2 : 1))
        throw fail("points-away", { problem });
      const pauseMs = isBusy ? Math.random() * limits.clickHouseBackoffMs : 0;
      if (performance.now() + pauseMs > endMs) throw fail("points-away", { problem });
      await sleep(pauseMs);
    }
  }

  async #attempt(host: ClickHouseHost, exchange: Exchange): Promise<Attempt> {
    let response: { readonly status: number; readonly body: Buffer };
    try {
      response = await this.#once(host, exchange);
    } catch (problem) {
      return { problem: (problem as NodeJS.ErrnoException).code ?? "no response" };
    }
    if (response.status === 200) return { body: response.body, problem: "" };
    const message = response.body.toString("utf8", 0, 2_000);
    const code = Number(/^Code: (\d+)/.exec(message)?.[1] ?? 0);
    if (passingCodes.has(code)) return { problem: `code ${code}` };
    throw new ClickHouseError(code, `ClickHouse at ${this.name} refused a statement: ${message}`);
  }

  #once(
    { host, port }: ClickHouseHost,
    { statement, settings, body }: Exchange,
  ): Promise<{ status: number; body: Buffer }> {
    const { user, password, database, quorum } = this.#location;
    const parameters = new URLSearchParams({
      ...{ database, wait_end_of_query: "1", max_query_size: String(statementBytesMax) },
      ...(quorum !== undefined && quorumSettings(quorum)),
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
      sending.on("socket", (socket) => {
        if (!socket.connecting) return;
        const late = () => sending.destroy(Object.assign(new Error("connect"), { code: "ETIMEDOUT" }));
        const timer = setTimeout(late, limits.clickHouseConnectMsMax);
        socket.once("connect", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
      });
      sending.on("error", reject);
      sending.on("response", (response) => {
        bytesOf(response).then((bytes) => resolve({ status: response.statusCode ?? 0, body: bytes }), reject);
      });
      sending.end(body ?? statement);
    });
  }
}

/** Of a statement at one host: the response, or why there is none. */
interface Attempt {
  readonly body?: Buffer;
  readonly problem: string;
}

/** Reads see all inserts with a quorum, on whichever replica. */
const quorumSettings = (quorum: number) => ({
  insert_quorum: String(quorum),
  insert_quorum_timeout: String(limits.clickHouseQuorumMsMax),
  select_sequential_consistency: "1",
});

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
