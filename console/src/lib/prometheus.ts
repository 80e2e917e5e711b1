// Reads the text format of Prometheus.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const samplePattern = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const labelPattern = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** All samples of the text; comments and malformed lines are left out. */
export function parsePrometheus(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = samplePattern.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [{ name, labels: labelsIn(labels), value: numberOf(value) }];
  });
}

const labelsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(labelPattern)].map(([, name, value]) => [
      name!,
      value!.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character)),
    ]),
  );

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
