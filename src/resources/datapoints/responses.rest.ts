// Writes responses with datapoints as JSON, protobuf and CSV: short ones into memory, long ones as a stream.
import { type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { type BufferWriter, BytesLiteral, withWriter } from "../../lib/buffer-writer.ts";
import { type CellText, csvCell } from "../../lib/csv.ts";
import { numberBytesMax, writeInteger, writeNumber, writeSix } from "../../lib/number-text.ts";
import { bufferedChunks, prefetchedAll, streamOf } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { Continuation } from "../../rest/continuation.ts";
import type { ApiVersion } from "../../rest/route.ts";
import type { Point } from "../../storage/points.ts";
import type { DataFrame, DataFrameRows } from "./data-frame.ts";
import type { LatestPoint, SeriesResult } from "./datapoints.ts";
import { freeRows, type LimitedRows, type Rows } from "./limited-rows.ts";
import { dataFieldHeader, writePoints } from "./protobuf.ts";
import { aggregateNames, membersOfAggregate } from "./queries.rest.ts";

const jsonType = "application/json; charset=utf-8";
export const protobufType = "application/protobuf";
export const csvType = "text/csv";

/** The member that names a series. */
const keyMember = (version: ApiVersion) => (version === "0.4" ? "tagId" : "name");

export const pointSchema = Type.Object(
  { timestamp: Type.Integer(), value: Type.Union([Type.Number(), Type.String()]) },
  { title: "Datapoint", additionalProperties: false },
);

/** A point has a time and a value. An aggregate has the start of its bucket and the requested values. */
export const seriesPointsSchema = (version: ApiVersion): TSchema => {
  const members = aggregateNames.flatMap((name) => membersOfAggregate(name, version));
  const aggregate = Type.Object(
    {
      timestamp: Type.Integer(),
      ...Object.fromEntries(members.map((member) => [member, Type.Optional(Type.Number())])),
    },
    { title: "AggregateDatapoint", additionalProperties: false },
  );
  return Type.Object(
    {
      [keyMember(version)]: Type.String(),
      datapoints: Type.Array(Type.Union([pointSchema, aggregate])),
    },
    { title: "SeriesDatapoints" },
  );
};

/** A series with its last point; `datapoints` is empty when there is none. */
export const latestSchema = (version: ApiVersion): TSchema =>
  Type.Object(
    { [keyMember(version)]: Type.String(), datapoints: Type.Array(pointSchema, { maxItems: 1 }) },
    { title: "LatestDatapoint" },
  );

/** The rows of one item of a response. Each column is written as one or more members. */
export interface NamedRows {
  readonly name: string;
  readonly members: readonly (readonly string[])[];
  readonly rows: LimitedRows;
  /** Reads the rows for writing; frees each batch after it is written. */
  readonly read: () => AsyncGenerator<Rows>;
  /** The most bytes that they take as JSON, about. */
  readonly bytesMax: number;
}

/** The bytes of a number in JSON, about. */
export const cellBytes = 64;

/** The most bytes of the response for a series, about. */
function bytesMaxOf({ series, query }: SeriesResult): number {
  const { limit, aggregates } = query;
  if (aggregates) return Math.min(limit, limits.bucketsPerReadMax) * aggregates.names.length * cellBytes;
  const valueBytes = series.isString ? limits.stringValueLengthMax : cellBytes;
  return Math.min(limit, limits.pointsPerReadMax) * valueBytes;
}

/** The item of a series, with the names of members in this version. */
export function namedRows(result: SeriesResult, version: ApiVersion): NamedRows {
  const { series, query } = result;
  const members = query.aggregates?.names.map((name) => membersOfAggregate(name, version));
  const { rows } = result;
  const read = () => freedAfterWrite(rows);
  return { name: series.name, members: members ?? [["value"]], rows, read, bytesMax: bytesMaxOf(result) };
}

/** Frees each batch when the next one is requested. */
async function* freedAfterWrite(rows: LimitedRows): AsyncGenerator<Rows> {
  for await (const batch of rows.read()) {
    yield batch;
    freeRows(batch);
  }
}

/** `{"data":{"items":[{"name","datapoints":[...]}]}}`, in memory if it is short, otherwise streamed. */
export function jsonResponse(
  ctx: RequestContext,
  items: readonly NamedRows[],
  version: ApiVersion,
  continuation: Continuation,
) {
  const rows = items.map((one) => one.rows);
  const bytesMax = items.reduce((sum, one) => sum + one.bytesMax, 0);
  const write = (writer: BufferWriter) => itemsJson(writer, items, keyMember(version));
  return writeResponse(ctx, jsonType, { rows, continuation, bytesMax, write });
}

/** One point or none, without the name of its series. */
export const latestResponse = (point: Point | undefined) => ({
  contentType: jsonType,
  bytes: `{"data":{"items":[${pointJson(point)}]}}`,
});

/** An item for each series, with its last point or without points. */
export function manyLatestResponse(latest: readonly LatestPoint[], version: ApiVersion) {
  const items = latest.map(
    ({ series, point }) =>
      `{"${keyMember(version)}":${JSON.stringify(series.name)},"datapoints":[${pointJson(point)}]}`,
  );
  return { contentType: jsonType, bytes: `{"data":{"items":[${items.join(",")}]}}` };
}

/** Minus zero keeps its sign. */
function pointJson(point: Point | undefined): string {
  if (point === undefined) return "";
  const { timeMs, value } = point;
  return `{"timestamp":${timeMs},"value":${Object.is(value, -0) ? "-0" : JSON.stringify(value)}}`;
}

/** The response as one message `TimeseriesData` (docs/reference/datapoints.md#protobuf). */
export function protobufResponse(ctx: RequestContext, result: SeriesResult, continuation: Continuation) {
  const write = (writer: BufferWriter) => messageBytes(writer, result);
  const bytesMax = bytesMaxOf(result);
  return writeResponse(ctx, protobufType, { rows: [result.rows], continuation, bytesMax, write });
}

/** The data frame as CSV. The name of a column is that of its series and its aggregate. */
export function dataFrameResponse(
  ctx: RequestContext,
  { columns, rows, limit }: DataFrame & { readonly limit: number },
  cellText: CellText,
  continuation: Continuation,
) {
  const header = columns.map(({ series, aggregate }) =>
    cellText(`${series.name}|${aggregate.toLowerCase()}`),
  );
  const write = (writer: BufferWriter) => dataFrameCsv(writer, header, rows.read());
  const bytesMax = limit * columns.length * cellBytes;
  return writeResponse(ctx, `${csvType}; charset=utf-8`, { rows: [rows], continuation, bytesMax, write });
}

/** The bytes of one chunk, about. Between two chunks the event loop can serve other requests. */
const chunkBytes = limits.responseChunkBytes;
/**
 * The buffers of responses. A buffer is sent once it has `chunkBytes`, and has space for the rows of one more
 * step.
 */
export const datapointBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: 2 * chunkBytes, idleBytesMax: 12 * 2 ** 20 });

