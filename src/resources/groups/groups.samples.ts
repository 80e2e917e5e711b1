// Sample records of groups for tests.
import { all, type SamplePart } from "../../../test/support/sample-part.ts";

const list = "securitycategories";

export const groupSamples: SamplePart = {
  fill: async (filling) => void (await filling.create(list, [{ name: "s" }, { name: "t" }])),
  fillSmall: async (filling) => void (await filling.create(list, [{ name: "secret" }])),
  async read(reading) {
    const categories = await all(reading.ask, `/${list}`);
    reading.name(list, new Map(categories.map(({ id, name }) => [id, String(name)])));
    return { categories: categories.map(({ id: _, ...one }) => one) };
  },
  single: {
    groups: [{ name: "a" }, { name: "b" }],
    securitycategories: [{ name: "a" }, { name: "b" }],
  },
};
