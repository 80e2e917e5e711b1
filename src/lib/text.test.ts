// The search for a pattern in a string returns the result of `includes`, in time proportional to their
// lengths.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { containsText } from "./text.ts";

test("long patterns are found where `includes` finds them", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 90 });
  const property = fc.property(piece, piece, piece, fc.nat(3), (before, pattern, after, times) => {
    const long = pattern.repeat(times + 1);
    const text = before + (times % 2 ? long : pattern.repeat(times)) + after;
    assert.equal(containsText(text, long), text.includes(long));
  });
  fc.assert(property, { numRuns: 2_000 });
});

test("the worst pattern takes no more than a few milliseconds in a text of a million characters", () => {
  const half = "a".repeat(4_000);
  const before = process.threadCpuUsage();
  assert.equal(containsText("a".repeat(2 ** 20), `${half}b${half}`), false);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 300_000, `${user + system} microseconds`);
});
