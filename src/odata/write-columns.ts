// Writes pages of very many rows from columns directly into bytes, without an object or string for each
// row.
import { type BufferWriter, BytesLiteral } from "../lib/buffer-writer.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../lib/number-text.ts";
import { timeBytesMax, writeTime } from "../lib/time-text.ts";
import type { ColumnBatch, PropertyColumn } from "./column-page.ts";
import { doubleJson } from "./write-value.ts";

type VaryingColumn = Exclude<PropertyColumn, { kind: "same" }>;

/** A row in JSON: a head, the varying values with labels between them, and a tail. */
interface RowLayout {
  readonly head: string;
  readonly cells: readonly VaryingColumn[];
  /** The labels before each varying value except the first. */
  readonly labels: readonly BytesLiteral[];
  /** The tail of a row, a comma and the head of the next row. */
  readonly separator: BytesLiteral;
  readonly rowBytesMax: number;
}

/** Writes the rows as JSON objects with the given properties, separated by commas. */
export function writeBatches(
  writer: BufferWriter,
  runs: readonly ColumnBatch[],
  properties: readonly string[],
): void {
  let isFirst = true;
  for (const run of runs) {
    if (run.count === 0) continue;
    if (!isFirst) writer.string(",");
    isFirst = false;
    if (properties.length > 0) writeBatch(writer, run.count, layoutOf(run, properties));
    else writer.string(Array(run.count).fill("{}").join());
  }
}

function layoutOf({ columns: cells }: ColumnBatch, properties: readonly string[]): RowLayout {
  const varying: VaryingColumn[] = [];
  /** The constant JSON before the first varying value, between values, and after the last one. */
  const texts = ["{"];
  for (const [at, name] of properties.entries()) {
    const cell = cells[name]!;
    const isText = cell.kind !== "doubles";
    texts.push(`${texts.pop()}${at === 0 ? "" : ","}"${name}":${isText ? '"' : ""}${prefixOf(cell)}`);
    if (cell.kind !== "same") varying.push(cell);
    if (cell.kind !== "same") texts.push("");
    texts.push(`${texts.pop()}${isText ? '"' : ""}`);
  }
  const head = texts[0]!;
  const separator = new BytesLiteral(`${varying.length === 0 ? "" : texts.at(-1)}},${head}`);
  const labels = texts.slice(1, -1).map((text) => new BytesLiteral(text));
  const rowBytesMax = labels.reduce((sum, { length }) => sum + length, separator.length);
  return {
    head,
    cells: varying,
    labels,
    separator,
    rowBytesMax: rowBytesMax + varying.length * valueBytesMax,
  };
}

const valueBytesMax = Math.max(numberBytesMax, timeBytesMax);

function prefixOf(cell: PropertyColumn): string {
  if (cell.kind === "same") return cell.text;
  return cell.kind === "numbered" ? cell.beginning : "";
}

function writeBatch(
  writer: BufferWriter,
  count: number,
  { head, cells, labels, separator, rowBytesMax }: RowLayout,
): void {
  writer.string(head);
  writer.ensure(count * rowBytesMax);
  const { view } = writer;
  let { at } = writer;
  for (let row = 0; row < count; row++) {
    for (let place = 0; place < cells.length; place++) {
      if (place > 0) at = labels[place - 1]!.write(view, at);
      at = writeCell(writer, at, cells[place]!, row);
    }
    at = separator.write(view, at);
  }
  // The last separator contains a comma and the head of a row that does not follow.
  writer.at = at - head.length - 1;
}

function writeCell(writer: BufferWriter, at: number, cell: VaryingColumn, row: number): number {
  const value = cell.values[row]!;
  if (cell.kind === "times") return writeTime(writer, at, value);
  if (cell.kind === "numbered") return writeInteger(writer.view, at, value);
  // Writes minus zero as zero.
  if (Number.isFinite(value)) return writeNumber(writer.view, at, value + 0);
  const text = Number.isNaN(value) && cell.isNaNAbsent ? "null" : doubleJson(value);
  return at + writer.bytes.write(text, at);
}
