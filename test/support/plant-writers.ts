// Clients that write to all parts of an installation, one request after the other, and tell whether a
// restored copy has exactly the requests of each client up to one snapshot.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type AskProject, askerOf, type Reached } from "./sample-part.ts";

/** A finished request: its number, when it was sent and when it was acknowledged. */
interface Written {
  readonly sentMs: number;
  readonly acknowledgedMs: number;
}

/** The records of a client after a number of requests. */
export interface PlantState {
  readonly assets: readonly string[];
  readonly times: readonly number[];
  /** SHA-256 of the bytes of each file, by name. */
  readonly files: Readonly<Record<string, string>>;
}

const stepsOfCycle = 4;
const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The bytes of a file of a client: each has its own, and its own size. */
function bytesOf(client: number, step: number): Buffer {
  const block = createHash("sha256").update(`${client} ${step}`).digest();
  return Buffer.concat(Array.from({ length: 1 + ((step * 7919) % 20_000) }, () => block));
}

const fileOf = (client: number, step: number) => `file-${client}-${step}`;

/**
 * Step 0 of a cycle creates an asset, 1 writes points, 2 uploads a file, 3 deletes the file of a cycle
 * before.
 */
function stateAfter(client: number, steps: number): PlantState {
  const assets: string[] = [];
  const times: number[] = [];
  const files: Record<string, string> = {};
  for (let step = 0; step < steps; step++) {
    const kind = step % stepsOfCycle;
    if (kind === 0) assets.push(`asset-${client}-${step}`);
    if (kind === 1) times.push(step, step + 0.5);
    if (kind === 2) files[fileOf(client, step)] = sha(bytesOf(client, step));
    if (kind === 3) delete files[fileOf(client, step - 5)];
  }
  return { assets: assets.sort(), times: times.map((at) => at * 1000), files };
}

export class PlantWriter {
  readonly #ask: AskProject;
  readonly #client: number;
  readonly written: Written[] = [];
  readonly #fileIds = new Map<string, unknown>();
  /** When the request under way was sent. */
  #sentMs = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(reached: Reached, client: number) {
    this.#ask = askerOf(reached);
    this.#client = client;
  }

  async start(): Promise<void> {
    await this.#ask("POST /timeseries", { items: [{ name: `series-${this.#client}` }] });
    this.#running = this.#write();
    this.#running.catch(() => undefined); // `stop` fails with it.
  }

  /** Ends after the request under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #write(): Promise<void> {
    while (!this.#isStopped) {
      this.#sentMs = Date.now();
      await this.#step(this.written.length);
      this.written.push({ sentMs: this.#sentMs, acknowledgedMs: Date.now() });
      this.#sentMs = Number.POSITIVE_INFINITY;
    }
  }

  async #step(step: number): Promise<void> {
    const client = this.#client;
    const kind = step % stepsOfCycle;
    if (kind === 0) await this.#ask("POST /assets", { items: [{ name: `asset-${client}-${step}` }] });
    if (kind === 1) {
      const items = [step, step + 0.5].map((at) => ({ timestamp: at * 1000, value: at }));
      await this.#ask(`POST /timeseries/data/series-${client}`, { items }, "0.5");
    }
    if (kind === 2) await this.#upload(step);
    const obsolete = this.#fileIds.get(fileOf(client, step - 5));
    if (kind === 3 && obsolete !== undefined) await this.#ask("POST /files/delete", { items: [obsolete] });
  }

  async #upload(step: number): Promise<void> {
    const fileName = fileOf(this.#client, step);
    const { text } = await this.#ask("POST /files/initupload?resumable=false", { fileName }, "0.5");
    const { uploadURL, fileId } = JSON.parse(text).data;
    const response = await fetch(uploadURL, {
      method: "PUT",
      body: new Uint8Array(bytesOf(this.#client, step)),
    });
    assert.equal(response.status, 200, await response.text());
    this.#fileIds.set(fileName, fileId);
  }

  /**
   * The restored state is that after a number of requests: at least those acknowledged before the snapshot,
   * and none that was sent after it.
   */
  requireSnapshot(found: PlantState, snapshotMs: number): number {
    const least = this.written.filter(({ acknowledgedMs }) => acknowledgedMs < snapshotMs).length;
    const finished = this.written.filter(({ sentMs }) => sentMs <= snapshotMs).length;
    // A server that was killed may have executed the last request.
    const most = this.#sentMs <= snapshotMs ? finished + 1 : finished;
    for (let steps = least; steps <= most; steps++)
      if (JSON.stringify(stateAfter(this.#client, steps)) === JSON.stringify(found)) return steps;
    return assert.deepEqual(found, stateAfter(this.#client, least)) as never;
  }
}

/** The state of a client in an installation. A file that was begun and has no bytes is not in it. */
export async function readPlant(reached: Reached, client: number): Promise<PlantState> {
  const ask = askerOf(reached);
  const all = async (path: string, member: string) => {
    const found = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await ask(`GET ${path}?limit=1000${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      found.push(...page.items);
      cursor = page.nextCursor;
    }
    return found.filter((item) => new RegExp(`^(asset|file)-${client}-`).test(String(item[member])));
  };
  const assets = (await all("/assets", "name")).map(({ name }) => String(name)).sort();
  const data = await ask(`GET /timeseries/data/series-${client}?limit=10000`, undefined, "0.5");
  const points = JSON.parse(data.text).data.items[0]?.datapoints as { timestamp: number }[] | undefined;
  const files: Record<string, string> = {};
  for (const { id, fileName, uploaded } of await all("/files", "fileName")) {
    if (uploaded === false) continue;
    const link = await ask(`GET /files/${id}/downloadlink`);
    const response = await fetch(JSON.parse(link.text).data.downloadURL ?? JSON.parse(link.text).data);
    assert.equal(response.status, 200, String(fileName));
    files[String(fileName)] = sha(new Uint8Array(await response.arrayBuffer()));
  }
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => stepIn(a) - stepIn(b)));
  return { assets, times: (points ?? []).map(({ timestamp }) => timestamp), files: sorted };
}

const stepIn = (name: string): number => Number(name.split("-")[2]);
