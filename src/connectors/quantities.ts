// Reads durations (`10m`) and sizes (`1GiB`) of a configuration.
import { UsageError } from "../client/command.ts";

const msPer = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const bytesPer = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;

/** Milliseconds. Refuses (`UsageError`) other strings, with the field. */
export const durationIn = (text: string, field: string): number => quantityIn(text, field, msPer);

/** Bytes. Refuses (`UsageError`) other strings, with the field. */
export const bytesIn = (text: string, field: string): number => quantityIn(text, field, bytesPer);

function quantityIn(text: string, field: string, units: Readonly<Record<string, number>>): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit]! : undefined;
  if (digits === undefined || factor === undefined)
    throw new UsageError(`${field} is a number with one of ${Object.keys(units).join(", ")}, not "${text}"`);
  return Number(digits) * factor;
}
