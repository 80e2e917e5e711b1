// Times as people type them, in a time zone.

const fields: Intl.DateTimeFormatOptions = {
  ...{ year: "numeric", month: "2-digit", day: "2-digit", hourCycle: "h23" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
};

/** A time as `2026-03-01T07:30:15` in a time zone, as inputs of dates and times have it. */
export function toZoned(timeMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { ...fields, timeZone }).format(timeMs).replace(" ", "T");
}

/** The time of `2026-03-01T07:30` in a time zone; undefined for other text. */
export function fromZoned(text: string, timeZone: string): number | undefined {
  const asUtc = Date.parse(`${text}Z`);
  if (!Number.isFinite(asUtc)) return undefined;
  const offsetAt = (timeMs: number) =>
    Date.parse(`${toZoned(timeMs, timeZone)}Z`) - Math.floor(timeMs / 1000) * 1000;
  // The second pass matters where the offset changes between the first guess and the time itself.
  const guess = asUtc - offsetAt(asUtc);
  return asUtc - offsetAt(guess);
}

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
