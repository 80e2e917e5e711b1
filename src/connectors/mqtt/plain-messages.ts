// Messages whose payload is one value: `21.5`, `true`, `running`.
import { exactNumberIn } from "../integers.ts";
import type { SeriesDescription } from "../records.ts";
import { fillTemplate } from "../template.ts";
import type { MessageReader } from "./message-reader.ts";

export interface PlainRead {
  readonly series: string;
  readonly isString?: boolean;
  readonly isStep?: boolean;
  readonly unit?: string;
}

/** The time of a point is that of its arrival. Throws for a text where a number is expected. */
export function plainReader({ series: template, ...description }: PlainRead): MessageReader {
  const known = new Map<string, SeriesDescription>();
  return (levels, payload, nowMs) => {
    const name = fillTemplate(template, levels);
    const series = known.get(name) ?? { name, ...description };
    known.set(name, series);
    const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString();
    return {
      points: [{ series, timestamp: nowMs, value: description.isString ? text : numberIn(text.trim()) }],
    };
  };
}

function numberIn(text: string): number | bigint {
  if (text === "true" || text === "false") return text === "true" ? 1 : 0;
  const number = exactNumberIn(text);
  if (Number.isNaN(number)) throw new TypeError(`"${text.slice(0, 40)}" is no number`);
  return number;
}
