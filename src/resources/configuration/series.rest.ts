// Time series in a configuration (docs/apply.md#time-series).
import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { strict } from "../../rest/strict.ts";
import { assetsByExternalId, externalIdsOfAssets } from "../assets/links.ts";
import { externalIdField } from "../common/fields.rest.ts";
import { newSeries, newSeriesOf } from "../timeseries/schemas.rest.ts";
import {
  createTimeSeries,
  listTimeSeries,
  type NewTimeSeries,
  type SeriesChange,
  type TimeSeries,
  updateTimeSeries,
} from "../timeseries/timeseries.ts";
import {
  allOf,
  type ConfigurationKind,
  type Document,
  type DocumentChange,
  documentOf,
  naming,
} from "./kind.ts";

const { id: _, ...members } = newSeries.properties;

export const seriesDocument = strict(
  Type.Object({
    ...members,
    asset: Type.Optional(externalIdField("In place of `assetId`: the external id of the asset")),
  }),
  "SeriesDocument",
);

type Sent = Static<typeof seriesDocument>;

const named = { name: "series", key: "name" } as const;

export const seriesKind: ConfigurationKind<Sent, NewTimeSeries> = {
  ...named,
  list: ["timeSeriesAcl", "READ"],
  needs: [
    ["timeSeriesAcl", "READ"],
    ["timeSeriesAcl", "WRITE"],
  ],
  async wanted(ctx, sent) {
    const assets = await assetsByExternalId(
      ctx,
      "timeSeriesAcl",
      sent.flatMap(({ asset }) => asset ?? []),
    );
    const values = await mapInSlices(sent, (item, index) => newSeriesOf(linked(item, index, assets), index));
    const documents = await documentsOf(ctx, values);
    return values.map((value, index) => ({ value, document: documents[index]! }));
  },
  page: async (ctx, page) => {
    const { items, ...around } = await listTimeSeries(ctx, { filter: { kind: "everything" }, page });
    return { ...around, items: await found(ctx, items) };
  },
  async named(ctx, names) {
    const filter = oneOf("name", names);
    return found(ctx, await allOf((page) => listTimeSeries(ctx, { filter, page })));
  },
  create: async (ctx, wanted) => {
    await naming(named, documentsIn(wanted), () =>
      createTimeSeries(
        ctx,
        wanted.map(({ value }) => value),
      ),
    );
  },
  async update(ctx, wanted) {
    for (const one of wanted) await naming(named, [one.document], async () => refuseOtherKind(one));
    const update = {
      keys: { ids: wanted.map(({ id }) => id) },
      changes: wanted.map(({ value }) => changeOf(value)),
      status: 400,
    } as const;
    await naming(named, documentsIn(wanted), () => updateTimeSeries(ctx, update));
  },
};

const documentsIn = (wanted: readonly { readonly document: Document }[]) =>
  wanted.map(({ document }) => document);

/** The series with the id of its asset. */
function linked({ asset, ...sent }: Sent, index: number, assets: ReadonlyMap<string, number>) {
  if (asset === undefined) return sent;
  const field = `items[${index}].asset`;
  const refused = (expected: string) =>
    fail("field-invalid", { field, expected, got: JSON.stringify(asset) });
  if (sent.assetId !== undefined) throw refused("no external id beside assetId");
  const assetId = assets.get(asset);
  if (assetId === undefined) throw refused("the external id of an existing asset");
  return { ...sent, assetId };
}

async function found(ctx: RequestContext, rows: readonly TimeSeries[]) {
  const documents = await documentsOf(ctx, rows);
  return rows.map(({ id }, index) => ({ id, document: documents[index]! }));
}

async function documentsOf(
  ctx: RequestContext,
  series: readonly (NewTimeSeries | TimeSeries)[],
): Promise<Document[]> {
  const ids = [...new Set(series.flatMap(({ assetId }) => assetId ?? []))];
  const assets = await externalIdsOfAssets(ctx, "timeSeriesAcl", ids);
  return mapInSlices(series, (one) => {
    const asset = assets.get(one.assetId ?? 0);
    return documentOf({
      name: one.name,
      externalId: one.externalId,
      description: one.description,
      unit: one.unit,
      isString: one.isString || undefined,
      isStep: one.isStep || undefined,
      asset,
      assetId: asset === undefined ? one.assetId : undefined,
      metadata: one.metadata,
      dataSetId: one.dataSetId,
      labels: one.labels,
      sourceCreatedTime: one.sourceCreatedTime,
      sourceModifiedTime: one.sourceModifiedTime,
      securityCategories: one.securityCategories,
    });
  });
}

/** Refuses (400) a change of the two members of a series that never change. */
function refuseOtherKind({ fields, value }: DocumentChange<NewTimeSeries>): void {
  for (const field of ["isString", "isStep"] as const)
    if (fields.includes(field)) {
      const expected = `${!value[field]} as at its creation`;
      throw fail("field-invalid", { field, expected, got: String(value[field]) });
    }
}

/** Members that the document lacks are cleared. */
const changeOf = (value: NewTimeSeries): SeriesChange => ({
  externalId: value.externalId ?? null,
  description: value.description ?? null,
  unit: value.unit ?? null,
  assetId: value.assetId ?? null,
  metadata: value.metadata,
  dataSetId: value.dataSetId ?? null,
  labels: { set: value.labels ?? [] },
  sourceCreatedTime: value.sourceCreatedTime ?? null,
  sourceModifiedTime: value.sourceModifiedTime ?? null,
  securityCategories: { set: value.securityCategories ?? [] },
});
