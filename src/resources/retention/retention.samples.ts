// Sample retention rules for tests. None of them is old enough to remove a point.
import { all, bySort, type Filling, type SamplePart } from "../../../test/support/sample-part.ts";

export const retentionSamples: SamplePart = {
  fill: fillRules,
  async fillSmall(filling) {
    const [seriesId] = filling.idsOf("timeseries");
    const [assetId] = filling.idsOf("assets");
    await filling.ask("POST /retentionrules", {
      items: [
        { name: "series", seriesId, keepDays: 36_500 },
        { name: "subtree", assetId, keepDays: 36_499 },
      ],
    });
  },
  async read(reading) {
    const series = new Map((await all(reading.ask, "/timeseries")).map(({ id, name }) => [id, name]));
    const rules = (await all(reading.ask, "/retentionrules")).map((rule) => ({
      name: rule["name"],
      keepDays: rule["keepDays"],
      wholeProject: rule["wholeProject"],
      assetId: reading.nameOf("assets", rule["assetId"]),
      seriesId: series.get(rule["seriesId"]),
    }));
    return { retentionRules: bySort(rules) };
  },
};

async function fillRules(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const common = (i: number) => ({ name: `r${i}${draws.text()}`, keepDays: 36_500 - draws.below(50) });
  const ofSeries = filling.idsOf("timeseries").map((seriesId, i) => ({ ...common(i), seriesId }));
  const ofAssets = filling.idsOf("assets").map((assetId, i) => ({ ...common(i), assetId }));
  await ask("POST /retentionrules", {
    items: [...ofSeries, ...ofAssets, { ...common(0), wholeProject: true }],
  });
}
