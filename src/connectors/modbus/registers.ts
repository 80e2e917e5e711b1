// Groups registers into requests, and reads values from the bytes of a response.
import { UsageError } from "../../client/command.ts";
import { exactInteger, type WayOfIntegers } from "../integers.ts";
import type { SeriesDescription } from "../records.ts";
import type { DeviceFunction, Register, RegisterType } from "./modbus-configuration.ts";

/** Registers, or bits, that one request reads. */
export interface RegisterBlock {
  readonly function: DeviceFunction;
  readonly address: number;
  readonly count: number;
  readonly items: readonly RegisterItem[];
}

export interface RegisterItem {
  readonly register: Register;
  readonly series: SeriesDescription;
  readonly integers64: WayOfIntegers;
}

/** The most of one request (Modbus Application Protocol 1.1b3, 6.1 to 6.4). */
const countMax: Readonly<Record<DeviceFunction, number>> = {
  ...{ holding: 125, input: 125 },
  ...{ coil: 2_000, discrete: 2_000 },
};

const wordsOf: Readonly<Record<RegisterType, number>> = {
  ...{ bit: 1, int16: 1, uint16: 1, int32: 2, uint32: 2, float32: 2 },
  ...{ int64: 4, uint64: 4, float64: 4 },
};

const isBits = (one: DeviceFunction) => one === "coil" || one === "discrete";
const functionOf = ({ function: given = "holding" }: Register): DeviceFunction => given;
const countOf = (register: Register) =>
  isBits(functionOf(register)) ? 1 : wordsOf[register.type ?? "uint16"];

/** Neighbouring registers are read by one request. Refuses (`UsageError`) registers that cannot be. */
export function blocksOf(
  registers: readonly Register[],
  integers64: WayOfIntegers = "exact",
): RegisterBlock[] {
  for (const register of registers) requireValid(register);
  return [...Map.groupBy(registers, functionOf)].flatMap(([name, some]) => {
    const blocks: { function: DeviceFunction; address: number; count: number; items: RegisterItem[] }[] = [];
    for (const register of some.toSorted((a, b) => a.address - b.address)) {
      const item = { register, series: seriesOf(register, integers64), integers64 };
      const end = register.address + countOf(register);
      const last = blocks.at(-1);
      if (last && register.address <= last.address + last.count && end - last.address <= countMax[name]) {
        last.count = Math.max(last.count, end - last.address);
        last.items.push(item);
      } else
        blocks.push({ function: name, address: register.address, count: countOf(register), items: [item] });
    }
    return blocks;
  });
}

function requireValid(register: Register): void {
  const { series, address, type, bit } = register;
  if (address + countOf(register) > 65_536)
    throw new UsageError(`source: ${series} ends beyond the last register, 65535`);
  if ((type === "bit") !== (bit !== undefined))
    throw new UsageError(`source: ${series} needs both the type bit and the number of the bit, or neither`);
}

/** A value that is scaled is a number. */
const isDigits = ({ type, scale, offset }: Register, integers64: WayOfIntegers): boolean =>
  integers64 === "string" &&
  (type === "int64" || type === "uint64") &&
  scale === undefined &&
  offset === undefined;

const seriesOf = (register: Register, integers64: WayOfIntegers): SeriesDescription => ({
  name: register.series,
  ...((register.type === "bit" || isBits(functionOf(register))) && { isStep: true }),
  ...(isDigits(register, integers64) && { isString: true }),
  ...(register.unit !== undefined && { unit: register.unit }),
  ...(register.description !== undefined && { description: register.description }),
});

/** The bytes of a response to the request of a block. */
export const bytesIn = (block: RegisterBlock): number =>
  isBits(block.function) ? Math.ceil(block.count / 8) : 2 * block.count;

/**
 * The value of a register in the bytes of its block; the bits of a byte begin with the lowest. A bigint is an
 * integer that no number holds.
 */
export function valueIn(
  bytes: Buffer,
  block: RegisterBlock,
  { register, integers64 }: RegisterItem,
): number | string | bigint {
  const at = register.address - block.address;
  if (isBits(block.function)) return scaled((bytes[at >> 3]! >> (at & 7)) & 1, register);
  const raw = numberAt(bytes, 2 * at, register);
  if (typeof raw === "number") return scaled(raw, register);
  if (isDigits(register, integers64)) return String(raw);
  const isScaled = register.scale !== undefined || register.offset !== undefined;
  return isScaled ? scaled(Number(raw), register) : exactInteger(raw, integers64);
}

const scaled = (raw: number, { scale = 1, offset = 0 }: Register): number => raw * scale + offset;

function numberAt(bytes: Buffer, at: number, register: Register): number | bigint {
  const { type = "uint16", bit = 0, lowWordFirst = false } = register;
  const words = wordsOf[type];
  const own = Buffer.alloc(2 * words);
  for (let i = 0; i < words; i += 1)
    bytes.copy(own, 2 * (lowWordFirst ? words - 1 - i : i), at + 2 * i, at + 2 * i + 2);
  switch (type) {
    case "bit":
      return (own.readUInt16BE() >> bit) & 1;
    case "int16":
      return own.readInt16BE();
    case "uint16":
      return own.readUInt16BE();
    case "int32":
      return own.readInt32BE();
    case "uint32":
      return own.readUInt32BE();
    case "float32":
      return own.readFloatBE();
    case "float64":
      return own.readDoubleBE();
    case "int64":
      return own.readBigInt64BE();
    case "uint64":
      return own.readBigUInt64BE();
  }
}
