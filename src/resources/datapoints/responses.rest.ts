// Writes responses with datapoints as JSON, protobuf and CSV: short ones into memory, long ones as a stream.
import { type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { type BufferWriter, BytesLiteral, withWriter } from "../../lib/buffer-writer.ts";
import { type CellText, csvCell } from "../../lib/csv.ts";
import { NumberRows, RowLayout } from "../../lib/number-rows.ts";
import { numberBytesMax, writeInteger, writeNumber } from "../../lib/number-text.ts";
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
  const { numberRows } = ctx.responseBuffers;
  const write = (writer: BufferWriter) => itemsJson(numberRows, writer, items, keyMember(version));
  return writeResponse(ctx, jsonType, { rows, continuation, bytesMax, write });
}

/** One point or none, without the name of its series. */
export const latestResponse = (point: Point | undefined) => ({
  contentType: jsonType,
  bytes: `{"data":{"items":[${pointJson(point)}]}}`,
});

/** An item for each series, with its last point or without points. Long strings reserve memory. */
export async function manyLatestResponse(
  ctx: Pick<RequestContext, "memory" | "responseBuffers">,
  latest: readonly LatestPoint[],
  version: ApiVersion,
) {
  let bytes = latest.length * (cellBytes + limits.nameLengthMax);
  for (const { point } of latest) if (typeof point?.value === "string") bytes += point.value.length;
  await ctx.memory.reserve(Math.min(bytes, limits.responseReserveBytes));
  const label = new BytesLiteral(`{"${keyMember(version)}":`);
  // Into bytes: 0.14 us for an item, against 0.5 us as parts of a string.
  return withWriter(ctx.responseBuffers.datapoints, (writer) => {
    writer.string('{"data":{"items":[');
    for (const { series, point } of latest) {
      writer.literal(label);
      writer.jsonString(series.name);
      writer.literal(pointsLabel);
      if (point) writePoint(writer, point);
      writer.string("]},");
    }
    dropComma(writer);
    writer.string("]}}");
    return { contentType: jsonType, bytes: writer.takeWritten(), release: () => writer.release() };
  });
}

const pointsLabel = new BytesLiteral(',"datapoints":[');
const timeLabel = new BytesLiteral('{"timestamp":');
const valueLabel = new BytesLiteral(',"value":');

function writePoint(writer: BufferWriter, { timeMs, value }: Point): void {
  writer.ensure(timeLabel.length + valueLabel.length + 2 * numberBytesMax);
  const { view } = writer;
  writer.at = valueLabel.write(view, writeInteger(view, timeLabel.write(view, writer.at), timeMs));
  if (typeof value === "string") writer.jsonString(value);
  else writer.at = writeNumber(view, writer.at, value);
  writer.string("}");
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
  const { numberRows } = ctx.responseBuffers;
  const write = (writer: BufferWriter) => dataFrameCsv(numberRows, writer, header, rows.read());
  const bytesMax = limit * columns.length * cellBytes;
  return writeResponse(ctx, `${csvType}; charset=utf-8`, { rows: [rows], continuation, bytesMax, write });
}

/** The bytes of one chunk, about. Between two chunks the event loop can serve other requests. */
const chunkBytes = limits.responseChunkBytes;
/**
 * The buffers of responses. Those of short ones are small, as many of these wait to be sent together. A
 * buffer is sent once it has `chunkBytes`; it has space for the rows of one more step.
 */
export const datapointBuffers = () => ({
  datapoints: new BufferPool({
    ...{ bytesMin: 2 * chunkBytes, idleBytesMax: 12 * 2 ** 20 },
    shortBytes: limits.sendTogetherBytesMax,
  }),
  numberRows: new NumberRows(),
});

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

/** Series that are read while another one is written. Each has two pages of points in memory. */
const prefetchedSeries = 2;

/** `{"data":{"items":[{"name":...,"datapoints":[{"timestamp":...,...},...]},...]}}` */
async function* itemsJson(
  numberRows: NumberRows,
  writer: BufferWriter,
  items: readonly NamedRows[],
  nameMember: string,
): AsyncGenerator<Buffer> {
  writer.string('{"data":{"items":[');
  for await (const [{ name, members }, batches] of prefetchedAll(items, prefetchedSeries, (one) =>
    one.read(),
  )) {
    writer.string(`{"${nameMember}":${JSON.stringify(name)},"datapoints":[`);
    const layout = layoutOf(members);
    for await (const rows of batches) {
      const to = rows.times.length;
      for (let from = 0; from < to; ) {
        if (writer.at >= chunkBytes) yield writer.takeWritten();
        from = areNumbers(rows)
          ? numberRows.write(writer, layout, columnsOf(rows, members), { from, to })
          : writeString(writer, rows, from);
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

/** Removes the comma after the last element. A chunk never ends between that comma and this call. */
function dropComma(writer: BufferWriter): void {
  if (writer.bytes[writer.at - 1] === commaByte) writer.at -= 1;
}

/** A cell that JSON has no number for is left out. */
const layoutOf = (members: NamedRows["members"]): RowLayout =>
  new RowLayout({
    start: '{"timestamp":',
    labels: members.flat().map((member) => `,"${member}":`),
    end: "},",
    isTable: false,
  });

const areNumbers = (rows: Rows): rows is Rows<Float64Array> => rows.columns[0] instanceof Float64Array;

/** With a column for each member. */
const columnsOf = ({ times, columns }: Rows<Float64Array>, members: NamedRows["members"]) => ({
  times,
  columns: columns.flatMap((column, i) => members[i]!.map(() => column)),
});

/** Returns the index of the next row: a string can be long. */
function writeString(writer: BufferWriter, { times, columns }: Rows, row: number): number {
  writer.string(`{"timestamp":${times[row]},"value":${JSON.stringify(columns[0]![row])}},`);
  return row + 1;
}

/**
 * Writes a header of `timestamp` and these names, then a line for each row. A cell without a value is empty.
 */
async function* dataFrameCsv(
  numberRows: NumberRows,
  writer: BufferWriter,
  header: readonly string[],
  batches: AsyncGenerator<DataFrameRows>,
): AsyncGenerator<Buffer> {
  writer.string(`${["timestamp", ...header].map(csvCell).join(",")}\n`);
  const layout = new RowLayout({ start: "", labels: header.map(() => ","), end: "\n", isTable: true });
  for await (const rows of batches) {
    const to = rows.times.length;
    for (let from = 0; from < to; ) {
      if (writer.at >= chunkBytes) yield writer.takeWritten();
      from = numberRows.write(writer, layout, rows, { from, to });
    }
  }
  yield writer.takeWritten();
}
