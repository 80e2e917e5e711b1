// A list serialized in chunks has the same JSON as serialized at once.
import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { inChunks, itemsTextResponse, itemTexts } from "./long-lists.ts";
import type { RouteResponse } from "./route.ts";

async function textOf(response: RouteResponse): Promise<string> {
  if ("stream" in response) return (await buffer(response.stream)).toString();
  return "bytes" in response ? Buffer.from(response.bytes).toString() : JSON.stringify(response);
}

const item = (at: number) => ({
  id: at,
  name: `"é" ${at}`,
  metadata: { k: "v".repeat(at % 7) },
  none: undefined,
});

test("a list has the same JSON in chunks as at once, for any number and length of items", async () => {
  for (const count of [0, 1, 32, 33, 64, 65, 1_000, 20_000]) {
    const response = { data: { items: Array.from({ length: count }, (_, at) => item(at)), nextCursor: "c" } };
    const made = (await inChunks(response)) ?? response;
    assert.equal("stream" in made, count === 20_000);
    assert.equal(await textOf(made), JSON.stringify(response));
  }
});

test("long items are not collected, and a list of short ones takes few strings", () => {
  const long = Array.from({ length: 100 }, (_, at) => ({ at, text: "x".repeat(49_000) }));
  assert.equal([...itemTexts(long)].length, 100);
  const mixed = [...Array.from({ length: 1_000 }, () => ({})), ...long];
  const lengths = [...itemTexts(mixed)].map((text) => text.length);
  assert.ok(lengths.filter((length) => length > 100_000).length <= 1, "the first long ones at most");
  assert.ok(lengths.length < 200);
});

test("batches without items leave no commas", async () => {
  for (const batches of [[], [[]], [[], ["1"], []], [["1", "2"], [], ["3"]], [[], [], ["1,2", "3"]]]) {
    const text = await textOf(await itemsTextResponse({ data: { items: [] } }, batches));
    assert.equal(text, `{"data":{"items":[${batches.flat().join(",")}]}}`);
  }
});
