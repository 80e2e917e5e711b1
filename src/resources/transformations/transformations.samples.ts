// Sample records of transformations for tests.
import { all, bySort, type Filling, type SamplePart } from "../../../test/support/sample-part.ts";

const one = (externalId: string, more: object = {}) => ({
  ...{ externalId, name: externalId, query: "SELECT 'a' AS externalId" },
  ...{ destination: { type: "events" }, action: "upsert", ...more },
});

export const transformationSamples: SamplePart = {
  fill: fillTransformations,
  async fillSmall({ ask }) {
    await ask("POST /transformations", {
      items: [one("t", { nulls: "clear", onError: "skip", schedule: { after: "other" } }), one("other")],
    });
  },
  read: async ({ ask }) => ({
    transformations: bySort(
      (await all(ask, "/transformations")).map(({ id: _, owner: __, ownerId: ___, ...one }) => one),
    ),
  }),
  single: { transformations: [one("one"), one("two")] },
};

async function fillTransformations({ ask, draws }: Filling): Promise<void> {
  const items = Array.from({ length: 5 }, (_, i) =>
    one(`${i}${draws.text()}`, {
      ...{ query: `SELECT '${i}' AS "key", ' é\n' AS "b c"`, action: draws.pick(["create", "upsert"]) },
      destination: { type: "raw", database: `d${i}`, table: `t ${i}` },
    }),
  );
  // More than one request restores.
  const many = Array.from({ length: 60 }, (_, i) => one(`many ${i}`));
  for (let part = 0; part < 2; part++)
    await ask("POST /transformations", {
      items: many.map((item) => ({ ...item, externalId: `${item.externalId} ${part}` })),
    });
  // Far enough apart, so that it does not run in a test.
  const schedule = { cron: "30 4 29 2 *", timeZone: "Europe/Oslo" };
  const secret = `whsec_${"c2VjcmV0".repeat(4)}`;
  const webhook = { url: "https://receiver.example/é?a=b", secret, onRefusals: true };
  const later = one("later", { schedule: { after: "yearly" } });
  const rows = one("rows", { destination: { type: "sequenceRows", sequence: "pump curve" } });
  await ask("POST /transformations", {
    items: [...items, rows, later, one("yearly", { schedule, webhook })],
  });
}
