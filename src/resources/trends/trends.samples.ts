// Sample records of trends for tests.
import { all, bySort, type Filling, type SamplePart } from "../../../test/support/sample-part.ts";

export const trendSamples: SamplePart = {
  fill: fillTrends,
  async fillSmall({ ask }) {
    await ask("POST /trends", { items: [{ name: "t", description: "d", definition: { series: ["a"] } }] });
  },
  read: async ({ ask }) => ({
    trends: bySort((await all(ask, "/trends")).map(({ id: _, owner: __, ownerId: ___, ...one }) => one)),
  }),
  single: {
    trends: [
      { name: "one", definition: {} },
      { name: "two", definition: {} },
    ],
  },
};

/** Definitions with every kind of value, and with members that a decoder of bodies could drop. */
const definitions = [
  '{"axes":[{"min":null,"max":-1.5e-7}],"nested":{"a":[{"b":null}]},"":""}',
  '{ "blank" : [ 1 ,2 ],\n\t"__proto__":1,"10":true,"2":false, "ü":"\\u00fc\\/\\u0000" }',
  "{}",
];

async function fillTrends({ ask, draws }: Filling): Promise<void> {
  const items = Array.from({ length: 15 }, (_, i) => {
    const named = JSON.stringify({ name: `${i}${draws.text()}`, ...draws.some(i, { description: "d" }) });
    return `${named.slice(0, -1)},"definition":${draws.pick(definitions)}}`;
  });
  await ask("POST /trends", `{"items":[${items.join(",")}]}`);
}
