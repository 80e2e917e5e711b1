// The heap of a process that makes garbage, and of a worker.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { startWorker } from "./heap-limits.ts";

/** Replaces long-lived objects, and prints the bytes of all objects and the largest size of the heap. */
const replaceObjects = (before: string): string => `
  import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
  ${before}
  const objects = [];
  let mostBytes = 0;
  for (let count = 0; count < 3e6; count++) {
    objects[count % 300_000] = { count, list: [count] };
    if (count === 300_000) gc();
    if (count % 20_000 > 0) continue;
    const old = getHeapSpaceStatistics().find((space) => space.space_name === "old_space");
    mostBytes = Math.max(mostBytes, old.physical_space_size);
  }
  gc();
  objects.pop();
  console.log(JSON.stringify({ usedBytes: getHeapStatistics().used_heap_size, mostBytes }));
`;

function heapOf(before: string): { readonly usedBytes: number; readonly mostBytes: number } {
  // Without other threads, a collection is where the heap reaches its limit.
  const collections = ["--expose-gc", "--single-threaded-gc", "--no-incremental-marking"];
  const options = [...collections, "--input-type=module", "--eval", replaceObjects(before)];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" }));
}

test("old objects are collected earlier than V8 does by itself", () => {
  const file = new URL("heap-limits.ts", import.meta.url).href;
  // In one of about ten processes on a busy machine V8 collects late all the same.
  const limit = `
    const { collectBeforeStart, limitHeapGrowth } = await import("${file}");
    collectBeforeStart();
    limitHeapGrowth();`;
  const [limited] = Array.from({ length: 3 }, () => heapOf(limit)).toSorted(
    (one, other) => one.mostBytes - other.mostBytes,
  ) as [ReturnType<typeof heapOf>];
  const unlimited = heapOf("");
  assert.ok(limited.mostBytes < 2.4 * limited.usedBytes, JSON.stringify(limited));
  assert.ok(unlimited.mostBytes > 3 * unlimited.usedBytes, JSON.stringify(unlimited));
});

/**
 * Bytes of the heap at the first collection of old objects in a program whose new objects are mostly garbage,
 * as at a start; and whether scripts of the program have `gc`.
 */
function firstCollectionOf(before: string): { readonly atBytes: number; readonly hasGc: boolean } {
  const program = `
    import { PerformanceObserver, constants } from "node:perf_hooks";
    import { setImmediate as pause } from "node:timers/promises";
    import { getHeapStatistics } from "node:v8";
    import { runInNewContext } from "node:vm";
    const objects = Array.from({ length: 100_000 }, (_, count) => ({ count, list: [count] }));
    ${before}
    let isCollected = false;
    const isOld = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
    const see = (list) => (isCollected ||= list.getEntries().some(isOld));
    new PerformanceObserver(see).observe({ type: "gc" });
    let atBytes = 0;
    while (!isCollected) {
      atBytes = getHeapStatistics().used_heap_size;
      for (let count = 0; count < 20_000; count++) {
        const object = { count, list: [count] };
        if (count % 10 === 0) objects.push(object);
      }
      await pause();
    }
    console.log(JSON.stringify({ atBytes, hasGc: runInNewContext("typeof gc") !== "undefined" }));
  `;
  // With V8's own threads: without them, it collects at a random size of up to the largest heap.
  const options = ["--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" }));
}

test("the first collection of old objects comes later than V8's, and no script gets gc", () => {
  const file = new URL("heap-limits.ts", import.meta.url).href;
  const firstOf = (before: string) =>
    Array.from({ length: 3 }, () => firstCollectionOf(before)).toSorted(
      (one, other) => one.atBytes - other.atBytes,
    )[0]!;
  const [usual, limited] = [firstOf(""), firstOf(`(await import("${file}")).collectBeforeStart();`)];
  assert.ok(limited.atBytes > 1.2 * usual.atBytes, JSON.stringify({ usual, limited }));
  assert.ok(limited.atBytes < 4 * usual.atBytes, JSON.stringify({ usual, limited }));
  assert.ok(!usual.hasGc && !limited.hasGc);
});

test("work with the flags of the start keeps the limit; a thread that ended does not hold it up", () => {
  const file = new URL("heap-limits.ts", import.meta.url).href;
  const program = `
    import { cachedDataVersionTag } from "node:v8";
    import { getEnvironmentData } from "node:worker_threads";
    const { DefaultGrowth, limitHeapGrowth } = await import("${file}");
    const before = cachedDataVersionTag();
    const growth = new DefaultGrowth();
    limitHeapGrowth();
    const limited = cachedDataVersionTag();
    const during = growth.run(() => cachedDataVersionTag());
    console.log(limited !== before, during === before, cachedDataVersionTag() === limited);
    const turn = new Int32Array(getEnvironmentData("millrace: flags of the start").turn);
    turn[0] = 1;
    const runs = () => growth.run(() => "run");
    console.log(runs(), cachedDataVersionTag() === limited);
    const fromMs = performance.now();
    for (let count = 0; count < 50; count++) runs();
    console.log(runs(), performance.now() - fromMs < 5_000);
    turn[0] = 0;
    console.log(runs());
  `;
  const options = ["--input-type=module", "--eval", program];
  const output = execFileSync(process.execPath, options, { encoding: "utf8" });
  assert.equal(output, "true true true\nundefined true\nundefined true\nrun\n");
});

test("a thread that starts after the limit works with the flags of the start", () => {
  const file = new URL("heap-limits.ts", import.meta.url).href;
  const program = `
    import { cachedDataVersionTag } from "node:v8";
    import { Worker } from "node:worker_threads";
    const { DefaultGrowth, limitHeapGrowth } = await import("${file}");
    const { tag } = new DefaultGrowth();
    limitHeapGrowth();
    const thread = \`
      const { DefaultGrowth } = await import("${file}");
      const { cachedDataVersionTag } = await import("node:v8");
      const growth = new DefaultGrowth();
      const during = growth.run(() => cachedDataVersionTag());
      (await import("node:worker_threads")).parentPort.postMessage([growth.tag, during]);\`;
    const worker = new Worker(new URL("data:text/javascript," + encodeURIComponent(thread)));
    worker.once("message", (tags) => console.log(tags.every((one) => one === tag), tags.length));
  `;
  const options = ["--input-type=module", "--eval", program];
  assert.equal(execFileSync(process.execPath, options, { encoding: "utf8" }), "true 2\n");
});

test("a worker collects new objects early", async () => {
  const worker = startWorker(new URL("data:text/javascript,"));
  const { maxYoungGenerationSizeMb } = worker.resourceLimits!;
  await worker.terminate();
  assert.ok(maxYoungGenerationSizeMb! <= 24, `${maxYoungGenerationSizeMb} MiB`);
});
