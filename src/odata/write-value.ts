// Values of every type as JSON that OData clients read (odata.md 5).
import { timeText } from "../lib/time-text.ts";
import { dynamicJson } from "./dynamic-json.ts";
import { namespace, type Property } from "./model.ts";
import { encodeName } from "./names.ts";

export interface Format {
  /** How much an answer says of itself besides the data. */
  readonly level: "none" | "minimal" | "full";
  /** 64-bit integers and counts are texts. */
  readonly isIeee754Compatible: boolean;
}

/** JSON has no such numbers; OData writes them as texts. */
export function doubleJson(value: number): string {
  if (Number.isFinite(value)) return value === 0 ? "0" : String(value);
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"INF"' : '"-INF"';
}

type Write = (value: unknown) => string;

/** Turns values of the property into JSON; absent ones into null. */
export function valueWriter(property: Property, format: Format): Write {
  const write = writerOf(property.type, format);
  if (property.isList) return (value) => `[${((value ?? []) as unknown[]).map(write).join(",")}]`;
  return (value) => (value === undefined || value === null ? "null" : write(value));
}

function writerOf(type: Property["type"], { isIeee754Compatible, level }: Format): Write {
  switch (type) {
    case "Edm.String":
      return JSON.stringify;
    case "Edm.Boolean":
      return String;
    case "Edm.DateTimeOffset":
      return (value) => `"${timeText(value as number)}"`;
    case "Edm.Double":
      return (value) => doubleJson(value as number);
    case "Edm.Int64":
      return isIeee754Compatible ? (value) => `"${value}"` : String;
    case "RawData":
      return (value) => dynamicJson(value as Record<string, unknown>, type, level === "none");
    default:
      return (value) =>
        openJson(value as object, level === "full" ? `"@odata.type":"#${namespace}.${type}"` : "");
  }
}

/** An open object of texts; `first` is its control information. */
function openJson(value: object, first: string): string {
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(encodeName(name))}:${JSON.stringify(one)}`,
  );
  return `{${[...(first === "" ? [] : [first]), ...members].join(",")}}`;
}

/** A value outside of JSON, as `$value` answers it. */
export function plainText(property: Property, value: unknown): string {
  if (property.type === "Edm.DateTimeOffset") return timeText(value as number);
  return property.type === "Edm.Double" ? doubleJson(value as number).replaceAll('"', "") : String(value);
}
