// `--codecs`: measures the bits per point in blocks for published vectors, next to the published results.
import { constants, zstdCompressSync } from "node:zlib";
import { decodeBlock, encodeBlock } from "../src/storage/embedded-points/block.ts";
import { writeNumbers } from "../src/storage/embedded-points/codec/numbers.ts";
import { writeTimes } from "../src/storage/embedded-points/codec/times.ts";
import { Kernels } from "../src/storage/kernels.ts";
import {
  type DataSet,
  hasDataSets,
  machineSeries,
  type PublishedVector,
  plantSeries,
  publishedVectors,
} from "./data-sets.ts";
import { type GeneratedSeries, generateSeries } from "./generate.ts";

const kernels = new Kernels();

/** Blocks of the same size as those of the store. */
const blockPoints = 8192;
/** One of each of the shapes of W1. */
const generated = { series: 10, points: 100_000, seed: 1 };
/** Enough for compiled code: a server that has loaded some million points has it. */
const rounds = 21;

/** The report in Markdown; it names missing data sets. */
export function measureCodecs(): string {
  const ofWorkload = ["### The data of W1", "", ...workloadTable()];
  const missing = "The data sets of `../shared/data` are not here and were not measured.";
  return (
    hasDataSets
      ? [...vectorSection(), "", "### Industrial series", "", ...seriesTable(), "", ...ofWorkload]
      : [missing, "", ...ofWorkload]
  ).join("\n");
}

function vectorSection(): string[] {
  const vectors = publishedVectors();
  const best = vectors.filter((one) => bitsOf(one) <= smallestOfOthers(one)).length;
  return [
    "### Published vectors",
    "",
    "Bits a value, of vectors of 1,024 doubles. Published figures are those of the authors of ALP for the",
    "whole set from which a vector comes; zstd (level 3) was run on the vector itself. The header of a block",
    "adds 0.28 bits a value at this size and 0.04 in a full block.",
    `${best} of ${vectors.length} take no more than the smallest of the others.`,
    "",
    row([
      "Vector",
      "Millrace",
      "ALP, published",
      "zstd, published",
      "zstd here",
      "No more than the smallest",
    ]),
    row(Array(6).fill("---")),
    ...vectors.map((one) =>
      row([
        one.name,
        ...[bitsOf(one), one.alpBits, one.zstdBits, zstdBitsOf(one)].map(twoDigits),
        bitsOf(one) <= smallestOfOthers(one) ? "yes" : "no",
      ]),
    ),
  ];
}

function seriesTable(): string[] {
  const plant = plantSeries();
  const mean = (bits: (set: DataSet) => number) =>
    plant.reduce((sum, one) => sum + bits(one), 0) / plant.length;
  const line = (name: string, ours: number, zstd: number) => row([name, twoDigits(ours), twoDigits(zstd)]);
  return [
    "Bits a value, in blocks as the store makes them.",
    "",
    row(["Series", "Millrace", "zstd here"]),
    row(Array(3).fill("---")),
    ...machineSeries().map((one) => line(`nab-industrial, ${one.name}`, bitsOf(one), zstdBitsOf(one))),
    line(`tep, mean of ${plant.length} tags`, mean(bitsOf), mean(zstdBitsOf)),
  ];
}

const smallestOfOthers = (one: PublishedVector): number =>
  Math.min(one.alpBits, one.zstdBits, zstdBitsOf(one));

const bitsOf = (set: DataSet): number => bitsIn(set, (values) => writeNumbers(values).bytes.length);

const zstdBitsOf = (set: DataSet): number =>
  bitsIn(
    set,
    (values) =>
      zstdCompressSync(new Uint8Array(values.buffer), { params: { [constants.ZSTD_c_compressionLevel]: 3 } })
        .length,
  );

/** Bits a value when every block takes as many bytes as `bytesOf` says. */
function bitsIn({ values }: DataSet, bytesOf: (values: Float64Array) => number): number {
  let bytes = 0;
  for (let from = 0; from < values.length; from += blockPoints)
    bytes += bytesOf(values.slice(from, from + blockPoints));
  return (bytes * 8) / values.length;
}

function workloadTable(): string[] {
  const pieces = generateSeries(generated.series, generated.points, generated.seed).flatMap(piecesOf);
  const points = generated.series * generated.points;
  const bits = (bytesOf: (piece: BlockPart) => number) =>
    twoDigits((pieces.reduce((sum, piece) => sum + bytesOf(piece), 0) * 8) / points);
  const blocks = pieces.map(({ times, values }) => encodeBlock(times, values));
  const encode = nanoseconds(points, () => {
    for (const { times, values } of pieces) encodeBlock(times, values);
  });
  const decode = nanoseconds(points, () => {
    for (const block of blocks) decodeBlock(block, kernels);
  });
  return [
    row([
      "Times, bits",
      "Values, bits",
      "Whole blocks, bits",
      "Encoding, ns a point",
      "Decoding, ns a point",
    ]),
    row(Array(5).fill("---")),
    row([
      bits(({ times }) => writeTimes(times).bytes.length),
      bits(({ values }) => writeNumbers(values).bytes.length),
      bits(({ times, values }) => encodeBlock(times, values).length),
      encode,
      decode,
    ]),
  ];
}

interface BlockPart {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

function piecesOf({ times, values }: GeneratedSeries): BlockPart[] {
  return Array.from({ length: Math.ceil(times.length / blockPoints) }, (_, piece) => {
    const [from, to] = [piece * blockPoints, (piece + 1) * blockPoints];
    return { times: times.slice(from, to), values: values.slice(from, to) };
  });
}

/** Processor time a point, the median of the rounds after one that does not count. */
function nanoseconds(points: number, work: () => void): string {
  work();
  const spent = Array.from({ length: rounds }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) * 1000) / points;
  });
  return spent.sort((a, b) => a - b)[rounds >> 1]?.toFixed(1) ?? "";
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const twoDigits = (value: number): string => value.toFixed(2);
