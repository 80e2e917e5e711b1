// The memory budget of request bodies: bodies grow as they arrive, none waits for ever, and clients share
// it.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MemoryBudget, type Reservation } from "./memory-budget.ts";

const patient = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const sizes = { sharedBytes: 100, clientBytes: 60, reserveBytes: 95, uncountedBytes: 10 };

/** Whether the body may grow at once; names it in `grown` when it has grown. */
function grow(reservation: Reservation, bytes: number, grown: string[] = []): boolean {
  const waiting = reservation.resize(bytes, patient);
  void waiting?.then(() => grown.push(reservation.client));
  return waiting === undefined;
}

test("a small body counts for nothing and never waits", () => {
  const budget = new MemoryBudget(sizes);
  for (let body = 0; body < 100; body++) assert.ok(grow(budget.open("a"), 10));
  assert.ok(grow(budget.open("a"), 60));
});

test("one client has its share, and the others have theirs", async () => {
  const budget = new MemoryBudget(sizes);
  const own = [budget.open("a"), budget.open("a"), budget.open("a")] as const;
  const grown: string[] = [];
  assert.ok(grow(own[0], 30) && grow(own[1], 30));
  assert.ok(!grow(own[2], 20, grown), "the share is full");
  await turn();
  assert.deepEqual(grown, ["a"], "the reserve is for the one that waits first");
  assert.ok(!grow(own[0], 40, grown), "and for no other");
  assert.ok(grow(budget.open("b"), 40), "other clients do not wait for it");
  own[1].release();
  await turn();
  assert.deepEqual(grown, ["a", "a"]);
});

test("bodies that all need more end one after another in the reserve", async () => {
  const budget = new MemoryBudget({ ...sizes, clientBytes: 100 });
  const [a, b, c] = ["a", "b", "c"].map((client) => budget.open(client)) as [
    Reservation,
    Reservation,
    Reservation,
  ];
  const grown: string[] = [];
  assert.ok(grow(a, 40) && grow(b, 30) && grow(c, 30));
  assert.deepEqual([grow(a, 80, grown), grow(b, 70, grown), grow(c, 80, grown)], [false, true, false]);
  await turn();
  assert.deepEqual(grown, ["a"], "what the first one leaves is enough for the second one");
  a.release();
  a.release();
  await turn();
  assert.deepEqual(grown, ["a", "c"]);
});

test("the reserve goes to the client that holds least", async () => {
  const budget = new MemoryBudget(sizes);
  const greedy = Array.from({ length: 4 }, () => budget.open("greedy"));
  const modest = budget.open("modest");
  const grown: string[] = [];
  for (const body of greedy.slice(0, 2)) assert.ok(grow(body, 30));
  assert.ok(grow(modest, 20));
  for (const body of greedy) grow(body, 70, grown);
  grow(modest, 70, grown);
  await turn();
  assert.equal(grown.length, 1);
  greedy[0]!.release();
  await turn();
  assert.equal(grown[1], "modest");
});

test("a body that is given up leaves its place and its memory to the others", async () => {
  const budget = new MemoryBudget({ ...sizes, clientBytes: 100 });
  const [first, second, third] = ["a", "b", "c"].map((client) => budget.open(client)) as [
    Reservation,
    Reservation,
    Reservation,
  ];
  assert.ok(grow(first, 95));
  assert.ok(!grow(second, 90), "in the reserve");
  const impatient = new AbortController();
  const given = assert.rejects(third.resize(20, impatient.signal)!, /gone/);
  impatient.abort(new Error("gone"));
  await given;
  await assert.rejects(third.resize(20, impatient.signal)!, /gone/);
  first.release();
  assert.ok(grow(third, 95));
});

test("however bodies grow, all of them end within the bounds, and all memory comes back", async () => {
  const body = fc.record({
    client: fc.nat(3),
    steps: fc.array(fc.integer({ min: 1, max: sizes.reserveBytes }), { maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(body, { maxLength: 25 }), async (bodies) => {
      const budget = new MemoryBudget(sizes);
      const open: Reservation[] = [];
      const check = () => {
        const total = open.reduce((sum, { bytes }) => sum + bytes, 0);
        assert.ok(total <= sizes.sharedBytes + sizes.reserveBytes, `${total} bytes in all`);
        for (const client of new Set(open.map((one) => one.client))) {
          const own = open.filter((one) => one.client === client).map(({ bytes }) => bytes);
          const reserved = own.reduce((sum, bytes) => sum + bytes, 0);
          assert.ok(reserved - Math.max(0, ...own) <= sizes.clientBytes, `${reserved} bytes of one client`);
        }
      };
      await Promise.all(
        bodies.map(async ({ client, steps }) => {
          const reservation = budget.open(`${client}`);
          open.push(reservation);
          for (const bytes of steps) {
            await reservation.resize(bytes, patient);
            check();
            await turn();
          }
          reservation.release();
        }),
      );
      const all = Array.from({ length: 5 }, (_, client) => budget.open(`last ${client}`));
      assert.ok(all.every((one) => one.resize(20, patient) === undefined));
    }),
    { numRuns: 200 },
  );
});
