// Round values and times for the axes of small charts and time lines.

const ticksMax = 5;

/** Up to five round values in the range. */
export function valueTicks(low: number, high: number): number[] {
  const raw = (high - low) / ticksMax;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw)!;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

interface TimeTick {
  readonly timeMs: number;
  readonly text: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const steps = [
  ...[1, 5, 10, 30].map((count) => count * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minuteMs),
  ...[1, 2, 3, 6, 12].map((count) => count * hourMs),
  ...[1, 2, 7, 14, 30, 61, 91, 182, 365, 730, 1_826, 3_652].map((count) => count * dayMs),
];

/** Up to `count` round times of the browser's time zone, with text that distinguishes them. */
export function timeTicks({ startMs, endMs }: { startMs: number; endMs: number }, count: number): TimeTick[] {
  const stepMs = steps.find((one) => (endMs - startMs) / one <= count) ?? steps.at(-1)!;
  const offsetMs = -new Date(startMs).getTimezoneOffset() * minuteMs;
  const first = Math.ceil((startMs + offsetMs) / stepMs) * stepMs - offsetMs;
  const format = new Intl.DateTimeFormat("en-GB", formatOf(stepMs));
  const ticks: TimeTick[] = [];
  for (let timeMs = first; timeMs <= endMs; timeMs += stepMs)
    ticks.push({ timeMs, text: format.format(timeMs) });
  return ticks;
}

function formatOf(stepMs: number): Intl.DateTimeFormatOptions {
  if (stepMs < minuteMs) return { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  if (stepMs < 6 * hourMs) return { hour: "2-digit", minute: "2-digit" };
  if (stepMs < dayMs) return { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  return stepMs < 30 * dayMs ? { day: "numeric", month: "short" } : { month: "short", year: "numeric" };
}
