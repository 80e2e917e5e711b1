// How records of each kind get onto the server: assets below their parents, events with their assets, rows.

import { type Connection, ServerProblem } from "../client/connection.ts";
import { type Created, CreateOnce } from "../client/create-once.ts";
import type { Ledger } from "../client/ledger.ts";
import { limits } from "../limits.ts";
import type { RecordOptions } from "./import-records.ts";
import {
  idIn,
  listOf,
  phrasesIn,
  plainMembers,
  Refused,
  rawRowOf,
  tagsIn,
  textOf,
  timesIn,
} from "./record-items.ts";
import { type FileRecord, recordsOf } from "./records.ts";

export type Kind = "assets" | "events" | "raw";

/** A record on its way to the server. */
export interface Prepared {
  readonly line: number;
  readonly item: object | string;
  /** Of an asset: the line of its parent. */
  readonly parentLine?: number;
}

type Refuse = (record: { readonly line: number }, problem: Refused) => void;

export interface Loader {
  /** The file is read again as long as that brings anything. */
  readonly isRepeated: boolean;
  /** Before the first record. */
  prepare?(): Promise<void>;
  /** Undefined for what is loaded already; throws `Refused`. */
  prepareOne(record: FileRecord): Promise<Prepared | undefined>;
  /** Answers how many of them are loaded now. */
  load(batch: readonly Prepared[], refuse: Refuse): Promise<number>;
  /** After the last one. */
  conclude?(refuse: Refuse): void;
}

interface Loading {
  readonly options: RecordOptions;
  readonly connection: Connection;
  readonly ledger: Ledger<object>;
  readonly isResumed: boolean;
}

export const loaders: Readonly<Record<Kind, (loading: Loading) => Loader>> = {
  assets: (loading) => new AssetLoader(loading),
  events: (loading) => new EventLoader(loading),
  raw: (loading) => new RawLoader(loading),
};

/** Records of which the server makes new ones, each once. */
class Creating {
  readonly #kind: "assets" | "events";
  readonly #loading: Loading;
  readonly #creations: CreateOnce;

