// Encodes the values of a block of numbers with the codec that makes them smallest.

import type { Kernels } from "../../kernels.ts";
import { ByteReader, ByteWriter, MalformedBlock } from "./bytes.ts";
import { type BlockSection, compressSection } from "./compress.ts";
import { readDecimals, writeDecimals } from "./decimal.ts";
import { readDictionary, writeDictionary } from "./dictionary.ts";
import { readOrdinals, writeOrdinals } from "./ordinals.ts";
import { rawBytes, readRaw } from "./raw.ts";

const numberCodecs = {
  constant: 0,
  raw: 1,
  decimal: 2,
  roundedDecimal: 3,
  ordinals: 4,
  dictionary: 5,
} as const;

const numberBytes = 8;
/** Decimals that take no more bytes are used without trying the slower codecs for other numbers. */
const goodBytes = (count: number): number => 16 + 4 * count;

/** Writes one or more values without loss. */
export function writeNumbers(values: Float64Array): BlockSection {
  if (isConstant(values)) return { codec: numberCodecs.constant, bytes: rawBytes(values.slice(0, 1)) };
  const decimals = decimalSection(values);
  if (decimals !== undefined && decimals.bytes.length <= goodBytes(values.length)) return decimals;
  let best: BlockSection = { codec: numberCodecs.raw, bytes: rawBytes(values) };
  for (const section of [decimals, ...otherSections(values)]) {
    if (section !== undefined && section.bytes.length < best.bytes.length) best = section;
  }
  return best;
}

/** At least the first `wanted` of `count` values that `writeNumbers` wrote. */
export function readNumbers(
  { codec, bytes }: BlockSection,
  counts: { readonly count: number; readonly wanted: number },
  kernels: Kernels,
): Float64Array {
  const reader = new ByteReader(bytes, kernels);
  const { count, wanted } = counts;
  switch (codec) {
    case numberCodecs.constant:
      return kernels.column(wanted).fill(reader.f64());
    case numberCodecs.raw:
      return readRaw(reader.bytes(count * numberBytes).subarray(0, wanted * numberBytes), kernels);
    case numberCodecs.decimal:
      return readDecimals(reader, counts, "exact");
    case numberCodecs.roundedDecimal:
      return readDecimals(reader, counts, "rounded");
    case numberCodecs.ordinals:
      return readOrdinals(reader, count);
    case numberCodecs.dictionary:
      return readDictionary(reader, counts);
    default:
      throw new MalformedBlock(`value codec ${codec}`);
  }
}

function decimalSection(values: Float64Array): BlockSection | undefined {
  const writer = new ByteWriter();
  const form = writeDecimals(values, writer);
  if (form === undefined) return undefined;
  return {
    codec: form === "exact" ? numberCodecs.decimal : numberCodecs.roundedDecimal,
    bytes: writer.finish(),
  };
}

/** Encodings for numbers that are not short decimals. */
function* otherSections(values: Float64Array): Generator<BlockSection> {
  const dictionary = new ByteWriter();
  if (writeDictionary(values, dictionary))
    yield { codec: numberCodecs.dictionary, bytes: dictionary.finish() };
  const ordinals = new ByteWriter();
  writeOrdinals(values, ordinals);
  yield { codec: numberCodecs.ordinals, bytes: ordinals.finish() };
  yield compressSection({ codec: numberCodecs.raw, bytes: rawBytes(values) });
}

/** Whether all values have the same bits; 0 and -0 differ. */
function isConstant(values: Float64Array): boolean {
  const first = values[0]!;
  const count = values.length;
  for (let index = 1; index < count; index++) if (values[index] !== first) return false;
  return first !== 0 || values.every((value) => Object.is(value, first));
}
