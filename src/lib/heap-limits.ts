// Limits the memory that garbage takes in the heaps of a server: of its main thread and of its workers.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Transferable, Worker } from "node:worker_threads";

/**
 * New objects of a worker, in MiB. V8 collects them when a third of this is full. With the default of 96 MiB,
 * each worker takes so much under load, and most of it afterwards too.
 */
const newObjectsMb = 24;

/**
 * Starts a worker with these limits. `file` is its module; it reads `workerData` under this name. Ports of
 * `transferList` move to it.
 */
export const startWorker = (file: URL, workerData?: unknown, transferList: Transferable[] = []): Worker =>
  new Worker(file, {
    workerData,
    transferList,
    resourceLimits: { maxYoungGenerationSizeMb: newObjectsMb },
  });

/**
 * Old objects are collected when they take so many percent more than those that were used at the last
 * collection. V8 waits for up to 300 percent in a busy process: an upload of large bodies then takes 150 MB
 * more, and the process keeps it.
 */
const garbagePercent = 50;

/** The same until the second collection of this thread: a heap of 15 MB grows to 60 MB. */
const firstGarbagePercent = 300;

/** Limits the growth of the heaps of all threads. Call it before the server starts. */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${firstGarbagePercent}`);
  collectAll();
  setServerFlags();
}

/**
 * Sets the flags that V8 has while the server runs. Compiled code is stored with the flags of the process,
 * and V8 refuses it with other ones, so a server sets them before it loads any code.
 */
export const setServerFlags = (): void => setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);

/**
 * Collects all objects of this thread while they are few, which takes 10 ms. Without this, V8 lowers its
 * first bound of the heap with each collection of new objects, until the start reaches it. Then the first
 * requests compete for the processor with a collection of up to 45 ms.
 */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}
