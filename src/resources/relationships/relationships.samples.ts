// Sample records of relationships for tests.
import { all, bySort, type Filling, type SamplePart } from "../../../test/support/sample-part.ts";

export const relationshipSamples: SamplePart = {
  fill: fillRelationships,
  async fillSmall({ ask }) {
    await ask("POST /relationships", {
      items: [
        {
          ...{ externalId: "r", sourceType: "asset", sourceExternalId: "a" },
          ...{ targetType: "asset", targetExternalId: "b", startTime: 1, endTime: 2, dataSetId: 1 },
        },
      ],
    });
  },
  read: async ({ ask }) => ({
    relationships: bySort((await all(ask, "/relationships")).map(({ id: _, ...one }) => one)),
  }),
};

async function fillRelationships({ ask, draws }: Filling): Promise<void> {
  const ends = () => ({ sourceType: draws.pick(["asset", "file"]), sourceExternalId: `x${draws.text()}` });
  const relationships = Array.from({ length: 15 }, (_, i) => ({
    ...{
      externalId: `${i}${draws.text()}`,
      ...ends(),
      targetType: "event",
      targetExternalId: `y${draws.text()}`,
    },
    ...draws.some(i, {
      startTime: -1000,
      endTime: 5,
      confidence: 0.1,
      dataSetId: 77,
      labels: ["a", `b${draws.text()}`],
    }),
  }));
  await ask("POST /relationships", {
    items: relationships.map(({ endTime, ...one }) => ({ ...one, ...(one.startTime && { endTime }) })),
  });
}
