// Sends statements to ClickHouse's HTTP interface over connections that are kept open.
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "../../errors.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { freeChunk } from "../../lib/free-memory.ts";
import { limits } from "../../limits.ts";
import { Hosts } from "../hosts.ts";
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
 * ZooKeeper (225, 999), failures of the operating system (1000, 1001).
 */
const passingCodes: ReadonlySet<number> = new Set([
  159, 202, 209, 210, 225, 241, 242, 252, 285, 286, 289, 319, 999, 1000, 1001,
]);

/** Lists of series and tombstones make statements longer than ClickHouse's default of 256 KiB. */
const statementBytesMax = 2 ** 20;

/** Results up to this size are complete before they are sent without a file on the disk of ClickHouse. */
const resultBufferBytes = 2 ** 22;

const responseBytesMin = 2 ** 16;

/** ClickHouse may close an idle connection while a statement is sent; another one then works. */
const brokenSockets: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/**
 * A replica without the latest insert (289), one that has lost its session with ZooKeeper (225, 999) and is
 * read-only until it has a new one (242), and one whose previous insert has no quorum yet (286): inserts with
 * a quorum run one after another in the whole cluster.
 */
const busyProblems: ReadonlySet<string> = new Set([225, 242, 286, 289, 999].map((code) => `code ${code}`));

/** ClickHouse reports a full disk with its own code, or passes on what the system or its log said. */
export const fullDisk = /\bCode: 243\b|No space left on device|Cannot write file/;

export const codeOf = (message: string): number =>
  Number(/^(?:[\w:]+Exception\. )?Code: (\d+)/.exec(message)?.[1] ?? 0);

interface Exchange {
  readonly statement: string;
  readonly settings: ClickHouseSettings;
  readonly body?: Buffer;
}

