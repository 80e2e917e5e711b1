// How each section of an archive comes back: records in requests, ids translated, times as they were.
import type { Connection } from "../client/connection.ts";
import type { Created, CreateOnce } from "../client/create-once.ts";
import type { Ledger, Made } from "../client/ledger.ts";
import { limits } from "../limits.ts";
import { BadArchive, resourceOf, type SectionName } from "./format.ts";
import { checkedLine, type Line } from "./lines.ts";
import { bytesOf, type Entry, jsonLinesOf } from "./reader.ts";

/** How far a restore is: whole entries, and lines of the one after them. */
export interface Restored {
  readonly entries: number;
  readonly lines: number;
  /** References to records that are not in the archive, and were left out. */
  readonly leftOut: number;
}

export const nothingRestored: Restored = { entries: 0, lines: 0, leftOut: 0 };

type Item = Line & { readonly id: number };

interface Restoring {
  readonly connection: Connection;
  readonly ledger: Ledger<Restored>;
  readonly creations: CreateOnce;
}

export class Restorer {
  readonly #connection: Connection;
  readonly #ledger: Ledger<Restored>;
  readonly #creations: CreateOnce;
  /** The file whose bytes come next. */
  #file: Line | undefined;
  #leftOut = 0;

  constructor({ connection, ledger, creations }: Restoring) {
    this.#connection = connection;
    this.#ledger = ledger;
    this.#creations = creations;
    this.#leftOut = ledger.progress.leftOut;
  }

  /** Restores what is not yet there of the entry with this number, and notes it. */
  async restore(entry: Entry, number: number): Promise<void> {
    const { section } = entry;
    if (section === "datapoints") await this.#insertPoints(entry);
    else if (section === "file-bytes") await this.#uploadFile(entry);
    else if (section !== undefined && section !== "project") {
      await this.#restoreLines(section, entry, number);
      if (this.#file) return; // It is done when its bytes are.
    }
    this.#note({ entries: number + 1, lines: 0 });
  }

  #note(reached: { entries: number; lines: number }, made: Readonly<Record<string, readonly Made[]>> = {}) {
    this.#ledger.note({ ...reached, leftOut: this.#leftOut }, made);
  }

  async #restoreLines(section: SectionName, entry: Entry, number: number): Promise<void> {
    const { progress } = this.#ledger;
    const restored = number === progress.entries ? progress.lines : 0;
    for await (const { batch, lines } of batchesIn(section, entry, restored)) {
      const made = await this.#restoreBatch(section, batch);
      if (!this.#file) this.#note({ entries: number, lines }, made);
    }
  }

