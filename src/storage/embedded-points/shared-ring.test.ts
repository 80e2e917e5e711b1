// Slices in use never overlap, and the ring is reused.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SharedRing, type SharedSlice } from "./shared-ring.ts";

const step = fc.oneof(
  fc.record({ allocate: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ free: fc.nat() }),
);

test("slices do not overlap, whatever is allocated and freed in any order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const memory = new SharedRing(1024);
      const allocated: SharedSlice[] = [];
      for (const one of steps) {
        if ("allocate" in one) {
          const slice = memory.allocate(one.allocate);
          assert.equal(slice.offset % 8, 0);
          assert.ok(slice.offset + slice.length <= slice.buffer.byteLength);
          const overlapping = allocated.filter(
            (other) =>
              other.buffer === slice.buffer &&
              other.offset < slice.offset + slice.length &&
              slice.offset < other.offset + other.length,
          );
          assert.deepEqual(overlapping, []);
          allocated.push(slice);
        } else if (allocated.length > 0) memory.free(allocated.splice(one.free % allocated.length, 1)[0]!);
      }
    }),
  );
});

test("consecutive requests stay in the ring, also several at a time", () => {
  const memory = new SharedRing(1024);
  const allocated: SharedSlice[] = [];
  for (let request = 0; request < 1000; request++) {
    allocated.push(memory.allocate(100 + (request % 100)));
    if (allocated.length > 3) memory.free(allocated.shift()!);
    assert.ok(allocated.every((slice) => slice.buffer === allocated[0]!.buffer));
  }
});
