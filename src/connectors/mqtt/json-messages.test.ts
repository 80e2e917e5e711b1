// The records of a JSON message: one that cannot be read takes no other with it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "../../lib/json.ts";
import { jsonReader } from "./json-messages.ts";
import type { MessageRecords } from "./message-reader.ts";

/** As JSON: the objects of JSONata have no prototype. */
async function readingOf(map: string, message: unknown): Promise<MessageRecords> {
  const payload = new TextEncoder().encode(JSON.stringify(message));
  const reading = await jsonReader(map)(["plant", "press"], payload, 5);
  return parseJson(JSON.stringify(reading)) as MessageRecords;
}

test("a point without a value is refused, and the other records of the message are written", async () => {
  const map = `[{"series": "a", "value": t}, {"series": "b", "value": p}, {"series": 7, "value": t},
    {"series": "c", "value": t, "timestamp": {"ms": 1}},
    {"row": {"database": "d", "table": "t", "key": "k", "columns": {"t": t}}}]`;
  const { refused, ...records } = await readingOf(map, { t: 21.5 });
  const row = { database: "d", table: "t", key: "k", columns: { t: 21.5 } };
  assert.deepEqual(records, {
    points: [{ series: { name: "a" }, timestamp: 5, value: 21.5 }],
    events: [],
    rows: [row],
  });
  assert.deepEqual(refused, { items: 3, why: 'A record of plant/press cannot be read: {"series":"b"}' });
});

test("results that are no objects are refused, also as events and rows", async () => {
  const map = `[null, 5, {"event": [null, {"sourceId": "e"}]}, {"row": "r"}, {"series": "a", "value": true}]`;
  const { points, events, rows, refused } = await readingOf(map, {});
  assert.deepEqual(points, [{ series: { name: "a" }, timestamp: 5, value: 1 }]);
  assert.deepEqual([events, rows, refused?.items], [[{ sourceId: "e" }], [], 4]);
});

test("a message that maps to nothing has no records, and refuses none", async () => {
  assert.deepEqual(await readingOf("missing", {}), { points: [], events: [], rows: [] });
});
