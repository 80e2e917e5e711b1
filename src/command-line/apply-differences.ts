// Shows the differences between files and a project in lines that people read.
export interface ShownDifference {
  readonly kind: string;
  readonly name: string;
  readonly change: "created" | "changed" | "deleted";
  readonly fields: readonly { readonly field: string; readonly old?: unknown; readonly new?: unknown }[];
}

const signs = { created: "+", changed: "~", deleted: "-" } as const;
/** Longer values have a line each for old and new. */
const shortMax = 60;

export function differenceLines({ kind, name, change, fields }: ShownDifference, place?: string): string[] {
  const where = place === undefined ? "" : `  (${place})`;
  const title = `${signs[change]} ${kind} ${JSON.stringify(name)}${where}`;
  return change === "changed" ? [title, ...fields.flatMap(fieldLines)] : [title];
}

function fieldLines({ field, old, new: now }: ShownDifference["fields"][number]): string[] {
  if (typeof old === "string" && typeof now === "string" && /\n/.test(old + now))
    return [`    ${field}:`, ...changedLines(old.split("\n"), now.split("\n"))];
  const [before, after] = [textOf(old), textOf(now)];
  if (before.length + after.length <= shortMax) return [`    ${field}: ${before} -> ${after}`];
  return [`    ${field}:`, `      - ${before}`, `      + ${after}`];
}

const textOf = (value: unknown): string => (value === undefined ? "(none)" : JSON.stringify(value));

/** The lines between the first and the last one that differ. */
function changedLines(old: readonly string[], now: readonly string[]): string[] {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let end = 0;
  const left = Math.min(old.length, now.length) - start;
  while (end < left && old.at(-1 - end) === now.at(-1 - end)) end++;
  return [
    `      @ line ${start + 1}`,
    ...old.slice(start, old.length - end).map((line) => `      - ${line}`),
    ...now.slice(start, now.length - end).map((line) => `      + ${line}`),
  ];
}

/** `2 to create, 1 to change, 5 unchanged`. */
export function summaryOf(differences: readonly ShownDifference[], unchanged: number): string {
  const counts = (["created", "changed", "deleted"] as const).map(
    (change) => [change, differences.filter((one) => one.change === change).length] as const,
  );
  const words = { created: "create", changed: "change", deleted: "delete" } as const;
  const parts = counts
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${count} to ${words[change]}`);
  return [...parts, `${unchanged} unchanged`].join(", ");
}
