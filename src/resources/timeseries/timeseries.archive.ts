// Time series and their datapoints in an archive.
import { type ArchiveLine, id, list, object, optional, times } from "../../archive/checks.ts";
import { unlessDeleted } from "../../archive/deleted.ts";
import { entryBytes } from "../../archive/format.ts";
import { JsonLines } from "../../archive/json-lines.ts";
import { bytesOf } from "../../archive/reader.ts";
import { pagesOf, type RecordSection, recordSection } from "../../archive/records.ts";
import {
  type ArchivePart,
  type BytesSection,
  type Exporting,
  type Restoring,
  Stopped,
} from "../../archive/section.ts";
import { limits } from "../../limits.ts";
import { withAsset } from "../assets/assets.archive.ts";
import { namedPoints, pointsIn } from "./points.archive.ts";

const categories = "securitycategories";

const records = recordSection({
  name: "timeseries",
  check: object({
    ...{ id, ...times, assetId: optional(id), securityCategories: optional(list(id)) },
  }),
  toCreate: ({ securityCategories, ...members }, references) => {
    const categoryIds = references.ids(categories, securityCategories);
    return {
      ...withAsset(members, references),
      ...(categoryIds.length > 0 && { securityCategories: categoryIds }),
    };
  },
});

const series: RecordSection = {
  ...records,
  restore: async (lines, restoring) => {
    await replaceMissingCategories(lines, restoring);
    return records.restore(lines, restoring);
  },
};

/**
 * Creates a category in place of each one that these series have and the archive lacks: it was deleted, or
 * the exporting key could not list it. Without a category, all readers would see the series.
 */
async function replaceMissingCategories(
  lines: readonly ArchiveLine[],
  { creations, references }: Restoring,
): Promise<void> {
  const named = lines.flatMap(({ securityCategories = [] }) => securityCategories as readonly number[]);
  const missing = [...new Set(named)].filter((one) => references.idOf(categories, one) === undefined);
  for (let at = 0; at < missing.length; at += limits.importItemsPerRequest) {
    const replaced = missing.slice(at, at + limits.importItemsPerRequest);
    const items = replaced.map((one) => ({ name: `Category ${one} of the archived project` }));
    const created = await creations.create({ kind: categories, resource: categories }, items);
    references.note(
      categories,
      replaced.map((given, index) => ({ given, id: created[index]!.id })),
    );
  }
}

const points: BytesSection = {
  ...{ kind: "bytes", name: "datapoints", extension: "pb" },
  restore: async (entry, { connection }) => {
    await connection.json("POST", connection.pathOf("timeseries/data"), {
      body: Uint8Array.from(await bytesOf(entry, limits.bodyBytesMax)),
      headers: { "content-type": "application/protobuf" },
    });
    return {};
  },
};

export const timeSeriesArchive: ArchivePart = {
  sections: [series, points],
  lists: [series.list],
  tables: ["time_series"],
  export: exportSeries,
};

/** Each page of series, followed by its points. */
async function exportSeries(exporting: Exporting): Promise<void> {
  const entries = new PointEntries(exporting);
  for await (const page of pagesOf(exporting, series.list, { includeMetadata: "true" })) {
    const lines = new JsonLines(exporting, series.name);
    for (const one of page) await lines.add(JSON.stringify(one));
    await lines.flush();
    for (const { id, name, isString } of page)
      await entries.addSeries({ id, name: String(name), isString: isString === true });
    await entries.flush();
  }
}

/** Points of strings in a request: the longest ones still fit into one insert. */
const stringsPerRead = 1_000;

/** Collects points of series and writes them as entries, each of which is the body of one insert. */
class PointEntries {
  readonly #exporting: Exporting;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #points = 0;

  constructor(exporting: Exporting) {
    this.#exporting = exporting;
  }

  async addSeries(series: { readonly id: number; readonly name: string; readonly isString: boolean }) {
    const { connection, stop } = this.#exporting;
    const path = connection.pathOf(`timeseries/${series.id}/data`);
    const limit = series.isString ? stringsPerRead : limits.pointsPerReadMax;
    const accept = { headers: { accept: "application/protobuf" } };
    for (let start = limits.timeMsMin; start <= limits.timeMsMax; ) {
      if (stop.aborted) throw new Stopped();
      const range = `start=${start}&end=${limits.timeMsMax + 1}&limit=${limit}`;
      const read = await unlessDeleted(connection.bytes("GET", `${path}?${range}`, accept));
      if (!read) return;
      const found = pointsIn(read);
      if (found.count > 0) await this.#add(namedPoints(series.name, found), found.count);
      if (found.count < limit) return;
      start = found.lastMs + 1;
    }
  }

  async #add(pieces: readonly Buffer[], points: number): Promise<void> {
    if (this.#points + points > limits.pointsPerWriteMax) await this.flush();
    this.#chunks.push(...pieces);
    this.#bytes += pieces.reduce((sum, { length }) => sum + length, 0);
    this.#points += points;
    if (this.#bytes >= entryBytes) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#points === 0) return;
    const { writer, progress } = this.#exporting;
    await writer.add("datapoints", Buffer.concat(this.#chunks), this.#points);
    progress("datapoints", this.#points);
    this.#chunks = [];
    this.#bytes = 0;
    this.#points = 0;
  }
}
