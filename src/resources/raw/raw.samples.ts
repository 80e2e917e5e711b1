// Sample records of raw for tests.
import { all, type Filling, type Reading, type SamplePart } from "../../../test/support/sample-part.ts";

export const rawSamples: SamplePart = {
  fill: fillRaw,
  async fillSmall({ ask }) {
    await ask("POST /raw/db/table/create?ensureParent=true", { items: [{ key: "a", columns: { b: 1 } }] });
  },
  read: async (reading) => ({ raw: await rawOf(reading) }),
};

/** Columns as JSON text that another serializer would change. */
const rawColumns = [
  '{"a":1e400,"b":1.0,"c":12345678901234567890123}',
  '{ "blank" : [ 1 ,2 ],\n\t"twice":1,"twice":-0, "ü":"\\u00fc\\/" }',
  "{}",
  '{"nested":{"a":[{"b":null}]},"":""}',
];

async function fillRaw(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const assetIds = filling.idsOf("assets");
  await ask("POST /raw/create", { items: [{ dbName: "empty" }, { dbName: "a/b ü" }] });
  const place = `/raw/${encodeURIComponent("a/b ü")}`;
  await ask(`POST ${place}/create`, {
    items: [
      { tableName: "nothing", assetIds: assetIds.slice(0, 2) },
      { tableName: "100 % 😀" },
      { tableName: "t2" },
    ],
  });
  for (const [table, count] of [
    ["100 % 😀", 40],
    ["t2", 10_500],
  ] as const)
    for (let from = 0; from < count; from += 10_000) {
      const rows = Array.from({ length: Math.min(10_000, count - from) }, (_, i) => {
        return `{"key":${JSON.stringify(`${from + i}${draws.text()}`)},"columns":${draws.pick(rawColumns)}}`;
      });
      await ask(`POST ${place}/${encodeURIComponent(table)}/create`, `{"items":[${rows.join(",")}]}`);
    }
}

/** Rows as the text of the response, which has their columns and times. */
async function rawOf(reading: Reading): Promise<unknown[]> {
  const { ask } = reading;
  const found: unknown[] = [];
  for (const { dbName } of await all(ask, "/raw")) {
    const place = `/raw/${encodeURIComponent(String(dbName))}`;
    for (const { tableName, assetIds } of await all(ask, place)) {
      found.push([dbName, tableName, reading.namesOf("assets", assetIds)]);
      const path = `${place}/${encodeURIComponent(String(tableName))}`;
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const answer = await ask(
          `GET ${path}?limit=10000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        found.push([dbName, tableName, answer.text.replace(/"(next|previous)Cursor":"[^"]*"/g, "")]);
        cursor = answer.nextCursor;
      }
    }
    found.push(dbName);
  }
  return found;
}