/** The content of a response. If it is cut at a limit, `continuation` makes the cursor of the rest. */
interface ResponseContent {
  readonly rows: readonly LimitedRows[];
  readonly continuation: Continuation;
  /** The most bytes of it, about. */
  readonly bytesMax: number;
  readonly write: (writer: BufferWriter) => AsyncGenerator<Buffer>;
}

/**
 * The cursor is in a header, so that the rows are written before the response starts. Rows that are too many
 * for memory are read twice: first to find their end, then to send them.
 */
async function writeResponse(
  ctx: RequestContext,
  contentType: string,
  { rows, continuation, bytesMax, write }: ResponseContent,
) {
  await ctx.memory.reserve(Math.min(bytesMax, limits.responseStreamBytes));
  return withWriter(ctx.responseBuffers.datapoints, async (writer) => {
    const release = () => writer.release();
    const discard = (chunks: readonly Buffer[]) => writer.discard(chunks);
    const buffered = await bufferedChunks(write(writer), limits.datapointsBufferedBytesMax, discard);
    if (buffered === undefined) for (const one of rows) await one.count();
    const nextCursor = continuation.cursorAfter(rows);
    const head = { contentType, release, ...(nextCursor !== undefined && { nextCursor }) };
    if (buffered?.length === 1) return { ...head, bytes: buffered[0]! };
    return { ...head, stream: streamOf(buffered ?? write(writer)) };
  });
}

