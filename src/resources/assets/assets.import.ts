// `millrace import assets`: assets in any order, each created after its parent.
import type { Connection } from "../../client/connection.ts";
import type { Created } from "../../client/create-once.ts";
import { RecordCreator } from "../../import/record-creator.ts";
import {
  commonFields,
  fieldNames,
  idIn,
  plainMembers,
  type RecordFields,
  Refused,
  textOf,
} from "../../import/record-items.ts";
import type { Loader, Prepared, RecordImport, RecordKind, Refuse } from "../../import/record-kind.ts";
import { type FileRecord, recordsOf } from "../../import/records.ts";
import { limits } from "../../limits.ts";

const assetFields: RecordFields = {
  strings: ["name", "description", "source", "sourceId", "externalId"],
  others: [
    ...["id", "parentId", "parentName", "parentSource", "parentSourceId", "parentExternalId"],
    ...commonFields,
  ],
};

export const assetImport: RecordKind = {
  ...{ name: "assets", noun: "assets", fields: assetFields },
  help: [
    fieldNames(assetFields),
    "id is the file's own; a parent is one of the file, in any order, or of the server: by parentId,",
    "by parentName, or by parentSource and parentSourceId",
  ],
  loader: (loading) => new AssetLoader(loading),
};

class AssetLoader implements Loader {
  readonly isRepeated = true;
  readonly #loading: RecordImport;
  readonly #creator: RecordCreator;
  /** The line of each name, source id and external id of a parent; -1 for one of several lines. */
  readonly #lines = new Map<string, number>();
  readonly #all: number[] = [];
  readonly #onServer = new Map<string, number>();

  constructor(loading: RecordImport) {
    this.#loading = loading;
    this.#creator = new RecordCreator({ resource: "assets", identifying: assetFields.strings }, loading);
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
    if (this.#creator.idOf(line) !== undefined) return undefined;
    const item = plainMembers(assetFields, record);
    if (item["name"] === undefined) throw new Refused("name", "", "missing");
    const parent = await this.#parentOf(fields);
    if (parent === undefined) return { line, item };
    if ("line" in parent) return { line, item, parentLine: parent.line };
    return { line, item: { ...item, parentId: parent.id } };
  }

  load(batch: readonly Prepared[], refuse: Refuse): Promise<number> {
    return this.#creator.create(batch, (part) => this.#ready(part), refuse);
  }

  conclude(refuse: Refuse): void {
    for (const line of this.#all)
      if (this.#creator.idOf(line) === undefined)
        refuse({ line }, new Refused("", "", "its parent is not loaded, or is below it"));
  }

  /** Those whose parent exists or is an earlier one of the batch. */
  #ready(batch: readonly Prepared[]) {
    const own = new Set<number>();
    return batch.flatMap(({ line, item, parentLine }) => {
      const known = { ...(item as object), refId: `${line}` };
      const made = parentLine === undefined ? undefined : this.#creator.idOf(parentLine);
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

/** The id of the only such asset on the server, or why there is none. */
export async function onlyAsset(
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
