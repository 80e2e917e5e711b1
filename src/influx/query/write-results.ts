// Writes the results of a query: as one JSON document, as one document for each chunk of rows, or as CSV.
import type { BufferWriter } from "../../lib/buffer-writer.ts";
import { limits } from "../../limits.ts";
import { type QueryResult, refusalOf } from "./query.ts";
import { type ResultRows, type ResultSeries, rowCount, slice } from "./rows.ts";
import { epochText } from "./time-format.ts";
import { headCsv, headJson, rowCsv, rowJson, TimeWriter } from "./write-rows.ts";

export interface ResultFormat {
  readonly isCsv: boolean;
  /** The most rows of a chunk; undefined for one document. */
  readonly chunkRows: number | undefined;
  /** The unit of times; undefined for text. */
  readonly epoch: string | undefined;
}

/** Refuses (400) an unknown unit of times. */
export function writeResults(
  writer: BufferWriter,
  results: readonly QueryResult[],
  { isCsv, chunkRows, epoch }: ResultFormat,
): AsyncGenerator<Buffer> {
  if (isCsv) return csvDocument(writer, results, epoch);
  const times = new TimeWriter(epoch);
  return chunkRows === undefined
    ? jsonDocument(writer, results, times)
    : jsonChunks(writer, results, { times, chunkRows });
}

const isFull = ({ at }: BufferWriter): boolean => at >= limits.responseChunkBytes;

/** A batch of rows of a statement, or its refusal. */
type ResultPart =
  | { readonly kind: "rows"; readonly series: ResultSeries; readonly rows: ResultRows }
  | { readonly kind: "refusal"; readonly message: string };

async function* partsOf(result: QueryResult): AsyncGenerator<ResultPart> {
  try {
    for await (const series of result)
      for await (const rows of series.rows) if (rowCount(rows) > 0) yield { kind: "rows", series, rows };
  } catch (problem) {
    const message = refusalOf(problem);
    if (message === undefined) throw problem;
    yield { kind: "refusal", message };
  }
}

async function* jsonDocument(
  writer: BufferWriter,
  results: readonly QueryResult[],
  times: TimeWriter,
): AsyncGenerator<Buffer> {
  writer.string('{"results":[');
  for (const [id, result] of results.entries()) {
    writer.string(`${id > 0 ? "," : ""}{"statement_id":${id}`);
    let [open, refusal]: [ResultSeries | undefined, string | undefined] = [undefined, undefined];
    for await (const part of partsOf(result)) {
      if (part.kind === "refusal") {
        refusal = part.message;
        break;
      }
      const { series, rows } = part;
      const isNew = series !== open;
      if (isNew) writer.string(`${open ? "]}," : ',"series":['}{${headJson(series)},"values":[`);
      open = series;
      const writeTime = times.json(writer, series);
      for (let row = 0; row < rowCount(rows); row += 1) {
        if (isFull(writer)) yield writer.takeWritten();
        if (row > 0 || !isNew) writer.string(",");
        rowJson(writer, rows, row, writeTime);
      }
    }
    if (open) writer.string("]}]");
    writer.string(refusal === undefined ? "}" : `,"error":${JSON.stringify(refusal)}}`);
  }
  writer.string("]}\n");
  yield writer.takeWritten();
}

/** The parts with at most so many rows. */
async function* chunkedParts(result: QueryResult, chunkRows: number): AsyncGenerator<ResultPart> {
  for await (const part of partsOf(result)) {
    if (part.kind === "refusal") yield part;
    else
      for (let from = 0, count = rowCount(part.rows); from < count; from += chunkRows)
        yield { ...part, rows: slice(part.rows, from, Math.min(count, from + chunkRows)) };
  }
}

/** A chunk says whether the next one continues its series, and its statement. */
async function* jsonChunks(
  writer: BufferWriter,
  results: readonly QueryResult[],
  { times, chunkRows }: { readonly times: TimeWriter; readonly chunkRows: number },
): AsyncGenerator<Buffer> {
  for (const [id, result] of results.entries()) {
    let held: ResultPart | undefined;
    for await (const part of chunkedParts(result, chunkRows)) {
      if (held) writeChunk(writer, { id, part: held, next: part, times });
      if (isFull(writer)) yield writer.takeWritten();
      held = part;
    }
    writeChunk(writer, { id, part: held, next: undefined, times });
  }
  yield writer.takeWritten();
}

interface Chunk {
  readonly id: number;
  readonly part: ResultPart | undefined;
  readonly next: ResultPart | undefined;
  readonly times: TimeWriter;
}

function writeChunk(writer: BufferWriter, { id, part, next, times }: Chunk): void {
  writer.string(`{"results":[{"statement_id":${id}`);
  if (part?.kind === "refusal") writer.string(`,"error":${JSON.stringify(part.message)}`);
  if (part?.kind === "rows") {
    const { series, rows } = part;
    writer.string(`,"series":[{${headJson(series)},"values":[`);
    const writeTime = times.json(writer, series);
    for (let row = 0; row < rowCount(rows); row += 1) {
      if (row > 0) writer.string(",");
      rowJson(writer, rows, row, writeTime);
    }
    const isContinued = next?.kind === "rows" && next.series === series;
    writer.string(`]${isContinued ? ',"partial":true' : ""}}]${next ? ',"partial":true' : ""}`);
  }
  writer.string("}]}\n");
}

/** A head precedes the first rows of a statement, and rows with other columns. Times are in ns by default. */
async function* csvDocument(
  writer: BufferWriter,
  results: readonly QueryResult[],
  epoch: string | undefined,
): AsyncGenerator<Buffer> {
  const timeText = epochText(epoch ?? "ns")!;
  let head = "";
  for (const result of results) {
    if (head !== "") writer.string("\n");
    head = "";
    for await (const part of partsOf(result)) {
      if (part.kind === "refusal") {
        writer.string(`error\n${JSON.stringify(part.message)}\n`);
        break;
      }
      const own = headCsv(part.series);
      if (own !== head) writer.string(own);
      head = own;
      for (let row = 0; row < rowCount(part.rows); row += 1) {
        if (isFull(writer)) yield writer.takeWritten();
        writer.string(rowCsv(part.series, part.rows, row, timeText));
      }
    }
  }
  yield writer.takeWritten();
}
