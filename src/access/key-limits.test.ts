// The allowances of keys, against a simulation in steps of a millisecond.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { type KeyLimits, KeyUse, KeyUses, type RequestUse } from "./key-limits.ts";

const clockAt = (now: { ms: number }) => ({ ...realSystem, monotonicMs: () => now.ms });

/** The request, if it may begin now, without a wait or a refusal. */
const begun = (use: KeyUse): Promise<RequestUse | undefined> => use.begin().catch(() => undefined);

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
      if (waitMs > -1 && waitMs <= limits.keyLimitWaitMsMax + 1) continue;
      const request = await begun(use);
      assert.equal(request !== undefined, waitMs <= 0);
      if (!request) continue;
      for (const part of [Math.floor(points / 2), Math.ceil(points / 2)]) request.use("points", part);
      request.end();
      allowance.left = Math.max(allowance.left - points, (-limits.keyLimitDebtMsMax / 1_000) * perSecond);
    }
  });
  await fc.assert(property, { numRuns: 200 });
});

test("a refused request does not count", async () => {
  const now = { ms: 0 };
  const use = new KeyUse({ requestsPerSecond: 5, pointsPerSecond: 10 }, clockAt(now));
  use.use("points", 100);
  for (let count = 0; count < 50; count++) assert.equal(await begun(use), undefined);
  now.ms += 9_000;
  for (let count = 0; count < 5; count++) assert.ok(await begun(use));
});

function admittedBy(use: KeyUse): ReturnType<KeyUse["admit"]> | undefined {
  try {
    return use.admit();
  } catch {
    return undefined;
  }
}

/** Lets `clients` send one request of 20 ms after the other, and returns when each one began. */
function simulated(
  keyLimits: KeyLimits,
  { clients, seconds, points }: { clients: number; seconds: number; points: number },
): number[] {
  const now = { ms: 0 };
  const use = new KeyUse(keyLimits, clockAt(now));
  const startsMs: number[] = [];
  /** The events by their times. */
  const events = new Map<number, (() => void)[]>();
  const at = (ms: number, work: () => void) => events.set(ms, [...(events.get(ms) ?? []), work]);
  const send = () => {
    const admitted = admittedBy(use);
    if (!admitted) {
      at(now.ms + 200, send);
      return;
    }
    const { request, waitMs } = admitted;
    const startMs = now.ms + Math.ceil(waitMs);
    startsMs.push(startMs);
    at(startMs + 20, () => {
      request.use("points", points);
      request.end();
      send();
    });
  };
  for (let client = 0; client < clients; client++) at(client % 200, send);
  for (; now.ms < seconds * 1_000; now.ms += 1) for (const work of events.get(now.ms) ?? []) work();
  return startsMs;
}

test("many clients at once use what is allowed, without seconds in which nothing is served", () => {
  const startsMs = simulated({ requestsPerSecond: 100 }, { clients: 300, seconds: 20, points: 0 });
  const inSecond = (second: number) => startsMs.filter((ms) => Math.floor(ms / 1_000) === second).length;
  for (let second = 1; second < 20; second++)
    assert.ok(Math.abs(inSecond(second) - 100) <= 5, `${inSecond(second)} in second ${second}`);
});

test("many clients at once keep a limit of points, once their requests are known", () => {
  const options = { clients: 200, seconds: 300, points: 10_000 };
  const startsMs = simulated({ pointsPerSecond: 1_000 }, options);
  const known = startsMs.filter((ms) => ms > 100_000);
  const perSecond = (known.length * options.points) / 200;
  assert.ok(perSecond > 900 && perSecond < 1_100, `${perSecond} points/s`);
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
