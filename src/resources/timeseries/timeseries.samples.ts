// Sample records of timeseries for tests.
import type { AskProject, Filling, Item, Member, SamplePart } from "../../../test/support/sample-part.ts";
import { all, bySort } from "../../../test/support/sample-part.ts";
import { common } from "../assets/assets.samples.ts";

/** How many points the longest series has: more than one read, and more than one insert, takes. */
export const manyPoints = 110_000;

export const timeSeriesSamples: SamplePart = {
  fill: fillSeries,
  async fillSmall(filling) {
    const [assetId] = filling.idsOf("assets");
    const securityCategories = filling.idsOf("securitycategories");
    const [series] = await filling.create("timeseries", [
      { name: "flow", assetId, securityCategories, ...common },
    ]);
    const items = [{ timestamp: 1, value: 2 }];
    await filling.ask(`POST /timeseries/${series!["id"]}/data`, { items });
  },
  async read(reading) {
    const series = await all(reading.ask, "/timeseries", "includeMetadata=true&");
    return {
      series: bySort(
        series.map(({ id: _, assetId, securityCategories, ...one }) => ({
          ...one,
          assetId: reading.nameOf("assets", assetId),
          categories: reading.namesOf("securitycategories", securityCategories),
        })),
      ),
      points: await Promise.all(series.map(async ({ id, name }) => [name, await pointsOf(reading.ask, id)])),
    };
  },
  single: { timeseries: [{ name: "a" }, { name: "b" }] },
};

async function fillSeries(filling: Filling): Promise<void> {
  const { draws } = filling;
  const assetIds = filling.idsOf("assets");
  const series = Array.from({ length: 14 }, (_, i) => ({
    name: `${i}/${draws.text()}`,
    isString: i % 3 === 1,
    isStep: i % 4 === 0,
    ...draws.some(i, { description: `d${draws.text()}`, unit: "°C", assetId: draws.pick(assetIds) }),
    ...draws.common("series", i),
    ...draws.some(i, {
      metadata: draws.metadata(`series ${i}`),
      securityCategories: filling.idsOf("securitycategories"),
    }),
  }));
  const items = await filling.create("timeseries", series);
  await fillPoints(filling, items);
}

async function fillPoints({ ask, draws }: Filling, items: readonly Item[]): Promise<void> {
  for (const [i, { id, isString }] of items.entries()) {
    const times = [
      -2208988800000,
      -1,
      0,
      1,
      4102444799999,
      ...Array.from({ length: draws.below(40) }, () => 1.7e12 + draws.below(1e9)),
    ];
    const points = times.map((timestamp) => ({ timestamp, value: isString ? draws.text() : draws.number() }));
    if (i !== 5) await ask(`POST /timeseries/${id}/data`, { items: points });
  }
  for (const start of [0, manyPoints / 2]) {
    const points = Array.from({ length: manyPoints / 2 }, (_, i) => ({
      timestamp: (start + i) * 997,
      value: Math.sin(start + i),
    }));
    await ask(`POST /timeseries/${items[2]!["id"]}/data`, { items: points });
  }
  const texts = Array.from({ length: 1_200 }, (_, i) => ({ timestamp: i, value: `${i} ${draws.text()}` }));
  await ask(`POST /timeseries/${items[1]!["id"]}/data`, { items: texts });
}

async function pointsOf(ask: AskProject, id: unknown): Promise<unknown[]> {
  const points: unknown[] = [];
  for (let start = -2208988800000; ; ) {
    const { items } = await ask(`GET /timeseries/${id}/data?start=${start}&end=4102444800000&limit=100000`);
    const { datapoints } = items[0] as { datapoints: { timestamp: number; value: Member }[] };
    points.push(...datapoints.map(({ timestamp, value }) => [timestamp, value]));
    if (datapoints.length < 100_000) return points;
    start = datapoints.at(-1)!.timestamp + 1;
  }
}
