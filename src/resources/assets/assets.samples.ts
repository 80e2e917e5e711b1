// Sample records of assets for tests.
import {
  all,
  bySort,
  type Filling,
  type Item,
  type Reading,
  type SamplePart,
  withoutIds,
} from "../../../test/support/sample-part.ts";

/** Members that most records share. */
export const common = { dataSetId: 1, sourceCreatedTime: 1, sourceModifiedTime: 2 };

export const assetSamples: SamplePart = {
  fill: fillAssets,
  async fillSmall(filling) {
    const fields = [{ name: "power", valueType: "Double" }];
    const [type] = await filling.create("assets/types", [{ name: "pumps", fields }]);
    const [plant] = await filling.create("assets", [{ name: "plant", ...common }]);
    const [field] = type!["fields"] as { id: number }[];
    const types = [{ id: type!["id"], fields: [{ id: field!.id, value: 1 }] }];
    await filling.create("assets", [{ name: "pump", parentId: plant!["id"], types }]);
  },
  async read(reading) {
    const assets = await all(reading.ask, "/assets");
    const labels = assets.map(({ id, metadata }) => [id, (metadata as { label: string }).label] as const);
    reading.name("assets", new Map(labels));
    return {
      types: (await all(reading.ask, "/assets/types")).map(withoutIds),
      assets: bySort(assets.map((one) => comparable(one, reading))),
    };
  },
  single: {
    assets: [{ name: "a" }, { name: "b" }],
    "assets/types": [{ name: "a" }, { name: "b" }],
  },
};

const comparable = ({ id: _, parentId, path, types, ...one }: Item, reading: Reading): Item => ({
  ...one,
  types: withoutIds(types),
  parentId: reading.nameOf("assets", parentId),
  path: reading.namesOf("assets", path),
});

async function fillAssets(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const fields = [
    { name: "f", valueType: "Double" },
    { name: "f", valueType: "String", description: `d${draws.text()}` },
  ];
  const types = await filling.create("assets/types", [
    { name: "t", description: "d", fields },
    { name: "empty" },
  ]);
  const [full, empty] = types as { id: number; fields: { id: number }[] }[];
  const held = () => [
    {
      id: full!.id,
      fields: [
        { id: full!.fields[0]!.id, value: draws.number() },
        { id: full!.fields[1]!.id, value: draws.text() },
      ],
    },
    { id: empty!.id },
  ];
  const assets = Array.from({ length: 60 }, (_, i) => ({
    name: `${i} ${draws.text()}`.slice(0, 50),
    refId: `r${i}`,
    ...(i > 3 && { parentRefId: `r${draws.below(i)}` }),
    ...draws.some(i, { description: `d${draws.text()}`, source: `s${draws.text()}`, types: held() }),
    ...draws.common("asset", i),
    sourceId: `${i}`,
    metadata: draws.metadata(`asset ${i}`),
  }));
  await filling.create("assets", assets);
  const ids = filling.idsOf("assets");
  // Moved below a younger one, and changed later than made.
  await ask(`PATCH /assets/${ids[1]}`, { parentId: ids[0] });
}
