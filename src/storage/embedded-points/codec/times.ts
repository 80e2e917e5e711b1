// Encodes the times of a block: regular times without any bytes, almost regular times as their exceptions,
// and other times as differences from a regular beat.

import { freeChunk } from "../../../lib/free-memory.ts";
import type { Kernels } from "../../kernels.ts";
import { ByteReader, ByteWriter, MalformedBlock } from "./bytes.ts";
import { integerMax, readColumn, unpredicted, writeColumn } from "./column.ts";
import type { BlockSection } from "./compress.ts";

const timeCodecs = { regular: 0, grid: 1, beat: 2 } as const;

/** A grid has at most one deviation, and at most one jump, in so many points. */
const pointsPerDeviation = 4;
const pointsPerJump = 64;
const stepSampleSize = 63;

/** From the header of the block. */
export interface TimeBounds {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Times a step apart, except for jumps, which shift all later times, and deviations of single times. */
interface TimeGrid {
  readonly stepMs: number;
  readonly jumps: readonly Shift[];
  readonly deviations: readonly Shift[];
}

/** How much later than expected the time with this index is, or the grid from it on. */
interface Shift {
  readonly index: number;
  readonly offMs: number;
}

/** Writes ascending times. */
export function writeTimes(times: Float64Array): BlockSection {
  if (isRegular(times)) return { codec: timeCodecs.regular, bytes: new Uint8Array(0) };
  const stepMs = usualStepOf(times);
  const writer = new ByteWriter();
  writer.varint(stepMs);
  const grid = gridOf(times, stepMs);
  if (grid !== undefined) {
    writeGrid(grid, writer);
    return { codec: timeCodecs.grid, bytes: writer.finish() };
  }
  const firstMs = times[0]!;
  const off = new Float64Array(times.length);
  for (let index = 0; index < off.length; index++) off[index] = times[index]! - firstMs - index * stepMs;
  writeColumn(off, writer);
  freeChunk(off);
  return { codec: timeCodecs.beat, bytes: writer.finish() };
}

/** The reverse of `writeTimes`. */
export function readTimes(
  { codec, bytes }: BlockSection,
  bounds: TimeBounds,
  kernels: Kernels,
): Float64Array {
  const reader = new ByteReader(bytes, kernels);
  const { count, firstMs, lastMs } = bounds;
  switch (codec) {
    case timeCodecs.regular: {
      const times = kernels.column(count);
      const stepMs = count === 1 ? 0 : (lastMs - firstMs) / (count - 1);
      kernels.fillTimes(times, { from: 0, to: count, startMs: firstMs, stepMs });
      return times;
    }
    case timeCodecs.grid:
      return readGrid(reader, bounds);
    case timeCodecs.beat: {
      const stepMs = reader.varint();
      const times = readColumn(reader, count);
      for (let index = 0; index < count; index++) times[index] = firstMs + index * stepMs + times[index]!;
      return times;
    }
    default:
      throw new MalformedBlock(`time codec ${codec}`);
  }
}

function isRegular(times: Float64Array): boolean {
  const count = times.length;
  const stepMs = times[1]! - times[0]!;
  for (let index = 2; index < count; index++) {
    if (times[index]! - times[index - 1]! !== stepMs) return false;
  }
  return true;
}

/** The median of a sample of the differences, small enough that its multiples fit into a column. */
function usualStepOf(times: Float64Array): number {
  const size = Math.min(stepSampleSize, times.length - 1);
  const apart = Math.floor((times.length - 1) / size);
  const sample = new Float64Array(size);
  for (let at = 0; at < size; at++) sample[at] = times[at * apart + 1]! - times[at * apart]!;
  return Math.min(sample.sort()[size >> 1]!, Math.floor(integerMax / times.length));
}

/** Undefined when too many times are off the grid. */
function gridOf(times: Float64Array, stepMs: number): TimeGrid | undefined {
  const count = times.length;
  const jumps: Shift[] = [];
  const deviations: Shift[] = [];
  let expected = times[0]! + stepMs;
  for (let index = 1; index < count; index++) {
    const offMs = times[index]! - expected;
    if (offMs !== 0) {
      // A jump if the next time follows at the usual step, else a deviation of this time alone.
      const isJump = index + 1 < count && times[index + 1]! - times[index]! === stepMs;
      if (isJump) {
        if (jumps.push({ index, offMs }) * pointsPerJump > count + pointsPerJump) return undefined;
        expected += offMs;
      } else if (deviations.push({ index, offMs }) * pointsPerDeviation > count) return undefined;
    }
    expected += stepMs;
  }
  return { stepMs, jumps, deviations };
}

function writeGrid({ jumps, deviations }: TimeGrid, writer: ByteWriter): void {
  writer.varint(jumps.length);
  let before = 0;
  for (const { index, offMs } of jumps) {
    writer.varint(index - before);
    writer.zigzag(offMs);
    before = index;
  }
  writer.varint(deviations.length);
  if (deviations.length === 0) return;
  const apart = new Float64Array(deviations.length);
  const off = new Float64Array(deviations.length);
  before = 0;
  for (const [at, { index, offMs }] of deviations.entries()) {
    apart[at] = index - before;
    off[at] = offMs;
    before = index;
  }
  // Noise cannot be predicted.
  writeColumn(apart, writer, unpredicted);
  writeColumn(off, writer, unpredicted);
}

function readGrid(reader: ByteReader, { count, firstMs }: TimeBounds): Float64Array {
  const stepMs = reader.varint();
  const { kernels } = reader;
  const times = kernels.column(count);
  const jumps = countOf(reader, count);
  let index = 0;
  let startMs = firstMs;
  for (let at = 0; at < jumps; at++) {
    const next = within(count, index + reader.varint());
    kernels.fillTimes(times, { from: index, to: next, startMs, stepMs });
    startMs += (next - index) * stepMs + reader.zigzag();
    index = next;
  }
  kernels.fillTimes(times, { from: index, to: count, startMs, stepMs });
  const deviations = countOf(reader, count);
  if (deviations === 0) return times;
  const apart = readColumn(reader, deviations);
  const offMs = readColumn(reader, deviations);
  index = 0;
  for (let at = 0; at < deviations; at++) {
    index = within(count, index + apart[at]!);
    times[index] = times[index]! + offMs[at]!;
  }
  return times;
}

function within(count: number, index: number): number {
  if (!(index >= 0 && index < count)) throw new MalformedBlock(`point ${index} of ${count}`);
  return index;
}

function countOf(reader: ByteReader, max: number): number {
  const count = reader.varint();
  if (count > max) throw new MalformedBlock(`${count} of ${max} points are off`);
  return count;
}
