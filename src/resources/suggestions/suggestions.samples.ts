// Sample records of suggestions for tests.
import { all, bySort, type Filling, type SamplePart } from "../../../test/support/sample-part.ts";

const box = { x: 0.1, y: 0.25, width: 0.5, height: 0.125 };

export const suggestionSamples: SamplePart = {
  fill: fillSuggestions,
  async fillSmall(filling) {
    const [assetId] = filling.idsOf("assets");
    const [seriesId] = filling.idsOf("timeseries");
    const [file] = (await filling.ask("GET /files")).items;
    const common = { assetId, tag: "21-PT-1", score: 1 };
    await filling.ask("POST /suggestions", {
      items: [
        { ...common, seriesId, state: "REJECTED" },
        { ...common, fileId: file!["id"], page: 1, box },
      ],
    });
  },
  async read(reading) {
    const found = await all(reading.ask, "/suggestions");
    const files = new Map((await all(reading.ask, "/files")).map(({ id, fileName }) => [id, fileName]));
    const series = new Map((await all(reading.ask, "/timeseries")).map(({ id, name }) => [id, name]));
    const named = found.map(({ id: _, createdTime: __, lastUpdatedTime: ___, ...one }) => ({
      ...one,
      assetId: reading.nameOf("assets", one["assetId"]),
      seriesId: series.get(one["seriesId"]),
      fileId: files.get(one["fileId"]),
    }));
    return { suggestions: bySort(named) };
  },
};

async function fillSuggestions(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const assetIds = filling.idsOf("assets");
  const files = (await ask("GET /files")).items;
  const common = (i: number) => ({
    ...{ assetId: draws.pick(assetIds), tag: `t${i}${draws.text()}`, score: draws.below(4) },
    state: ["OPEN", "ACCEPTED", "REJECTED"][i % 3],
  });
  const ofSeries = filling.idsOf("timeseries").map((seriesId, i) => ({ ...common(i), seriesId }));
  const ofFiles = files.map(({ id }, i) => ({ ...common(i), fileId: id, page: i + 1, box }));
  await ask("POST /suggestions", { items: [...ofSeries, ...ofFiles] });
}
