// A naive parser of line protocol, written from its description (docs/influx.md#lines), to compare with.
import { limits } from "../../src/limits.ts";

export interface NaivePoint {
  readonly series: string;
  readonly timeMs: number;
  readonly value: number | string;
}

/** A line with content; without points it is refused. */
export interface NaiveLine {
  readonly line: number;
  readonly points?: readonly NaivePoint[];
}

interface Options {
  readonly precision: string;
  readonly nowMs: number;
}

class Refused extends Error {}

const refuse = (): never => {
  throw new Refused();
};

/** The lines of a body, each with the number of its first physical line. */
export function naiveLines(bytes: Buffer, options: Options): NaiveLine[] {
  let number = 1;
  return split(bytes.toString("latin1")).flatMap((text) => {
    const line = number;
    number += 1 + (text.match(/\n/g)?.length ?? 0);
    const content = text.replace(/\r$/, "").replace(/^[ \t]*/, "");
    if (content === "" || content.startsWith("#")) return [];
    try {
      return [{ line, points: pointsOf(content, options) }];
    } catch (problem) {
      if (problem instanceof Refused) return [{ line }];
      throw problem;
    }
  });
}

/** Latin-1 has one character for each byte. A newline in a quoted field value does not end a line. */
function split(body: string): string[] {
  const lines: string[] = [];
  for (let rest = body; rest !== ""; ) {
    const comment = /^[ \t]*#[^\n]*/.exec(rest)?.[0];
    const [line] = comment === undefined ? lineForm.exec(rest)! : [comment];
    lines.push(line);
    rest = rest.slice(line.length + 1);
  }
  return lines;
}

const lineForm = /^[ \t]*(?:\\[,= ]|[^ \n])*(?: (?:\\[,= ]|="(?:\\["\\]|[^"])*(?:"|$)|[^\n])*)?/;

function pointsOf(line: string, options: Options): NaivePoint[] {
  const [head, afterHead] = cut(line, " ");
  const rest = (afterHead ?? refuse()).replace(/^ +/, "");
  if (rest === "") refuse();
  const [measurement, ...tagTexts] = cutAll(head, ",");
  const tags = tagTexts.map((tag) => {
    const [key, value] = cut(tag, "=");
    if (key === "" || value === undefined || value === "" || cut(value, "=")[1] !== undefined) refuse();
    return [plain(key), plain(value!)] as const;
  });
  if (measurement === "" || head.length > limits.influxKeyBytesMax) refuse();
  const keys = tags.map(([key]) => key);
  if (new Set(keys).size < keys.length) refuse();
  if (keys.some((key) => ["time", "_field", "_measurement"].includes(key))) refuse();
  const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const sorted = tags.toSorted(([a], [b]) => bytewise(a, b)).map(([key, value]) => `.${key}=${value}`);
  const fields: { readonly series: string; readonly value: number | string }[] = [];
  let left = rest;
  for (;;) {
    const [key, afterKey] = cut(left, "=");
    if (
      key === "" ||
      afterKey === undefined ||
      cut(key, " ")[1] !== undefined ||
      cut(key, ",")[1] !== undefined
    )
      refuse();
    const field = plain(key);
    if (field === "time") refuse();
    const series = `${plain(measurement!)}${sorted.join("")}.${field}`;
    if (series.length > limits.nameLengthMax || series.includes("\0")) refuse();
    const long = [...tags, ["_measurement", plain(measurement!)], ["_field", field]].some(
      ([key]) => key!.length > limits.metadataKeyLengthMax,
    );
    if (long) refuse();
    const token = /^(?:"(?:\\["\\]|[^"\\]|\\(?!["\\]))*"|[^," \r][^, \r]*)/.exec(afterKey!)?.[0] ?? refuse();
    fields.push({ series, value: fieldValueOf(token) });
    left = afterKey!.slice(token.length);
    if (!left.startsWith(",")) break;
    left = left.slice(1);
  }
  if (left !== "" && !left.startsWith(" ")) refuse();
  const timeText = left.replaceAll(/^ +| +$/g, "");
  const timeMs = timeText === "" ? options.nowMs : timeOf(timeText, options.precision);
  return fields.map((one) => ({ ...one, timeMs }));
}

/** The text before and after the first unescaped `stop`. */
function cut(text: string, stop: string): [before: string, after: string | undefined] {
  for (let at = 0; at < text.length; at += /^\\[,= ]/.test(text.slice(at, at + 2)) ? 2 : 1)
    if (text[at] === stop) return [text.slice(0, at), text.slice(at + 1)];
  return [text, undefined];
}

function cutAll(text: string, stop: string): string[] {
  const [before, after] = cut(text, stop);
  return after === undefined ? [before] : [before, ...cutAll(after, stop)];
}

function utf8(latin1: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, "latin1"));
  } catch {
    return refuse();
  }
}

const plain = (text: string): string => utf8(text).replaceAll(/\\([,= ])/g, "$1");

function fieldValueOf(token: string): number | string {
  if (token.startsWith('"')) {
    const text = utf8(token.slice(1, -1)).replaceAll(/\\(["\\])/g, "$1");
    return text.length > limits.stringValueLengthMax ? refuse() : text;
  }
  if (/^(t|T|true|True|TRUE)$/.test(token)) return 1;
  if (/^(f|F|false|False|FALSE)$/.test(token)) return 0;
  if (/^-?\d+i$|^\d+u$/.test(token)) {
    const value = BigInt(token.slice(0, -1));
    const [min, max] = token.endsWith("i") ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
    return value < min || value > max ? refuse() : Number(value);
  }
  if (!/^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(token)) return refuse();
  return Number.isFinite(Number(token)) ? Number(token) : refuse();
}

const unitsNs: Readonly<Record<string, bigint>> = {
  ...{ "": 1n, n: 1n, ns: 1n, u: 1_000n, us: 1_000n, ms: 1_000_000n },
  ...{ s: 10n ** 9n, m: 60n * 10n ** 9n, h: 3_600n * 10n ** 9n },
};

function timeOf(text: string, precision: string): number {
  if (!/^-?\d+$/.test(text)) return refuse();
  const ns = BigInt(text) * unitsNs[precision]!;
  const ms = ns / 1_000_000n - (ns < 0n && ns % 1_000_000n !== 0n ? 1n : 0n);
  return ms < BigInt(limits.timeMsMin) || ms > BigInt(limits.timeMsMax) ? refuse() : Number(ms);
}
