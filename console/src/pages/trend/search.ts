// The search parameters of the trend. They hold its whole state, so that the address can be shared.

export interface TrendSearch {
  /** Names of series. */
  readonly series?: readonly string[];
  /** A time ago such as `6h-ago`, or an ISO time. */
  readonly start?: string;
  /** An ISO time; absent for now. */
  readonly end?: string;
  /** An IANA time zone; absent for the browser's. */
  readonly zone?: string;
  /** Follows the present time. */
  readonly live?: true;
  /** Series whose lines are hidden. */
  readonly hidden?: readonly string[];
  /** Ranges of value axes that were chosen: `bar:0:10`. */
  readonly y?: readonly string[];
  /** Measuring cursors, one or two ISO times. */
  readonly cursors?: readonly string[];
  /** Calculated series: `efficiency=100*[a]/[b]`. */
  readonly calc?: readonly string[];
  /** The types of events that are shown; `*` for all, `*none` for those without a type. */
  readonly events?: readonly string[];
  /** Compares with the window of so many days before. */
  readonly compare?: number;
  /** Shows the values as a table in place of the chart. */
  readonly table?: true;
  /** The id of the saved trend that was opened. */
  readonly trend?: number;
}

const list = (value: unknown): string[] | undefined => {
  if (value === undefined || value === "") return undefined;
  const items = [...new Set((Array.isArray(value) ? value : [value]).map(String))];
  return items.length === 0 ? undefined : items;
};

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const time = (value: unknown): string | undefined => {
  const written = text(value);
  return written !== undefined && (relativeMs(written) !== undefined || Number.isFinite(Date.parse(written)))
    ? written
    : undefined;
};

/** Those that need no check: a formatter takes 0.5 ms of each of the reads of an address. */
const knownZones: ReadonlySet<string> = new Set(["UTC", ...Intl.supportedValuesOf("timeZone")]);

/** The browser refuses unknown time zones; a link with one falls back to the browser's own. */
function zoneOf(value: unknown): string | undefined {
  const zone = text(value);
  if (zone === undefined || knownZones.has(zone)) return zone;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) && zone;
  } catch {
    return undefined;
  }
}

const positive = (value: unknown): number | undefined => {
  const number = Number(value);
  return Number.isInteger(number) && number > 0 ? number : undefined;
};

const flag = (value: unknown): true | undefined => (String(value) === "true" ? true : undefined);

export function trendSearch(raw: Record<string, unknown>): TrendSearch {
  const search = {
    series: list(raw["series"]),
    start: time(raw["start"]),
    end: time(raw["end"]),
    zone: zoneOf(raw["zone"]),
    live: flag(raw["live"]),
    hidden: list(raw["hidden"]),
    y: list(raw["y"]),
    cursors: list(raw["cursors"])?.filter((one) => Number.isFinite(Date.parse(one))),
    calc: list(raw["calc"]),
    events: list(raw["events"]),
    compare: positive(raw["compare"]),
    table: flag(raw["table"]),
    trend: positive(raw["trend"]),
  };
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The length of a time ago, such as `6h-ago`, in ms. */
export function relativeMs(start: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhdw])-ago$/.exec(start) ?? [];
  return count === undefined ? undefined : Math.max(1, Number(count)) * unitMs[unit!]!;
}
