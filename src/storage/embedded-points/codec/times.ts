// The time column of a block: nothing at all for points that are evenly apart, else differences in few bits.
import { ByteReader, ByteWriter, Malformed } from "./bytes.ts";
import { readIntegers, writeIntegers } from "./integers.ts";
import { pressSection, type Section } from "./press.ts";

const timeCodecs = { regular: 0, differences: 1 } as const;

/** What the header of the block says. */
export interface TimeFrame {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Writes ascending times. */
export function writeTimes(times: Float64Array): Section {
  if (isRegular(times)) return { codec: timeCodecs.regular, bytes: new Uint8Array(0) };
  const firstMs = times[0]!;
  const count = times.length;
  const sinceFirst = new Float64Array(count);
  for (let index = 0; index < count; index++) sinceFirst[index] = times[index]! - firstMs;
  const writer = new ByteWriter();
  writeIntegers(sinceFirst, [1, 2], writer);
  return pressSection({ codec: timeCodecs.differences, bytes: writer.finish() });
}

/** The reverse of `writeTimes`. */
export function readTimes({ codec, bytes }: Section, { count, firstMs, lastMs }: TimeFrame): Float64Array {
  if (codec === timeCodecs.regular) {
    const times = new Float64Array(count);
    const stepMs = count === 1 ? 0 : (lastMs - firstMs) / (count - 1);
    for (let index = 0; index < count; index++) times[index] = firstMs + index * stepMs;
    return times;
  }
  if (codec !== timeCodecs.differences) throw new Malformed(`time codec ${codec}`);
  const times = readIntegers(new ByteReader(bytes), count);
  for (let index = 0; index < count; index++) times[index] = times[index]! + firstMs;
  return times;
}

function isRegular(times: Float64Array): boolean {
  const count = times.length;
  const stepMs = times[1]! - times[0]!;
  for (let index = 2; index < count; index++) {
    if (times[index]! - times[index - 1]! !== stepMs) return false;
  }
  return true;
}