  async #restoreBatch(section: SectionName, batch: readonly Line[]) {
    if (section === "raw") return this.#putRaw(batch);
    if (section === "sequence-rows") return this.#putSequenceRows(batch);
    if (section === "files") return this.#createFiles(batch as readonly Item[]);
    // A record that moved while the export listed it may be there twice.
    const items = (batch as readonly Item[]).filter(
      ({ id }, at) =>
        this.#ledger.idOf(section, id) === undefined && batch.findIndex((other) => other["id"] === id) === at,
    );
    const created = await this.#creations.create(
      { kind: section, resource: resourceOf(section) },
      this.#newOf(section, items),
    );
    if (!timeless.includes(section)) await this.#restoreTimes(section, items, created);
    const pairs = items.map(({ id }, at) => ({ given: id, id: created[at]!.id }));
    return {
      [section]: pairs,
      ...(section === "sequences" && { "sequence-columns": pairsOfParts("columns", items, created) }),
      ...(section === "assettypes" && { "assettype-fields": pairsOfParts("fields", items, created) }),
    };
  }

  #newOf(section: SectionName, items: readonly Item[]): object[] {
    const own = new Set(items.map(({ id }) => id));
    return items.map((item) => {
      const { id, createdTime: _, lastUpdatedTime: __, ...members } = item;
      if (section === "assets") return this.#newAsset(item, own);
      if (section === "events") return this.#newEvent(members);
      if (section === "sequences") return { ...this.#hung(members), columns: newParts(item["columns"]) };
      if (section === "assettypes") return { ...members, fields: newParts(item["fields"]) };
      return section === "timeseries" ? this.#newSeries(members) : members;
    });
  }

  /** Parents are in the same request, or were made before. */
  #newAsset({ id, parentId, types, ...asset }: Item, own: Set<number>) {
    const { createdTime: _, lastUpdatedTime: __, path: ___, depth: ____, ...members } = asset;
    const given = parentId as number | undefined;
    return {
      ...members,
      refId: `${id}`,
      ...(given !== undefined && own.has(given) && { parentRefId: `${given}` }),
      ...(given !== undefined && !own.has(given) && this.#referred("parentId", given)),
      ...(types !== undefined && { types: this.#translated("assettypes", types).map(this.#typeHeld) }),
    };
  }

  readonly #typeHeld = ({ id, fields }: Item) => ({
    id,
    fields: this.#translated("assettype-fields", fields).map(({ id, value }) => ({ id, value })),
  });

  /** Records with the ids that they have here; those that are not in the archive are left out. */
  #translated(kind: string, given: unknown): Item[] {
    const items = given as readonly Item[];
    const known = items.flatMap((item) => {
      const id = this.#ledger.idOf(kind, item.id);
      return id === undefined ? [] : [{ ...item, id }];
    });
    this.#leftOut += items.length - known.length;
    return known;
  }

  #newEvent({ assetIds, eventTransformerId, additionalData, metadata, semanticPhrases, ...event }: Line) {
    const transformer = eventTransformerId as number | undefined;
    return {
      ...event,
      assetIds: this.#known(assetIds),
      semanticPhrases: this.#phrases(semanticPhrases),
      // Either of the two: the texts of the one follow from the other.
      ...(additionalData === undefined ? { metadata } : { additionalData }),
      // Events may name transformers that are not listed: those keep their number.
      ...(transformer !== undefined && {
        eventTransformerId: this.#ledger.idOf("eventtransformers", transformer) ?? transformer,
      }),
    };
  }

  #phrases(given: unknown): object[] {
    const phrases = (given ?? []) as readonly { readonly text: string; readonly semanticTypeId: number }[];
    const held = phrases.map(({ text, semanticTypeId: id }) => ({ text, id }));
    return this.#translated("semantictypes", held).map(({ id, text }) => ({ text, semanticTypeId: id }));
  }

  #newSeries({ securityCategories, ...series }: Line): Line {
    const categories = ((securityCategories ?? []) as readonly number[]).map((id) => ({ id }));
    const known = this.#translated("securitycategories", categories).map(({ id }) => id);
    return { ...this.#hung(series), ...(known.length > 0 && { securityCategories: known }) };
  }

  /** With the asset that it hangs on. */
  #hung({ assetId, ...members }: Line): Line {
    return assetId === undefined ? members : { ...members, ...this.#referred("assetId", assetId as number) };
  }

  #referred(member: string, given: number): Line {
    const id = this.#ledger.idOf("assets", given);
    if (id === undefined) this.#leftOut += 1;
    return id === undefined ? {} : { [member]: id };
  }

  #known(given: unknown): number[] {
    const asked = (given ?? []) as readonly number[];
    return this.#translated(
      "assets",
      asked.map((id) => ({ id })),
    ).map(({ id }) => id);
  }

  async #restoreTimes(resource: SectionName, items: readonly Item[], created: readonly Created[]) {
    if (items.length === 0) return;
    const times = items.map(({ createdTime, lastUpdatedTime, uploadedAt, columns }, at) => {
      const made = created[at]!;
      return {
        id: made.id,
        ...{ createdTime, lastUpdatedTime, uploadedAt },
        ...(columns !== undefined && {
          columns: (columns as readonly Item[]).map((column, index) => ({
            id: (made["columns"] as readonly Created[])[index]!.id,
            createdTime: column["createdTime"],
            lastUpdatedTime: column["lastUpdatedTime"],
          })),
        }),
      };
    });
    const path = this.#connection.pathOf(`restore/times/${resource}`, "0.6");
    await this.#connection.json("POST", path, { body: JSON.stringify({ items: times }) });
  }

  async #insertPoints(entry: Entry): Promise<void> {
    await this.#connection.json("POST", this.#connection.pathOf("timeseries/data"), {
      body: Uint8Array.from(await bytesOf(entry, limits.bodyBytesMax)),
      headers: { "content-type": "application/protobuf" },
    });
  }

  async #putRaw(batch: readonly Line[]) {
    const { dbName, tableName, key, assetIds } = batch[0]!;
    const database = encodeURIComponent(String(dbName));
    const post = (path: string, body: string) =>
      this.#connection.json("POST", this.#connection.pathOf(path, "0.6"), { body });
    if (tableName === undefined) await post("raw/create", JSON.stringify({ items: [{ dbName }] }));
    else if (key === undefined)
      await post(
        `raw/${database}/create?ensureParent=true`,
        JSON.stringify({ items: [{ tableName, assetIds: this.#known(assetIds) }] }),
      );
    else {
      const rows = batch.map(
        ({ key, columns, lastUpdatedTime }) =>
          `{"key":${JSON.stringify(key)},"columns":${columns},"lastUpdatedTime":${lastUpdatedTime}}`,
      );
      const path = `restore/raw/${database}/${encodeURIComponent(String(tableName))}`;
      await post(path, `{"items":[${rows.join(",")}]}`);
    }
    return {};
  }

  async #putSequenceRows(batch: readonly Line[]) {
    const id = this.#ledger.idOf("sequences", batch[0]!["sequenceId"] as number);
    if (id === undefined) throw new BadArchive("The archive has rows of a sequence that it does not have");
    type Value = { readonly columnId: number; readonly value: unknown };
    const rows = batch.map(({ rowNumber, values }) => ({
      rowNumber,
      values: (values as readonly Value[]).map(({ columnId, value }) => ({
        columnId: this.#ledger.idOf("sequence-columns", columnId),
        value,
      })),
    }));
    const body = JSON.stringify({ items: [{ rows }] });
    await this.#connection.json("POST", this.#connection.pathOf(`sequences/${id}/postdata`), { body });
    return {};
  }

  /** A file with bytes waits for them. */
  async #createFiles(batch: readonly Item[]) {
    const made: Made[] = [];
    for (const file of batch) {
      if (file["uploaded"] === true) this.#file = file;
      else {
        const { fileId } = await this.#startUpload(file);
        await this.#restoreTimes("files", [file], [{ id: fileId }]);
        made.push({ given: file.id, id: fileId });
      }
    }
    return { files: made };
  }

  /** A file of this directory and name that an interrupted run has begun is taken over. */
  async #startUpload(file: Line): Promise<{ fileId: number; uploadURL: string }> {
    const { id: _, contentType, ...members } = file;
    const known = { ...members, assetIds: this.#known(file["assetIds"]) };
    const path = this.#connection.pathOf("files/initupload?overwrite=true");
    const answer = await this.#connection.json("POST", path, {
      body: JSON.stringify(known),
      ...(typeof contentType === "string" && { headers: { "x-upload-content-type": contentType } }),
    });
    return (answer as { data: { fileId: number; uploadURL: string } }).data;
  }

  async #uploadFile(entry: Entry): Promise<void> {
    const file = this.#file;
    if (!file) throw new BadArchive(`The archive has bytes of a file that it does not have: ${entry.name}`);
    const { fileId, uploadURL } = await this.#startUpload(file);
    const body = entry.size === 0 ? new Uint8Array(0) : entry.body;
    await (await this.#connection.link("PUT", uploadURL, { body })).arrayBuffer();
    await this.#restoreTimes("files", [file as Item], [{ id: fileId }]);
    this.#file = undefined;
  }
}

