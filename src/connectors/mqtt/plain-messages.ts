// Messages whose payload is one value: `21.5`, `true`, `running`.
import { exactNumberIn } from "../integers.ts";
import type { SeriesDescription } from "../records.ts";
import { fillTemplate, placeholdersIn, requireKnownNames } from "../template.ts";
import type { MessageReader } from "./message-reader.ts";

export interface PlainRead {
  readonly series: string;
  readonly isString?: boolean;
  readonly isStep?: boolean;
  readonly unit?: string;
}

const levelForm = /^-?[1-9]\d*$/;

/**
 * The time of a point is that of its arrival. Throws for a text where a number is expected, and for a topic
 * without a level that the name of the series has. Refuses (`UsageError`) a name with unknown values.
 */
export function plainReader({ series: template, ...description }: PlainRead): MessageReader {
  const known = new Map<string, SeriesDescription>();
  requireKnownNames(
    template,
    (name) => name === "topic" || levelForm.test(name),
    "{topic} and its levels, such as {1} and {-1}",
  );
  const deepest = Math.max(0, ...placeholdersIn(template).map((name) => Math.abs(Number(name)) || 0));
  return (levels, payload, nowMs) => {
    if (levels.length < deepest) throw new TypeError(`the topic has fewer than ${deepest} levels`);
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