/**
 * A protobuf field has its length in front, so that it is written to memory first. Strings can be too long
 * for that: after so many bytes a field of the same number follows, which readers must merge.
 */
const fieldBytesMax = 16 * 2 ** 20;

async function* messageBytes(writer: BufferWriter, result: SeriesResult): AsyncGenerator<Buffer> {
  const { isString } = result.series;
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const { times, columns } of freedAfterWrite(result.rows)) {
    writePoints(writer, { times, values: columns[0]! });
    if (writer.at < chunkBytes / 2) continue;
    bytes += writer.at;
    chunks.push(writer.takeWritten());
    if (bytes < fieldBytesMax) continue;
    yield dataFieldHeader(isString, bytes);
    yield* chunks;
    chunks = [];
    bytes = 0;
  }
  bytes += writer.at;
  if (bytes > 0) yield dataFieldHeader(isString, bytes);
  yield* chunks;
  if (writer.at > 0) yield writer.takeWritten();
}

/** Rows written between two checks of the chunk's length; a string can be long. */
const rowsPerStep = { numbers: 256, strings: 1 };
/** Series that are read while another one is written. Each has two pages of points in memory. */
const prefetchedSeries = 2;

/** `{"data":{"items":[{"name":...,"datapoints":[{"timestamp":...,...},...]},...]}}` */
async function* itemsJson(
  writer: BufferWriter,
  items: readonly NamedRows[],
  nameMember: string,
): AsyncGenerator<Buffer> {
  writer.string('{"data":{"items":[');
  for await (const [{ name, members }, batches] of prefetchedAll(items, prefetchedSeries, (one) =>
    one.read(),
  )) {
    writer.string(`{"${nameMember}":${JSON.stringify(name)},"datapoints":[`);
    for await (const rows of batches) {
      const { write, step } = rowWriter(writer, rows, members);
      for (let from = 0; from < rows.times.length; from += step) {
        if (writer.at >= chunkBytes) yield writer.takeWritten();
        write({ from, to: Math.min(from + step, rows.times.length) });
      }
    }
    dropComma(writer);
    writer.string("]},");
  }
  dropComma(writer);
  writer.string("]}}");
  yield writer.takeWritten();
}

const commaByte = 44;
const closeBraceByte = 125;
const lineFeedByte = 10;

/** Removes the comma after the last element. A chunk never ends between that comma and this call. */
function dropComma(writer: BufferWriter): void {
  if (writer.bytes[writer.at - 1] === commaByte) writer.at -= 1;
}

interface RowRange {
  readonly from: number;
  readonly to: number;
}

function rowWriter(writer: BufferWriter, rows: Rows, members: readonly (readonly string[])[]) {
  const { times, columns } = rows;
  const [values] = columns;
  if (values !== undefined && !(values instanceof Float64Array))
    return {
      step: rowsPerStep.strings,
      write: (part: RowRange) => writeStrings(writer, { times, values }, part),
    };
  const cells = (columns as readonly Float64Array[]).flatMap((column, i) =>
    members[i]!.map((member): Cell => ({ label: new BytesLiteral(`,"${member}":`), column })),
  );
  return {
    step: rowsPerStep.numbers,
    write: (part: RowRange) => writeNumbers(writer, { times, cells }, part),
  };
}

interface Cell {
  readonly label: BytesLiteral;
  readonly column: Float64Array;
}

