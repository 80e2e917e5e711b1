// The allowances of keys, against a simulation in steps of a millisecond.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { type KeyLimits, KeyUse, KeyUses } from "./key-limits.ts";

const clockAt = (now: { ms: number }) => ({ ...realSystem, monotonicMs: () => now.ms });

/** Whether a request may begin now, without a wait or a refusal. */
async function begins(use: KeyUse): Promise<boolean> {
  try {
    await use.begin();
    return true;
  } catch {
    return false;
  }
}

test("what a key may use over any time is what its limits say, and one second more", async () => {
  const steps = fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 90_000 }), points: fc.nat(5_000) }));
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 500 }), steps, async (perSecond, all) => {
    const now = { ms: 1_000 };
    const use = new KeyUse({ pointsPerSecond: perSecond }, clockAt(now));
    const allowance = { left: perSecond, max: perSecond };
    for (const { afterMs, points } of all) {
      now.ms += afterMs;
      allowance.left = Math.min(allowance.left + (afterMs / 1_000) * perSecond, allowance.max);
      const waitMs = (-allowance.left / perSecond) * 1_000;
      // A short wait would pass in reality, not on this clock.
      if (waitMs > 0 && waitMs <= limits.keyLimitWaitMsMax) continue;
      assert.equal(await begins(use), waitMs <= 0);
      if (waitMs > 0) continue;
      use.use("points", points);
      allowance.left = Math.max(allowance.left - points, (-limits.keyLimitDebtMsMax / 1_000) * perSecond);
    }
  });
  await fc.assert(property, { numRuns: 200 });
});

test("a refused request does not count", async () => {
  const now = { ms: 0 };
  const use = new KeyUse({ requestsPerSecond: 5, pointsPerSecond: 10 }, clockAt(now));
  use.use("points", 100);
  for (let count = 0; count < 50; count++) assert.equal(await begins(use), false);
  now.ms += 9_000;
  for (let count = 0; count < 5; count++) assert.equal(await begins(use), true);
});

test("the use of a key is kept while its limits are the same", () => {
  const uses = new KeyUses(realSystem);
  const first: KeyLimits = { pointsPerSecond: 5 };
  assert.equal(uses.of(1, first), uses.of(1, { pointsPerSecond: 5 }));
  assert.notEqual(uses.of(1, first), uses.of(2, first));
  const use = uses.of(1, first);
  assert.notEqual(uses.of(1, { pointsPerSecond: 6 }), use);
  assert.notEqual(uses.of(1, { pointsPerSecond: 5, bytesPerSecond: 1 }), use);
});