  constructor(kind: "assets" | "events", loading: Loading) {
    this.#kind = kind;
    this.#loading = loading;
    this.#creations = new CreateOnce(loading.connection, loading.ledger, {
      ...loading,
      isSame: isSame(kind),
    });
  }

  idOf(line: number): number | undefined {
    return this.#loading.ledger.idOf(this.#kind, line);
  }

  /** What the server refuses is halved until the lines are found that it does not take. */
  async create(
    batch: readonly Prepared[],
    itemsOf: (batch: readonly Prepared[]) => readonly { line: number; item: object }[],
    refuse: Refuse,
  ): Promise<number> {
    const ready = itemsOf(batch);
    if (ready.length === 0) return 0;
    try {
      const ids = await this.#ids(ready.map(({ item }) => item));
      const made = ready.map(({ line }, at) => ({ given: line, id: ids[at] ?? line }));
      this.#loading.ledger.note({ begun: true }, { [this.#kind]: made });
      return made.length;
    } catch (problem) {
      const isRefusal =
        problem instanceof ServerProblem && (problem.status === 400 || problem.status === 409);
      if (!isRefusal) throw problem;
      if (ready.length === 1) {
        refuse(ready[0]!, new Refused("", "", problem.message));
        return 0;
      }
      const lines = new Set(ready.map(({ line }) => line));
      const rest = batch.filter(({ line }) => lines.has(line));
      const half = Math.ceil(rest.length / 2);
      const first = await this.create(rest.slice(0, half), itemsOf, refuse);
      return first + (await this.create(rest.slice(half), itemsOf, refuse));
    }
  }

  async #ids(items: readonly object[]): Promise<readonly number[]> {
    if (this.#loading.options.dryRun) return [];
    const kind = { kind: this.#kind, resource: this.#kind };
    return (await this.#creations.create(kind, items)).map(({ id }) => id);
  }
}

const compared = {
  assets: ["name", "description", "source", "sourceId", "externalId"],
  events: ["description", "externalId", "source", "sourceId", "startTime", "endTime", "type"],
} as const;

const isSame = (kind: "assets" | "events") => (item: object, found: Created) =>
  compared[kind].every((name) => ((item as Created)[name] ?? "") === (found[name] ?? ""));

class AssetLoader implements Loader {
  readonly isRepeated = true;
  readonly #loading: Loading;
  readonly #creating: Creating;
  /** Of everything that a parent can be called the line, or -1 when several are called so. */
  readonly #lines = new Map<string, number>();
  readonly #all: number[] = [];
  readonly #onServer = new Map<string, number>();

  constructor(loading: Loading) {
    this.#loading = loading;
    this.#creating = new Creating("assets", loading);
  }

  async prepare(): Promise<void> {
    const add = (key: string, line: number) => this.#lines.set(key, this.#lines.has(key) ? -1 : line);
    for await (const { fields, line } of recordsOf(this.#loading.options)) {
      this.#all.push(line);
      const own = ["id", "name", "sourceId", "externalId"].map((field) => fields.get(field));
      const [id, name, sourceId, externalId] = own;
      if (id !== undefined) add(`id ${textOf(id)}`, line);
      if (externalId !== undefined) add(`externalId ${textOf(externalId)}`, line);
      if (name !== undefined) add(`name ${textOf(name)}`, line);
      if (sourceId !== undefined) add(sourceKey(fields.get("source"), sourceId), line);
    }
  }

  async prepareOne(record: FileRecord): Promise<Prepared | undefined> {
    const { line, fields } = record;
    if (this.#creating.idOf(line) !== undefined) return undefined;
    const item = plainMembers("assets", record);
    if (item["name"] === undefined) throw new Refused("name", "", "missing");
    const parent = await this.#parentOf(fields);
    if (parent === undefined) return { line, item };
    if ("line" in parent) return { line, item, parentLine: parent.line };
    return { line, item: { ...item, parentId: parent.id } };
  }

  load(batch: readonly Prepared[], refuse: Refuse): Promise<number> {
    return this.#creating.create(batch, (part) => this.#ready(part), refuse);
  }

  conclude(refuse: Refuse): void {
    for (const line of this.#all)
      if (this.#creating.idOf(line) === undefined)
        refuse({ line }, new Refused("", "", "its parent is not loaded, or is below it"));
  }

  /** Those whose parent is there, or comes before them. */
  #ready(batch: readonly Prepared[]) {
    const own = new Set<number>();
    return batch.flatMap(({ line, item, parentLine }) => {
      const known = { ...(item as object), refId: `${line}` };
      const made = parentLine === undefined ? undefined : this.#creating.idOf(parentLine);
      if (parentLine !== undefined && made === undefined && !own.has(parentLine)) return [];
      own.add(line);
      if (parentLine === undefined) return [{ line, item: known }];
      const parent = made === undefined ? { parentRefId: `${parentLine}` } : { parentId: made };
      return [{ line, item: { ...known, ...parent } }];
    });
  }

  async #parentOf(fields: FileRecord["fields"]): Promise<{ line: number } | { id: number } | undefined> {
    const names = ["parentId", "parentName", "parentSourceId", "parentExternalId"];
    const [id, name, sourceId, externalId] = names.map((field) => fields.get(field));
    if (id !== undefined)
      return this.#inFile("parentId", `id ${textOf(id)}`, id) ?? { id: idIn("parentId", id) };
    if (externalId !== undefined) return this.#called("parentExternalId", "externalId", externalId);
    if (sourceId !== undefined) {
      const source = fields.get("parentSource") ?? fields.get("source");
      const found = this.#inFile("parentSourceId", sourceKey(source, sourceId), sourceId);
      if (found) return found;
      const isIt = (one: Created) => one["sourceId"] === textOf(sourceId);
      return {
        id: await this.#onServerOnly("parentSourceId", sourceId, { source: textOf(source ?? "") }, isIt),
      };
    }
    return name === undefined ? undefined : this.#called("parentName", "name", name);
  }

  /** The asset of the file, or of the server, whose `member` has this value. */
  async #called(field: string, member: string, value: unknown): Promise<{ line: number } | { id: number }> {
    const found = this.#inFile(field, `${member} ${textOf(value)}`, value);
    if (found) return found;
    return { id: await this.#onServerOnly(field, value, { [member]: textOf(value) }, () => true) };
  }

  #inFile(field: string, key: string, value: unknown): { line: number } | undefined {
    const line = this.#lines.get(key);
    if (line === -1) throw new Refused(field, value, "what several lines of the file are called");
    return line === undefined ? undefined : { line };
  }

  async #onServerOnly(
    field: string,
    value: unknown,
    query: Readonly<Record<string, string>>,
    isIt: (one: Created) => boolean,
  ): Promise<number> {
    const key = JSON.stringify([query, value]);
    const known = this.#onServer.get(key);
    if (known !== undefined) return known;
    const id = await onlyAsset(this.#loading.connection, query, isIt);
    if (typeof id === "string") throw new Refused(field, value, id);
    this.#onServer.set(key, id);
    return id;
  }
}

const sourceKey = (source: unknown, sourceId: unknown): string =>
  `source ${JSON.stringify([textOf(source ?? ""), textOf(sourceId)])}`;

/** The id of the one asset on the server, or why there is not one. */
async function onlyAsset(
  connection: Connection,
  query: Readonly<Record<string, string>>,
  isIt: (one: Created) => boolean,
): Promise<number | string> {
  const found: Created[] = [];
  const asked = { ...query, limit: String(limits.listItemsMax) };
  for await (const page of connection.pages<Created>(connection.pathOf("assets", "0.6"), asked))
    found.push(...page.filter(isIt));
  if (found.length === 1) return found[0]!.id;
  return found.length === 0 ? "not an asset of the file or of the server" : "what several assets are called";
}

class EventLoader implements Loader {
  readonly isRepeated = false;
  readonly #loading: Loading;
  readonly #creating: Creating;
  readonly #named = new Map<string, number | string>();

  constructor(loading: Loading) {
    this.#loading = loading;
    this.#creating = new Creating("events", loading);
  }

  async prepareOne(record: FileRecord): Promise<Prepared | undefined> {
    const { line, fields } = record;
    if (this.#creating.idOf(line) !== undefined) return undefined;
    const assetIds = listOf(fields.get("assetIds")).map((id) => idIn("assetIds", id));
    for (const name of listOf(fields.get("assetNames")))
      assetIds.push(await this.#idOf("assetNames", name, { name }));
    for (const externalId of listOf(fields.get("assetExternalIds")))
      assetIds.push(await this.#idOf("assetExternalIds", externalId, { externalId }));
    const [tagIds, phrases] = [fields.get("tagIds"), fields.get("semanticPhrases")];
    const item = {
      ...plainMembers("events", record),
      ...timesIn(fields, ["startTime", "endTime"]),
      assetIds,
      ...(tagIds !== undefined && { tagIds: tagsIn(tagIds) }),
      ...(phrases !== undefined && { semanticPhrases: phrasesIn(phrases) }),
    };
    return { line, item };
  }

  load(batch: readonly Prepared[], refuse: Refuse): Promise<number> {
    const itemsOf = (part: readonly Prepared[]) =>
      part.map(({ line, item }) => ({ line, item: item as object }));
    return this.#creating.create(batch, itemsOf, refuse);
  }

  async #idOf(field: string, value: string, query: Readonly<Record<string, string>>): Promise<number> {
    const key = `${field} ${value}`;
    const found = this.#named.get(key) ?? (await onlyAsset(this.#loading.connection, query, () => true));
    this.#named.set(key, found);
    if (typeof found === "string") throw new Refused(field, value, found);
    return found;
  }
}

/** Rows replace those of the same key, so that writing them again changes nothing. */
class RawLoader implements Loader {
  readonly isRepeated = false;
  readonly #loading: Loading;

  constructor(loading: Loading) {
    this.#loading = loading;
  }

  async prepareOne(record: FileRecord): Promise<Prepared> {
    return { line: record.line, item: rawRowOf(record, this.#loading.options.keyColumn) };
  }

  async load(batch: readonly Prepared[], refuse: Refuse): Promise<number> {
    const { connection, options } = this.#loading;
    if (options.dryRun || batch.length === 0) return batch.length;
    const [database, table] = [options.database, options.table].map(encodeURIComponent);
    const path = connection.pathOf(`raw/${database}/${table}/create?ensureParent=true`);
    try {
      await connection.json("POST", path, { body: `{"items":[${batch.map(({ item }) => item).join(",")}]}` });
      return batch.length;
    } catch (problem) {
      if (!(problem instanceof ServerProblem) || problem.status !== 400) throw problem;
      if (batch.length === 1) {
        refuse(batch[0]!, new Refused("", "", problem.message));
        return 0;
      }
      const half = Math.ceil(batch.length / 2);
      return (await this.load(batch.slice(0, half), refuse)) + (await this.load(batch.slice(half), refuse));
    }
  }
}