interface LineBatch {
  readonly batch: readonly Line[];
  /** The lines of the entry up to and including the batch. */
  readonly lines: number;
}

/** The lines of an entry after the first `restored`, in batches that go into one request each. */
async function* batchesIn(section: SectionName, entry: Entry, restored: number): AsyncGenerator<LineBatch> {
  const keyOf = together[section];
  let [batch, bytes, lines]: [Line[], number, number] = [[], 0, restored];
  for await (const read of jsonLinesOf(entry)) {
    if (read.line <= restored) continue;
    const value = checkedLine(section, read.value, read.line);
    const isFull = batch.length === batchLines(section) || bytes + read.bytes > limits.importBodyBytesMax;
    if (batch.length > 0 && (isFull || keyOf?.(batch[0]!) !== keyOf?.(value))) {
      yield { batch, lines };
      [batch, bytes] = [[], 0];
    }
    batch.push(value);
    bytes += read.bytes;
    lines = read.line;
  }
  if (batch.length > 0) yield { batch, lines };
}

/** Lines that go into one request; `postdata` and raw rows take more than creations. */
const batchLines = (section: SectionName): number =>
  section in together ? limits.sequenceRowsPerWriteMax : limits.importItemsPerRequest;

/** Lines that belong into one request have these members in common. */
const together: Readonly<Partial<Record<SectionName, (line: Line) => string>>> = {
  raw: ({ dbName, tableName, key }) => JSON.stringify([dbName, tableName, key === undefined]),
  "sequence-rows": ({ sequenceId }) => `${sequenceId}`,
};

const newParts = (parts: unknown) =>
  (parts as readonly Item[]).map(({ id: _, createdTime: __, lastUpdatedTime: ___, ...part }) => part);

/** The server answers columns and fields in the order in which they were sent. */
const pairsOfParts = (member: string, items: readonly Item[], created: readonly Created[]): Made[] =>
  items.flatMap((item, at) => {
    const made = created[at]![member] as readonly Created[];
    return (item[member] as readonly Item[]).map(({ id }, index) => ({ given: id, id: made[index]!.id }));
  });

/** Sections of records that carry no times. */
const timeless: readonly SectionName[] = [
  "assettypes",
  "securitycategories",
  "eventtransformers",
  "semantictypes",
];
