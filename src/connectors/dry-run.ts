// Reads a source without a server: shows the first records of it, and counts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Surroundings } from "../client/command.ts";
import { parseJson } from "../lib/json.ts";
import { type EntryKind, ForwardBuffer } from "./forward-buffer.ts";
import { Health } from "./health.ts";
import { Intake } from "./intake.ts";
import { decodeNumbers, decodeStrings } from "./point-columns.ts";
import type { PlantSource } from "./source.ts";

const everyMs = 500;
const linesMax = 200;
const bytesMax = 256 * 2 ** 20;

/**
 * Ends after 200 records, or by Control-C. Nothing is written anywhere but to a temporary folder. Series are
 * shown with the prefix that the connector writes.
 */
export async function dryRun(
  source: PlantSource,
  prefix: string,
  { output, stop }: Surroundings,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-dry-run-"));
  const buffer = new ForwardBuffer(folder, { bytesMax, ageMsMax: Number.MAX_SAFE_INTEGER });
  const ending = new AbortController();
  const signal = AbortSignal.any([stop, ending.signal]);
  const health = new Health((line) => output.write(`${line}\n`));
  const intake = new Intake(buffer, { whenFull: "wait", health, signal, onStored: () => {} });
  const server = { latest: (series: readonly unknown[]) => Promise.resolve(series.map(() => undefined)) };
  const { instance } = buffer;
  const running = source.run({ instance, isDryRun: true, intake, health, server, signal });
  let isEnded = false;
  running.finally(() => (isEnded = true)).catch(() => {});
  let shown = 0;
  for (let isLast = false; !isLast && shown < linesMax; ) {
    isLast = isEnded || stop.aborted;
    if (!isLast) await pause(everyMs);
    for (let entries = buffer.oldest(linesMax); entries.length > 0; entries = buffer.oldest(linesMax)) {
      for (const { kind, body } of entries)
        for (const line of linesOf(buffer, prefix, { kind, body })) {
          if (shown < linesMax) output.write(`${line}\n`);
          shown += 1;
        }
      buffer.remove(entries, 0);
    }
  }
  ending.abort();
  await running;
  const { received, refused } = buffer.counts;
  output.write(`${received} records read, ${refused} not valid, nothing written\n`);
  buffer.close();
  rmSync(folder, { recursive: true });
  return 0;
}

interface BufferedRecords {
  readonly kind: EntryKind;
  readonly body: Uint8Array;
}

function linesOf(buffer: ForwardBuffer, prefix: string, { kind, body }: BufferedRecords): string[] {
  const point = (series: number, time: number, value: number | string) =>
    `point  ${new Date(time).toISOString()}  ${prefix}${buffer.seriesOf(series).name}  ${value}`;
  if (kind === "numbers") {
    const { series, times, values } = decodeNumbers(body);
    return Array.from(series, (one, i) => point(one, times[i]!, values[i]!));
  }
  if (kind === "strings")
    return decodeStrings(body).map(([series, time, value]) => point(series, time, value));
  return (parseJson(Buffer.from(body).toString()) as unknown[]).map(
    (record) => `${kind.slice(0, -1).padEnd(5)}  ${JSON.stringify(record)}`,
  );
}
