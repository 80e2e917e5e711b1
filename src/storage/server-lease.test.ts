// The lease of a server, with leases in memory and a clock that the test sets.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { ClockIds } from "../lib/ids.ts";
import { realSystem } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { matchesAlone } from "../query/evaluate.ts";
import type { Filter } from "../query/filter.ts";
import type { LeaseState, ServerLeases } from "./catalog.ts";
import { fencedPoints } from "./fenced-points.ts";
import type { PointsStore } from "./points.ts";
import { ServerLease } from "./server-lease.ts";

let nowMs = 0;
const system = { ...realSystem, monotonicMs: () => nowMs };
const parts = {
  ids: new ClockIds(realSystem, 0),
  system,
  report: (problem: unknown) => assert.fail(`${problem}`),
};

/** Leases in memory; `isAway` makes each call fail. */
class Leases implements ServerLeases {
  readonly rows = new Map<number, { expiresMs: number; hasEnded: boolean }>();
  isAway = false;

  async grant() {
    this.#refuse();
    const number = this.rows.size + 1;
    this.rows.set(number, { expiresMs: nowMs + limits.serverLeaseMs, hasEnded: false });
    return number;
  }
  async renew(number: number) {
    this.#refuse();
    const row = this.rows.get(number)!;
    if (!row.hasEnded) row.expiresMs = nowMs + limits.serverLeaseMs;
    return !row.hasEnded;
  }
  async end(number: number) {
    this.rows.get(number)!.hasEnded = true;
  }
  async endExpired() {
    for (const row of this.rows.values()) row.hasEnded ||= row.expiresMs < nowMs;
  }
  async list(): Promise<LeaseState[]> {
    this.#refuse();
    return [...this.rows].map(([number, { hasEnded }]) => ({ number, hasEnded }));
  }
  #refuse() {
    if (this.isAway) throw new Error("away");
  }
}

beforeEach(() => mock.timers.enable({ apis: ["setInterval"] }));
afterEach(() => mock.timers.reset());

/** Lets the time of renewals pass. */
async function pass(milliseconds: number): Promise<void> {
  for (let ms = 0; ms < milliseconds; ms += limits.serverLeaseRenewMs) {
    nowMs += limits.serverLeaseRenewMs;
    mock.timers.tick(limits.serverLeaseRenewMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ownersIn = (filter: Filter, owners: readonly (number | undefined)[]) =>
  owners.filter((owner) => matchesAlone(filter, { ...(owner !== undefined && { owner }) }));

test("the work of a server whose lease expired is taken over once, that of others is not", async () => {
  const leases = new Leases();
  const taken: (number | undefined)[][] = [];
  const one = await ServerLease.open(leases, parts);
  await one.start(async (abandoned) => void taken.push(ownersIn(abandoned, [undefined, 1, 2, 3])));
  assert.deepEqual(taken, [[undefined]]);
  const two = await leases.grant();
  await pass(2 * limits.serverLeaseMs);
  assert.equal(leases.rows.get(two)!.hasEnded, true);
  assert.deepEqual(taken.slice(1), [[undefined, 2]]);
  await one.end();
});

test("a server that was silent for too long may not write, loses its work, and gets a new one", async () => {
  const leases = new Leases();
  const lease = await ServerLease.open(leases, parts);
  const { owner } = lease;
  const written: unknown[] = [];
  const store = { append: async (batch: unknown) => void written.push(batch) } as unknown as PointsStore;
  const points = fencedPoints(store, () => lease.requireHeld(owner));
  await points.append({});
  let lost = 0;
  lease.watch(
    async () => true,
    () => void lost++,
  );
  nowMs += limits.serverLeaseMs;
  await assert.rejects(points.append({}), { failure: "lease-expired" });
  await leases.end(owner);
  await pass(limits.serverLeaseRenewMs);
  assert.equal(lost, 1);
  assert.notEqual(lease.owner, owner);
  await assert.rejects(points.append({}), { failure: "lease-expired" });
  lease.requireHeld(lease.owner);
  assert.equal(written.length, 1);
  await lease.end();
});

test("after the database was away, servers that renew in time end no lease of each other", async () => {
  const leases = new Leases();
  const [one, two] = [await ServerLease.open(leases, parts), await ServerLease.open(leases, parts)];
  await pass(2 * limits.serverLeaseMs);
  leases.isAway = true;
  await pass(2 * limits.serverLeaseMs);
  assert.throws(() => one.requireHeld(one.owner), { failure: "lease-expired" });
  leases.isAway = false;
  await pass(2 * limits.serverLeaseMs);
  assert.deepEqual(
    (await leases.list()).map(({ hasEnded }) => hasEnded),
    [false, false],
  );
  for (const lease of [one, two]) {
    lease.requireHeld(lease.owner);
    await lease.end();
  }
});

test("work ends when its record names another server", async () => {
  const leases = new Leases();
  const lease = await ServerLease.open(leases, parts);
  let isOwned = true;
  const { signal } = new AbortController();
  const run = (signal: AbortSignal) =>
    new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("ended")));
  const work = lease.own({ signal, isOwned: async () => isOwned, run });
  await pass(limits.serverLeaseRenewMs);
  isOwned = false;
  await pass(limits.serverLeaseRenewMs);
  assert.equal(await work, "ended");
  await lease.end();
});

test("without other servers every earlier owner has ended, and the lease is always valid", async () => {
  const lease = await ServerLease.open(undefined, parts);
  nowMs += 10 * limits.serverLeaseMs;
  lease.requireHeld(lease.owner);
  const earlier = lease.owner - 1;
  await lease.start(async (abandoned) => {
    assert.deepEqual(ownersIn(abandoned, [undefined, earlier, lease.owner]), [undefined, earlier]);
  });
  await lease.end();
});
