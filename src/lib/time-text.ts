// Times as text in UTC, `2024-05-06T07:08:09.123Z`, one by one or written into bytes by the many.
import { type BufferWriter, BytesLiteral } from "./buffer-writer.ts";

/** The years 1 to 9999, which the text has four digits for; records may reach beyond. */
const earliestMs = -62_135_596_800_000;
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** No time takes more bytes than this. */
export const timeBytesMax = 24;

const dayMs = 86_400_000;
const [zero, colon, dot, zone] = [48, 58, 46, 90];

/** The day of the time before: of neighbouring times most are of one day, and its digits are dear. */
let knownDay = Number.NaN;
let dayText = "0000-00-00T";
let dayLabel = new BytesLiteral(dayText);

/** The moment that the text has digits for, and how far it is into its day, whose digits are made ready. */
function clockOf(ms: number): number {
  const moment = Math.max(earliestMs, Math.min(ms, latestMs));
  const day = Math.floor(moment / dayMs);
  if (day !== knownDay) {
    dayText = new Date(day * dayMs).toISOString().slice(0, 11);
    dayLabel = new BytesLiteral(dayText);
    knownDay = day;
  }
  return moment - day * dayMs;
}

const pairs: readonly string[] = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));

/**
 * The text of a whole number of milliseconds, without a fraction that is zero (ten times as fast as
 * `toISOString`); beyond the years it has digits for, that of the nearest moment.
 */
export function timeText(ms: number): string {
  const clock = clockOf(ms);
  const seconds = (clock / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  const rest = clock - seconds * 1000;
  const fraction = rest === 0 ? "" : `.${String(rest).padStart(3, "0")}`;
  const [minute, second] = [pairs[minutes - hours * 60], pairs[seconds - minutes * 60]];
  return `${dayText}${pairs[hours]}:${minute}:${second}${fraction}Z`;
}

/** Writes the text of a whole number of milliseconds at `at`, and returns where it ends; there is room. */
export function writeTime({ bytes, view }: BufferWriter, at: number, ms: number): number {
  const clock = clockOf(ms);
  const start = dayLabel.write(view, at);
  const seconds = (clock / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  writePair(bytes, start, hours);
  bytes[start + 2] = colon;
  writePair(bytes, start + 3, minutes - hours * 60);
  bytes[start + 5] = colon;
  writePair(bytes, start + 6, seconds - minutes * 60);
  const end = writeFraction(bytes, start + 8, clock - seconds * 1000);
  bytes[end] = zone;
  return end + 1;
}

function writePair(bytes: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0;
  bytes[at] = zero + tens;
  bytes[at + 1] = zero + value - tens * 10;
}

function writeFraction(bytes: Uint8Array, at: number, milliseconds: number): number {
  if (milliseconds === 0) return at;
  const hundreds = (milliseconds / 100) | 0;
  bytes[at] = dot;
  bytes[at + 1] = zero + hundreds;
  writePair(bytes, at + 2, milliseconds - hundreds * 100);
  return at + 4;
}