const rowStart = new BytesLiteral('{"timestamp":');
/** The times of 13 digits: from 2001 to 2286. */
const thirteenDigits = { from: 1e12, below: 1e13 };
const stemBytes = rowStart.length + 7;
const stemMs = 1e6;
/** The brace and the comma after a row, as one 16-bit number. */
const rowEnd = commaByte * 256 + closeBraceByte;

/**
 * Leaves out cells that JSON has no number for. The stem is the start of a row up to the last six digits of
 * its time. It is mostly the same as in the row before and is then copied as three 64-bit words: 42 ns for a
 * row, against 70 ns with all digits.
 */
function writeNumbers(
  writer: BufferWriter,
  { times, cells }: { times: Float64Array; cells: readonly Cell[] },
  { from, to }: RowRange,
): void {
  const rowBytesMax = cells.reduce((sum, { label }) => sum + label.length + numberBytesMax, stemBytes + 20);
  writer.ensure((to - from) * rowBytesMax);
  const { view } = writer;
  let { at } = writer;
  let stemStartMs = Number.NaN;
  let [first, second, third] = [0, 0, 0];
  for (let row = from; row < to; row += 1) {
    const timeMs = times[row]!;
    const restMs = timeMs - stemStartMs;
    if (restMs >= 0 && restMs < stemMs) {
      view.setFloat64(at, first, true);
      view.setFloat64(at + 8, second, true);
      view.setFloat64(at + stemBytes - 8, third, true);
      at = writeSix(view, at + stemBytes, restMs);
    } else {
      const start = at;
      at = writeInteger(view, rowStart.write(view, at), timeMs);
      const hasThirteenDigits = timeMs >= thirteenDigits.from && timeMs < thirteenDigits.below;
      stemStartMs = hasThirteenDigits ? Math.floor(timeMs / stemMs) * stemMs : Number.NaN;
      first = view.getFloat64(start, true);
      second = view.getFloat64(start + 8, true);
      third = view.getFloat64(start + stemBytes - 8, true);
    }
    for (let i = 0; i < cells.length; i += 1) {
      const { label, column } = cells[i]!;
      const value = column[row]!;
      if (Number.isFinite(value)) at = writeNumber(view, label.write(view, at), value);
    }
    view.setInt16(at, rowEnd, true);
    at += 2;
  }
  writer.at = at;
}

function writeStrings(
  writer: BufferWriter,
  { times, values }: { times: Float64Array; values: readonly string[] },
  { from, to }: RowRange,
): void {
  for (let row = from; row < to; row += 1)
    writer.string(`{"timestamp":${times[row]},"value":${JSON.stringify(values[row])}},`);
}

/**
 * Writes a header of `timestamp` and these names, then a line for each row. A cell without a value is empty.
 */
async function* dataFrameCsv(
  writer: BufferWriter,
  header: readonly string[],
  batches: AsyncGenerator<DataFrameRows>,
): AsyncGenerator<Buffer> {
  writer.string(`${["timestamp", ...header].map(csvCell).join(",")}\n`);
  for await (const { times, columns } of batches) {
    for (let row = 0; row < times.length; row += 1) {
      if (writer.at >= chunkBytes) yield writer.takeWritten();
      writeRow(writer, times[row]!, { columns, row });
    }
  }
  yield writer.takeWritten();
}

function writeRow(
  writer: BufferWriter,
  timeMs: number,
  { columns, row }: { columns: readonly Float64Array[]; row: number },
): void {
  writer.ensure((columns.length + 1) * (numberBytesMax + 1) + 1);
  const { view } = writer;
  let at = writeInteger(view, writer.at, timeMs);
  for (const column of columns) {
    view.setUint8(at, commaByte);
    at += 1;
    const value = column[row]!;
    if (Number.isFinite(value)) at = writeNumber(view, at, value);
  }
  view.setUint8(at, lineFeedByte);
  writer.at = at + 1;
}
