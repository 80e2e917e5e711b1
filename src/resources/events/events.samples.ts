// Sample records of events for tests.
import { all, bySort, type Filling, type Item, type SamplePart } from "../../../test/support/sample-part.ts";
import { common } from "../assets/assets.samples.ts";

export const eventSamples: SamplePart = {
  fill: fillEvents,
  async fillSmall(filling) {
    await filling.create("eventtransformers", [{ name: "alarms" }]);
    await filling.create("semantictypes", [{ name: "alarm" }]);
    const [eventTransformerId] = filling.idsOf("eventtransformers");
    const [semanticTypeId] = filling.idsOf("semantictypes");
    await filling.create("events", [
      {
        ...{ description: "hot", startTime: 1, endTime: 2, assetIds: filling.idsOf("assets") },
        ...{ eventTransformerId, semanticPhrases: [{ text: "t", semanticTypeId }], ...common },
      },
    ]);
  },
  async read(reading) {
    const transformers = await all(reading.ask, "/eventtransformers");
    const semanticTypes = await all(reading.ask, "/semantictypes");
    const events = await all(reading.ask, "/events");
    const ids = { items: events.map(({ id }) => id) };
    const { items: old } = await reading.ask("POST /events/byids", ids, "0.4");
    const termAt = (id: unknown) => {
      const at = transformers.findIndex((one) => one["id"] === id);
      return at < 0 ? id : `term ${at}`;
    };
    const phraseOf = ({ text, semanticTypeId }: Item) => [
      text,
      semanticTypes.findIndex(({ id }) => id === semanticTypeId),
    ];
    return {
      transformers: transformers.map(({ id: _, ...one }) => one),
      semanticTypes: semanticTypes.map(({ id: _, ...one }) => one),
      events: bySort(
        events.map(({ id: _, assetIds, eventTransformerId, semanticPhrases, ...one }, at) => ({
          ...one,
          phrases: (semanticPhrases as Item[] | undefined)?.map(phraseOf),
          additionalData: old[at]!["additionalData"],
          eventTransformerId: termAt(eventTransformerId),
          assetIds: reading.namesOf("assets", assetIds),
        })),
      ),
    };
  },
  single: {
    events: [{ type: "a" }, { type: "b" }],
    eventtransformers: [{ name: "a" }, { name: "b" }],
    semantictypes: [{ name: "a" }, { name: "b" }],
  },
};

async function fillEvents(filling: Filling): Promise<void> {
  const { draws } = filling;
  const assetIds = filling.idsOf("assets");
  const terms = [{ name: "a" }, { name: "a", description: `d${draws.text()}` }, { name: `b${draws.text()}` }];
  const transformers = await filling.create("eventtransformers", terms);
  const types = await filling.create("semantictypes", [...terms, { name: "c" }]);
  const phrase = () => ({ text: draws.text(), semanticTypeId: draws.pick(types)["id"] });
  const events = Array.from({ length: 40 }, (_, i) => ({
    ...draws.some(i, {
      startTime: -5 + draws.below(9),
      endTime: 8.64e15,
      type: `t${draws.text()}`,
      subtype: `s${draws.text()}`,
    }),
    ...draws.some(i, {
      description: `d${draws.text()}`,
      source: "s",
      assetIds: [draws.pick(assetIds), draws.pick(assetIds)],
    }),
    ...draws.some(i, {
      eventTransformerId: draws.pick([transformers[1]!["id"], 12345]),
      eventReferenceKey: `k${i}`,
      tagIds: [`t${draws.text()}`, "5"],
      semanticPhrases: [phrase(), phrase()],
    }),
    ...draws.common("event", i),
    sourceId: `${i}`,
    ...(i % 2
      ? { metadata: draws.metadata(`event ${i}`) }
      : {
          additionalData: {
            ...draws.metadata(`event ${i}`),
            deep: { list: [1, "x", true] },
            count: draws.below(9),
          },
        }),
  }));
  await filling.create("events", events);
}
