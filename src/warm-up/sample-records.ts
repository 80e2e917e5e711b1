// The catalog of the warm-up: each read goes to the real catalog, which finds nothing, and returns samples.
import { administrator } from "../access/capabilities.ts";
import { type ApiKey, accountTable, apiKeyTable, groupTable } from "../access/schema.ts";
import { matchesAlone } from "../query/evaluate.ts";
import { oneOf } from "../query/filter.ts";
import { assetTable } from "../resources/assets/schema.ts";
import { timeSeriesTable } from "../resources/timeseries/schema.ts";
import type { AnyTable, Catalog, CatalogReader } from "../storage/catalog.ts";

/** No record has such an id: ids are times, and this one is centuries away. */
export const firstSampleId = Number.MAX_SAFE_INTEGER - 2 ** 20;
export const sampleProject = { id: firstSampleId, urlName: "warm-up" } as const;

const accountId = firstSampleId + 1;
const groupId = firstSampleId + 2;
const kept = { projectId: sampleProject.id, createdTime: 0 };
const times = { createdTime: 0, lastUpdatedTime: 0 };

/** A scan cycle of some length, and a page of the console. */
const [seriesCount, assetCount] = [500, 100];
const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number);
export const sampleNames = (): readonly string[] =>
  numbersTo(seriesCount).map((number) => `series ${number}`);

export const sampleKey = { name: "warm-up", accountId } as const;

const sampleSeries = () =>
  sampleNames().map((name, at) => ({
    ...{ id: firstSampleId + 1_000 + at, name, isString: false, isStep: false, metadata: {}, ...times },
  }));

const sampleAssets = () =>
  numbersTo(assetCount).map((number) => {
    const id = firstSampleId + 2_000 + number;
    return { id, name: `asset ${number}`, path: `/${id}/`, depth: 0, metadata: {}, ...times };
  });

type Samples = ReadonlyMap<string, readonly object[]>;

const samplesWith = (keys: readonly ApiKey[]): Samples =>
  new Map<string, readonly object[]>([
    [apiKeyTable.name, keys],
    [accountTable.name, [{ ...kept, id: accountId, uniqueName: "warm-up", groupIds: [groupId] }]],
    [groupTable.name, [{ ...kept, id: groupId, name: "warm-up", capabilities: administrator }]],
    [timeSeriesTable.name, sampleSeries()],
    [assetTable.name, sampleAssets()],
  ]);

/** The sample records, and `keys`, which the caller may fill later. Its `close` closes nothing. */
export function sampleCatalog(real: Pick<Catalog, "read">, keys: readonly ApiKey[]): Catalog {
  const samples = samplesWith(keys);
  const refused = async (): Promise<never> => {
    throw new Error("the warm-up changes no records");
  };
  return {
    read: (tenant, work) => real.read(tenant, (tx) => work(readerOf(tx, samples))),
    ...{ write: refused, writeBoth: refused, lastId: refused, close: async () => {} },
  };
}

function readerOf(tx: CatalogReader, samples: Samples): CatalogReader {
  const allOf = (table: Pick<AnyTable, "name">) => samples.get(table.name) ?? [];
  return {
    async find(table, question) {
      await tx.find(table, question);
      const found = allOf(table).filter((one) => matchesAlone(question.filter, one as never));
      return found.slice(0, question.page.limit).map((one) => ({ ...one })) as never;
    },
    async get(table, ids) {
      await tx.get(table, ids);
      return allOf(table).filter((one) => matchesAlone(oneOf("id", ids), one as never)) as never;
    },
    search: (table, question) => tx.search(table, question),
    count: (table, filter, unique) => tx.count(table, filter, unique),
    divide: (table, question) => tx.divide(table, question),
  };
}
