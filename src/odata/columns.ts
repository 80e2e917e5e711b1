// Answers of very many rows: written from columns into bytes, never an object or a text a row.
import { type BufferWriter, BytesLiteral } from "../lib/buffer-writer.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../lib/number-text.ts";
import { timeBytesMax, writeTime } from "../lib/time-text.ts";
import type { Position } from "../query/page.ts";
import { doubleJson } from "./write-value.ts";

/** The values of one property in a run of rows. */
export type Cells =
  /** One text, of characters that JSON has as they are. */
  | { readonly kind: "same"; readonly text: string }
  /** Texts of one beginning, each with a whole number behind it. */
  | { readonly kind: "numbered"; readonly beginning: string; readonly values: Float64Array }
  /** Milliseconds since 1970. */
  | { readonly kind: "times"; readonly values: Float64Array }
  /** Numbers; NaN is null where `isNaNAbsent`. */
  | { readonly kind: "doubles"; readonly values: Float64Array; readonly isNaNAbsent?: true };

/** So many rows, the cells of each property by its name. */
export interface Run {
  readonly count: number;
  readonly cells: Readonly<Record<string, Cells>>;
}

export interface ColumnPage {
  readonly runs: readonly Run[];
  /** Where the next page starts; absent when this page ends the collection. */
  readonly next?: Position;
}

type Varying = Exclude<Cells, { kind: "same" }>;

/** A row is its head, the varying cells with labels between them, and a tail. */
interface Layout {
  readonly head: string;
  readonly cells: readonly Varying[];
  /** Before each varying cell but the first. */
  readonly labels: readonly BytesLiteral[];
  /** The tail of a row, a comma and the head of the next. */
  readonly joint: BytesLiteral;
  readonly rowBytesMax: number;
}

/** Writes the rows as objects of these properties, with commas between them. */
export function writeRuns(sheet: BufferWriter, runs: readonly Run[], properties: readonly string[]): void {
  let isFirst = true;
  for (const run of runs) {
    if (run.count === 0) continue;
    if (!isFirst) sheet.string(",");
    isFirst = false;
    if (properties.length > 0) writeRun(sheet, run.count, layoutOf(run, properties));
    else sheet.string(Array(run.count).fill("{}").join());
  }
}

function layoutOf({ cells }: Run, properties: readonly string[]): Layout {
  const varying: Varying[] = [];
  /** What stands before the first varying cell, between each two and behind the last. */
  const texts = ["{"];
  for (const [at, name] of properties.entries()) {
    const cell = cells[name]!;
    const isText = cell.kind !== "doubles";
    texts.push(`${texts.pop()}${at === 0 ? "" : ","}"${name}":${isText ? '"' : ""}${beginningOf(cell)}`);
    if (cell.kind !== "same") varying.push(cell);
    if (cell.kind !== "same") texts.push("");
    texts.push(`${texts.pop()}${isText ? '"' : ""}`);
  }
  const head = texts[0]!;
  const joint = new BytesLiteral(`${varying.length === 0 ? "" : texts.at(-1)}},${head}`);
  const labels = texts.slice(1, -1).map((text) => new BytesLiteral(text));
  const rowBytesMax = labels.reduce((sum, { length }) => sum + length, joint.length);
  return { head, cells: varying, labels, joint, rowBytesMax: rowBytesMax + varying.length * valueBytesMax };
}

const valueBytesMax = Math.max(numberBytesMax, timeBytesMax);

function beginningOf(cell: Cells): string {
  if (cell.kind === "same") return cell.text;
  return cell.kind === "numbered" ? cell.beginning : "";
}

function writeRun(
  sheet: BufferWriter,
  count: number,
  { head, cells, labels, joint, rowBytesMax }: Layout,
): void {
  sheet.string(head);
  sheet.ensure(count * rowBytesMax);
  const { view } = sheet;
  let { at } = sheet;
  for (let row = 0; row < count; row++) {
    for (let place = 0; place < cells.length; place++) {
      if (place > 0) at = labels[place - 1]!.write(view, at);
      at = writeCell(sheet, at, cells[place]!, row);
    }
    at = joint.write(view, at);
  }
  // Of the last joint only the tail belongs to the row.
  sheet.at = at - head.length - 1;
}

function writeCell(sheet: BufferWriter, at: number, cell: Varying, row: number): number {
  const value = cell.values[row]!;
  if (cell.kind === "times") return writeTime(sheet, at, value);
  if (cell.kind === "numbered") return writeInteger(sheet.view, at, value);
  // Minus zero is written as zero.
  if (Number.isFinite(value)) return writeNumber(sheet.view, at, value + 0);
  const text = Number.isNaN(value) && cell.isNaNAbsent ? "null" : doubleJson(value);
  return at + sheet.bytes.write(text, at);
}