export class ClickHouseClient {
  readonly #location: ClickHouseLocation;
  readonly #hosts: Hosts<ClickHouseHost>;
  /** 100,000 points are 1.6 MB. As new memory, the garbage collector ran after every fourth response. */
  readonly #responses = new BufferPool({
    bytesMin: responseBytesMin,
    idleBytesMax: limits.clickHouseResponsesIdleBytesMax,
  });
  readonly #agent = new Agent({ keepAlive: true, maxSockets: limits.clickHouseConnectionsMax });
  /** Pings that wait for a response; statements to one host share one. */
  readonly #pings = new Map<ClickHouseHost, Promise<void>>();
  /** When the last ping of a host failed: it gets no statement before it responds to one. */
  readonly #silentSinceMs = new Map<ClickHouseHost, number>();

  constructor(location: ClickHouseLocation) {
    this.#location = location;
    this.#hosts = new Hosts(location.hosts);
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
    const bytes = await this.#send({ statement: `${text} FORMAT Native`, settings });
    const rows = decodeBlocks(bytes);
    this.#responses.putBack(bytes);
    return rows;
  }

  async execute({ text }: Sql, settings: ClickHouseSettings = {}): Promise<void> {
    this.#responses.putBack(await this.#send({ statement: text, settings }));
  }

  /** Inserts one block, all or nothing. Repeating it after a failure must be harmless. */
  async insert({ text }: Sql, block: Buffer, settings: ClickHouseSettings = {}): Promise<void> {
    this.#responses.putBack(await this.#send({ statement: `${text} FORMAT Native`, settings, body: block }));
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * The caller puts the bytes back. Throws `points-away` for a failure that passes, and `ClickHouseError` for
   * any other refusal.
   */
  async #send(exchange: Exchange): Promise<Buffer> {
    const endMs = performance.now() + limits.clickHouseRetryMsMax;
    const hosts = this.#hosts.inOrder();
    const problems: string[] = [];
    for (let failures = 0; ; failures++) {
      const at = failures % hosts.length;
      const host = hosts[at]!;
      const { body, problem } = await this.#attempt(host, exchange);
      if (body !== undefined) return body;
      this.#hosts.failed(host);
      const isFirstBreak = failures === 0 && brokenSockets.has(problem);
      problems[at] = problem;
      // A replica that others write to may be free again soon.
      const isBusy = problems.some((one) => busyProblems.has(one));
      const pauseMs = isBusy ? Math.random() * limits.clickHouseBackoffMs : 0;
      const isUntried = problems.length < hosts.length;
      const mayRepeat = (isBusy || isFirstBreak) && performance.now() + pauseMs < endMs;
      if (!isUntried && !mayRepeat) throw fail("points-away", { problem: [...new Set(problems)].join(", ") });
      await sleep(pauseMs);
    }
  }

  async #attempt(host: ClickHouseHost, exchange: Exchange): Promise<Attempt> {
    let response: { readonly status: number; readonly body: Buffer };
    try {
      await this.#requireResponsive(host);
      response = await this.#once(host, exchange);
    } catch (problem) {
      return { problem: (problem as NodeJS.ErrnoException).code ?? "no response" };
    }
    if (response.status === 200) return { body: response.body, problem: "" };
    const message = response.body.toString("utf8", 0, 2_000);
    const code = codeOf(message);
    if (fullDisk.test(message)) return { problem: "its disk is full" };
    if (passingCodes.has(code)) return { problem: `code ${code}` };
    throw new ClickHouseError(code, `ClickHouse at ${this.name} refused a statement: ${message}`);
  }

  #once(
    to: ClickHouseHost,
    { statement, settings, body }: Exchange,
  ): Promise<{ status: number; body: Buffer }> {
    const { host, port } = to;
    const { user, password, database, quorum } = this.#location;
    const parameters = new URLSearchParams({
      ...{ database, wait_end_of_query: "1", buffer_size: String(resultBufferBytes) },
      max_query_size: String(statementBytesMax),
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
      const end = () => sending.destroy(noResponse());
      endUnlessConnected(sending, end);
      const watch = setInterval(() => this.#pingAll(to).catch(end), limits.clickHousePingMs);
      sending.on("close", () => clearInterval(watch));
      sending.on("error", reject);
      sending.on("response", (response) => {
        this.#bytesOf(response).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, body: bytes }),
          reject,
        );
      });
      sending.end(body ?? statement);
    });
  }

  async #bytesOf(response: IncomingMessage): Promise<Buffer> {
    let bytes = this.#responses.take(responseBytesMin);
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (length + chunk.length > bytes.length) {
        const larger = this.#responses.take(2 * (length + chunk.length));
        bytes.copy(larger, 0, 0, length);
        this.#responses.putBack(bytes);
        bytes = larger;
      }
      length += chunk.copy(bytes, length);
      freeChunk(chunk);
    }
    return bytes.subarray(0, length);
  }

  async #requireResponsive(host: ClickHouseHost): Promise<void> {
    const sinceMs = this.#silentSinceMs.get(host);
    if (sinceMs === undefined) return;
    if (performance.now() - sinceMs < limits.clickHousePingMs) throw noResponse();
    await this.#pingAll(host);
  }

  /**
   * Rejects if the host does not respond on a new connection. So a statement that takes long is told from one
   * whose host or network is away. The other hosts are pinged too: the statement may go there next.
   */
  #pingAll(host: ClickHouseHost): Promise<void> {
    for (const other of this.#location.hosts) this.#ping(other).catch(() => undefined);
    return this.#ping(host);
  }

  #ping(host: ClickHouseHost): Promise<void> {
    const running = this.#pings.get(host);
    if (running) return running;
    const ping = pinged(host)
      .then(
        () => void this.#silentSinceMs.delete(host),
        (problem: unknown) => {
          this.#silentSinceMs.set(host, performance.now());
          throw problem;
        },
      )
      .finally(() => this.#pings.delete(host));
    this.#pings.set(host, ping);
    return ping;
  }
}

const noResponse = () => Object.assign(new Error("no response"), { code: "ETIMEDOUT" });

function endUnlessConnected(sending: ClientRequest, end: () => void): void {
  sending.on("socket", (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(end, limits.clickHouseConnectMsMax);
    socket.once("connect", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  });
}

/** Resolves with the first response to a request on a new connection, whatever its status. */
function pinged({ host, port }: ClickHouseHost): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request({ host, port, path: "/ping", agent: false });
    // After a stall of this process a response may be waiting: it is read before the ping counts as failed.
    const late = () => setImmediate(() => sending.destroy(noResponse()));
    const timer = setTimeout(late, limits.clickHousePingMsMax);
    sending.on("response", (response) => {
      response.resume();
      resolve();
    });
    sending.on("error", reject).on("close", () => clearTimeout(timer));
    sending.end();
  });
}

/** Of a statement at one host: the response, or why there is none. */
interface Attempt {
  readonly body?: Buffer;
  readonly problem: string;
}

/**
 * Reads see all inserts with a quorum, on whichever replica. Repeated inserts are inserted again: ClickHouse
 * would acknowledge one that it recognises even if the first attempt has no quorum yet.
 */
const quorumSettings = (quorum: number) => ({
  insert_quorum: String(quorum),
  insert_deduplicate: "0",
  insert_quorum_timeout: String(limits.clickHouseQuorumMsMax),
  select_sequential_consistency: "1",
});
