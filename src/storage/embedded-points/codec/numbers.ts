// The value column of a block of numbers: the smallest of the codecs, found by trying.
import { ByteReader, ByteWriter, Malformed } from "./bytes.ts";
import { readColumn } from "./column.ts";
import { readDecimals, writeDecimals } from "./decimal.ts";
import { readIntegers } from "./integers.ts";
import { planesOf, rawBytes, readPlanes, readRaw } from "./planes.ts";
import { pressSection, type Section } from "./press.ts";
import { readXor, writeXor } from "./xor.ts";

const numberCodecs = { constant: 0, packedDecimal: 1, xor: 2, raw: 3, planes: 4, decimal: 5 } as const;

const numberBytes = 8;
/** Decimals in fewer bytes a value than this are taken without trying the slower codecs for odd numbers. */
const decimalBytesGood = 4;

/** Writes one or more values; every bit of them comes back. */
export function writeNumbers(values: Float64Array): Section {
  if (isConstant(values)) return { codec: numberCodecs.constant, bytes: rawBytes(values.slice(0, 1)) };
  const writer = new ByteWriter();
  const decimals = writeDecimals(values, writer)
    ? { codec: numberCodecs.decimal, bytes: writer.finish() }
    : undefined;
  if (decimals !== undefined && decimals.bytes.length <= values.length * decimalBytesGood) return decimals;
  let best: Section = { codec: numberCodecs.raw, bytes: rawBytes(values) };
  for (const section of [decimals, ...oddSections(values)]) {
    if (section !== undefined && section.bytes.length < best.bytes.length) best = section;
  }
  return best;
}

/** The reverse of `writeNumbers` for `count` values. */
export function readNumbers({ codec, bytes }: Section, count: number): Float64Array {
  const reader = new ByteReader(bytes);
  switch (codec) {
    case numberCodecs.constant:
      return new Float64Array(count).fill(reader.f64());
    case numberCodecs.packedDecimal:
      return readDecimals(reader, count, readIntegers);
    case numberCodecs.decimal:
      return readDecimals(reader, count, readColumn);
    case numberCodecs.xor:
      return readXor(reader, count);
    case numberCodecs.raw:
      return readRaw(reader.bytes(count * numberBytes));
    case numberCodecs.planes:
      return readPlanes(reader.bytes(count * numberBytes));
    default:
      throw new Malformed(`value codec ${codec}`);
  }
}

/** What may suit numbers that are no short decimals. */
function oddSections(values: Float64Array): Section[] {
  const writer = new ByteWriter();
  writeXor(values, writer);
  return [
    pressSection({ codec: numberCodecs.xor, bytes: writer.finish() }),
    pressSection({ codec: numberCodecs.raw, bytes: rawBytes(values) }),
    pressSection({ codec: numberCodecs.planes, bytes: planesOf(values) }),
  ];
}

/** Whether all values have the same bits: 0 and -0 differ. */
function isConstant(values: Float64Array): boolean {
  const first = values[0]!;
  const count = values.length;
  for (let index = 1; index < count; index++) if (values[index] !== first) return false;
  return first !== 0 || values.every((value) => Object.is(value, first));
}
