// A process that writes to an embedded points store until it is killed, and reports each acknowledged
// request: request k writes the value k at the time k to every series.
import { batchOf } from "../../src/storage/conformance/points.ts";
import { openEmbeddedPoints } from "../../src/storage/embedded-points/embedded-points.ts";

/** Series of several shards. */
export const writtenSeries = Array.from({ length: 12 }, (_, index) => (index + 1) * 4096);

async function write(folder: string, first: number): Promise<void> {
  const store = await openEmbeddedPoints({ folder, shards: 2, blockPoints: 64, checkpointBytes: 100_000 });
  let next = first;
  const writer = async () => {
    for (;;) {
      const request = next++;
      await store.append(batchOf(...writtenSeries.map((series) => [series, [[request, request]]] as const)));
      process.stdout.write(`${request}\n`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, writer));
}

if (process.argv[1] === import.meta.filename) await write(process.argv[2]!, Number(process.argv[3]));
