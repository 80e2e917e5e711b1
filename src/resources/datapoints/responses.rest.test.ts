// Responses with datapoints return the memory of their buffers, also when the store fails during a read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newContext } from "../../../test/support/context.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { NumberRows } from "../../lib/number-rows.ts";
import { Continuation } from "../../rest/continuation.ts";
import { openNaiveCatalog } from "../../storage/conformance/naive-catalog.ts";
import { LimitedRows, type Rows } from "./limited-rows.ts";
import { jsonResponse } from "./responses.rest.ts";

/** Counts the buffers in use. */
class CountingPool extends BufferPool {
  inUse = 0;
  override take(bytes: number): Buffer {
    this.inUse += 1;
    return super.take(bytes);
  }
  override putBack(buffer: Buffer): void {
    this.inUse -= 1;
    super.putBack(buffer);
  }
}

const batch = (from: number): Rows => ({
  times: Float64Array.from({ length: 10_000 }, (_, at) => 1.5e12 + from + at),
  columns: [new Float64Array(10_000).fill(0.123456789)],
});

test("a read that fails after many points leaves no buffer in use", async () => {
  const datapoints = new CountingPool({ bytesMin: 2 ** 18, idleBytesMax: 2 ** 22 });
  const responseBuffers = { datapoints, odata: datapoints, numberRows: new NumberRows() };
  const ctx = newContext(openNaiveCatalog([]), { responseBuffers });
  let isBroken = true;
  const rows = new LimitedRows(100_000, async function* source() {
    yield batch(0);
    yield batch(10_000);
    if (isBroken) throw new Error("store gone");
  });
  const items = [
    { name: "pressure", members: [["value"]], rows, read: () => rows.read(), bytesMax: 64 * 100_000 },
  ];
  const respond = () => jsonResponse(ctx, items, "0.6", new Continuation(ctx, {}, undefined));
  await assert.rejects(respond(), /store gone/);
  assert.equal(datapoints.inUse, 0);
  isBroken = false;
  const response = await respond();
  assert.ok(datapoints.inUse > 0, "the response has its buffers until it is sent");
  response.release();
  assert.equal(datapoints.inUse, 0);
});
