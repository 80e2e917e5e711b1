// Places of the frame memory never overlap while they are taken, and the ring is used again and again.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FrameMemory, type Place } from "./frame-memory.ts";

const step = fc.oneof(fc.record({ take: fc.integer({ min: 1, max: 300 }) }), fc.record({ free: fc.nat() }));

test("places do not overlap, whatever is taken and freed in any order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const memory = new FrameMemory(1024);
      const taken: Place[] = [];
      for (const one of steps) {
        if ("take" in one) {
          const place = memory.take(one.take);
          assert.equal(place.offset % 8, 0);
          assert.ok(place.offset + place.length <= place.buffer.byteLength);
          const overlapping = taken.filter(
            (other) =>
              other.buffer === place.buffer &&
              other.offset < place.offset + place.length &&
              place.offset < other.offset + other.length,
          );
          assert.deepEqual(overlapping, []);
          taken.push(place);
        } else if (taken.length > 0) memory.free(taken.splice(one.free % taken.length, 1)[0]!);
      }
    }),
  );
});

test("requests one after the other stay in the ring, several at a time as well", () => {
  const memory = new FrameMemory(1024);
  const taken: Place[] = [];
  for (let request = 0; request < 1000; request++) {
    taken.push(memory.take(100 + (request % 100)));
    if (taken.length > 3) memory.free(taken.shift()!);
    assert.ok(taken.every((place) => place.buffer === taken[0]!.buffer));
  }
});
