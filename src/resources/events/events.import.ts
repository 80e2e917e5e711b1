// `millrace import events`: events with links to assets by id, name or external id.
import { RecordCreator } from "../../import/record-creator.ts";
import {
  commonFields,
  fieldNames,
  idIn,
  listOf,
  plainMembers,
  type RecordFields,
  Refused,
  textOf,
  timesIn,
} from "../../import/record-items.ts";
import type { Loader, Prepared, RecordImport, RecordKind, Refuse } from "../../import/record-kind.ts";
import type { FileRecord } from "../../import/records.ts";
import { parseJson } from "../../lib/json.ts";
import { onlyAsset } from "../assets/assets.import.ts";

const eventFields: RecordFields = {
  strings: ["description", "type", "subtype", "source", "sourceId", "externalId"],
  others: [
    ...["startTime", "endTime", "assetIds", "assetNames", "assetExternalIds", "tagIds", "semanticPhrases"],
    ...commonFields,
  ],
};

export const eventImport: RecordKind = {
  ...{ name: "events", noun: "events", fields: eventFields },
  help: [
    fieldNames(eventFields),
    "times in ISO 8601 or ms since 1970; several assets are separated by semicolons",
  ],
  loader: (loading) => new EventLoader(loading),
};

const identifying = ["description", "externalId", "source", "sourceId", "startTime", "endTime", "type"];

class EventLoader implements Loader {
  readonly isRepeated = false;
  readonly #loading: RecordImport;
  readonly #creator: RecordCreator;
  readonly #named = new Map<string, number | string>();

  constructor(loading: RecordImport) {
    this.#loading = loading;
    this.#creator = new RecordCreator({ resource: "events", identifying }, loading);
  }

  async prepareOne(record: FileRecord): Promise<Prepared | undefined> {
    const { line, fields } = record;
    if (this.#creator.idOf(line) !== undefined) return undefined;
    const assetIds = listOf(fields.get("assetIds")).map((id) => idIn("assetIds", id));
    for (const name of listOf(fields.get("assetNames")))
      assetIds.push(await this.#idOf("assetNames", name, { name }));
    for (const externalId of listOf(fields.get("assetExternalIds")))
      assetIds.push(await this.#idOf("assetExternalIds", externalId, { externalId }));
    const [tagIds, phrases] = [fields.get("tagIds"), fields.get("semanticPhrases")];
    const item = {
      ...plainMembers(eventFields, record),
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
    return this.#creator.create(batch, itemsOf, refuse);
  }

  async #idOf(field: string, value: string, query: Readonly<Record<string, string>>): Promise<number> {
    const key = `${field} ${value}`;
    const found = this.#named.get(key) ?? (await onlyAsset(this.#loading.connection, query, () => true));
    this.#named.set(key, found);
    if (typeof found === "string") throw new Refused(field, value, found);
    return found;
  }
}

/** The tags of an event: a number in JSON is the id of an asset, everything else is a string. */
const tagsIn = (value: unknown): (string | number)[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === "number" ? one : textOf(one))) : listOf(value);

/** The semantic phrases of an event: a list of JSON, which is the text of a cell in CSV. */
function phrasesIn(value: unknown): unknown[] {
  try {
    const list = typeof value === "string" ? parseJson(value) : value;
    if (Array.isArray(list)) return list;
  } catch {}
  throw new Refused("semanticPhrases", value, "not a JSON list of phrases");
}
