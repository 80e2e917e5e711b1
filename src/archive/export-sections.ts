// What an export asks of the server, and how each resource is written into the archive.
import type { Connection } from "../client/connection.ts";
import { parseJson } from "../lib/json.ts";
import { elementsIn, membersIn } from "../lib/json-text.ts";
import { limits } from "../limits.ts";
import { entryBytes, resourceOf, type SectionName } from "./format.ts";
import { namedPiece, pointsIn } from "./points.ts";
import type { ArchiveWriter } from "./writer.ts";

/**
 * What an export works with; `progress` hears of the records of a section, and of its parts that are done.
 */
export interface Exporting {
  readonly connection: Connection;
  readonly writer: ArchiveWriter;
  readonly progress: (section: SectionName, records: number) => void;
  readonly stop: AbortSignal;
}

/** The export was told to end. */
export class Stopped extends Error {}

type Item = Readonly<Record<string, unknown>> & { readonly id: number };

/** Gathers lines into entries. */
class Lines {
  readonly #exporting: Exporting;
  readonly #section: SectionName;
  #held: string[] = [];
  #length = 0;

  constructor(exporting: Exporting, section: SectionName) {
    this.#exporting = exporting;
    this.#section = section;
  }

  async add(line: string): Promise<void> {
    this.#held.push(line);
    this.#length += line.length + 1;
    if (this.#length >= entryBytes) await this.end();
  }

  /** Writes what is held. */
  async end(): Promise<void> {
    if (this.#held.length === 0) return;
    const { writer, progress, stop } = this.#exporting;
    if (stop.aborted) throw new Stopped();
    await writer.add(this.#section, Buffer.from(`${this.#held.join("\n")}\n`), this.#held.length);
    progress(this.#section, this.#held.length);
    this.#held = [];
    this.#length = 0;
  }
}

/** Writes every section of the project. */
export async function exportSections(exporting: Exporting): Promise<void> {
  const { connection } = exporting;
  const project = await connection.json("GET", connection.pathOf("", "0.6"));
  const lines = new Lines(exporting, "project");
  await lines.add(JSON.stringify((project as { data: { items: unknown[] } }).data.items[0]));
  await lines.end();
  await list(exporting, "assettypes");
  await list(exporting, "assets");
  await list(exporting, "securitycategories");
  await exportSeries(exporting);
  await list(exporting, "eventtransformers");
  await list(exporting, "semantictypes");
  await list(exporting, "events", (page) => withAdditionalData(connection, page));
  await exportFiles(exporting);
  await exportRaw(exporting);
  await exportSequences(exporting);
  await list(exporting, "relationships");
}

const pageItems = 1_000;

const pagesOf = ({ connection }: Exporting, resource: string, query: Readonly<Record<string, string>> = {}) =>
  connection.pages<Item>(connection.pathOf(resource, "0.6"), { ...query, limit: String(pageItems) });

/** A section whose lines are the items of the list with the same name. */
async function list(
  exporting: Exporting,
  section: SectionName,
  completed: (page: Item[]) => Promise<readonly unknown[]> = async (page) => page,
): Promise<void> {
  const lines = new Lines(exporting, section);
  for await (const page of pagesOf(exporting, resourceOf(section)))
    for (const item of await completed(page)) await lines.add(JSON.stringify(item));
  await lines.end();
}

/** Only 0.4 shows what else than texts an event's metadata hold. */
async function withAdditionalData(connection: Connection, page: readonly Item[]): Promise<unknown[]> {
  if (page.length === 0) return [];
  const body = JSON.stringify({ items: page.map(({ id }) => id) });
  const old = await connection.json("POST", connection.pathOf("events/byids", "0.4"), { body });
  type Old = { readonly additionalData: Readonly<Record<string, unknown>> };
  const { items } = (old as { data: { items: Old[] } }).data;
  return page.map((event, at) => {
    const { additionalData } = items[at]!;
    const isPlain = Object.values(additionalData).every((value) => typeof value === "string");
    return isPlain ? event : { ...event, additionalData };
  });
}

async function exportSeries(exporting: Exporting): Promise<void> {
  const points = new Points(exporting);
  for await (const page of pagesOf(exporting, "timeseries", { includeMetadata: "true" })) {
    const lines = new Lines(exporting, "timeseries");
    for (const series of page) await lines.add(JSON.stringify(series));
    await lines.end();
    for (const { id, name, isString } of page)
      await points.addSeries({ id, name: String(name), isString: isString === true });
    await points.end();
  }
}

/** Points of a request for texts: what so many of the longest take still fits into an insert. */
const textsAtOnce = 1_000;

/** Gathers the points of series into entries, each of which one insert takes. */
class Points {
  readonly #exporting: Exporting;
  #held: Buffer[] = [];
  #bytes = 0;
  #points = 0;

  constructor(exporting: Exporting) {
    this.#exporting = exporting;
  }

  async addSeries(series: { readonly id: number; readonly name: string; readonly isString: boolean }) {
    const { connection, stop } = this.#exporting;
    const path = connection.pathOf(`timeseries/${series.id}/data`);
    const limit = series.isString ? textsAtOnce : limits.pointsPerReadMax;
    const accept = { headers: { accept: "application/protobuf" } };
    for (let start = limits.timeMsMin; start <= limits.timeMsMax; ) {
      if (stop.aborted) throw new Stopped();
      const range = `start=${start}&end=${limits.timeMsMax + 1}&limit=${limit}`;
      const found = pointsIn(await connection.bytes("GET", `${path}?${range}`, accept));
      if (found.count > 0) await this.#add(namedPiece(series.name, found), found.count);
      if (found.count < limit) return;
      start = found.lastMs + 1;
    }
  }

  async #add(pieces: readonly Buffer[], points: number): Promise<void> {
    if (this.#points + points > limits.pointsPerWriteMax) await this.end();
    this.#held.push(...pieces);
    this.#bytes += pieces.reduce((sum, { length }) => sum + length, 0);
    this.#points += points;
    if (this.#bytes >= entryBytes) await this.end();
  }

  async end(): Promise<void> {
    if (this.#points === 0) return;
    const { writer, progress } = this.#exporting;
    await writer.add("datapoints", Buffer.concat(this.#held), this.#points);
    progress("datapoints", this.#points);
    this.#held = [];
    this.#bytes = 0;
    this.#points = 0;
  }
}

/** Each file in an entry of one line, with the size and the type of its bytes, which follow at once. */
async function exportFiles(exporting: Exporting): Promise<void> {
  const { connection, writer, progress, stop } = exporting;
  const lines = new Lines(exporting, "files");
  for await (const page of pagesOf(exporting, "files")) {
    for (const file of page) {
      if (stop.aborted) throw new Stopped();
      if (file["uploaded"] !== true) {
        await lines.add(JSON.stringify(file));
        continue;
      }
      const { data } = (await connection.json("GET", connection.pathOf(`files/${file.id}/downloadlink`))) as {
        data: string;
      };
      const answer = await connection.link("GET", data);
      const bytes = Number(answer.headers.get("content-length"));
      const contentType = answer.headers.get("content-type");
      await lines.add(JSON.stringify({ ...file, bytes, contentType }));
      await lines.end();
      const body = (answer.body ?? []) as unknown as AsyncIterable<Uint8Array>;
      await writer.addStream("file-bytes", { name: String(file.id), size: bytes }, body);
      progress("file-bytes", 1);
    }
    await lines.end();
  }
}

/** Databases, tables and rows, each before what it holds; the columns of a row as the text that was sent. */
async function exportRaw(exporting: Exporting): Promise<void> {
  const { connection } = exporting;
  const lines = new Lines(exporting, "raw");
  const names = <Item>(path: string) =>
    connection.pages<Item>(connection.pathOf(path), { limit: String(limits.rawNamesMax) });
  for await (const databases of names<{ dbName: string }>("raw"))
    for (const { dbName } of databases) {
      await lines.add(JSON.stringify({ dbName }));
      const place = `raw/${encodeURIComponent(dbName)}`;
      for await (const tables of names<{ tableName: string; assetIds?: readonly number[] }>(place))
        for (const { tableName, assetIds } of tables) {
          const table = JSON.stringify({ dbName, tableName });
          await lines.add(JSON.stringify({ dbName, tableName, assetIds }));
          const path = connection.pathOf(`${place}/${encodeURIComponent(tableName)}`);
          for await (const row of rawRows(connection, path))
            await lines.add(`${table.slice(0, -1)},${row.slice(1)}`);
        }
    }
  await lines.end();
}

/** Each row as one line: a line break between columns would be a new line, so that they become a string. */
async function* rawRows(connection: Connection, path: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const asked = new URLSearchParams({ limit: String(limits.rawRowsMax), ...(cursor && { cursor }) });
    const text = (await connection.bytes("GET", `${path}?${asked}`)).toString();
    const data = membersIn(text, 0).find(({ name }) => name === "data")!;
    const members = membersIn(text, data.valueStart);
    const items = members.find(({ name }) => name === "items")!;
    for (const { start } of elementsIn(text, items.valueStart)) {
      const written = membersIn(text, start).map(({ name, valueStart, end }) => {
        const value = text.slice(valueStart, end);
        return `"${name}":${name === "columns" ? JSON.stringify(value) : value}`;
      });
      yield `{${written.join(",")}}`;
    }
    const next = members.find(({ name }) => name === "nextCursor");
    cursor = next && (parseJson(text.slice(next.valueStart, next.end)) as string);
  } while (cursor !== undefined);
}

async function exportSequences(exporting: Exporting): Promise<void> {
  for await (const page of pagesOf(exporting, "sequences")) {
    const lines = new Lines(exporting, "sequences");
    for (const sequence of page) await lines.add(JSON.stringify(sequence));
    await lines.end();
    const rows = new Lines(exporting, "sequence-rows");
    for (const { id } of page)
      for await (const row of sequenceRows(exporting.connection, id))
        await rows.add(JSON.stringify({ sequenceId: id, ...row }));
    await rows.end();
  }
}

async function* sequenceRows(connection: Connection, id: number): AsyncGenerator<object> {
  const path = connection.pathOf(`sequences/${id}/getdata`);
  let cursor: string | undefined;
  do {
    const body = JSON.stringify({ items: [{ limit: limits.sequenceRowsPerReadMax, cursor }] });
    const { data } = (await connection.json("POST", path, { body })) as {
      data: { items: { rows: object[] }[]; nextCursor?: string };
    };
    yield* data.items.flatMap(({ rows }) => rows);
    cursor = data.nextCursor;
  } while (cursor);
}
