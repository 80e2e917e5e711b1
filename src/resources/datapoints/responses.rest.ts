// How datapoints are answered: JSON by version, protobuf, and CSV, from memory when short and streamed
// when long.
import { type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { BufferWriter, BytesLiteral } from "../../lib/buffer-writer.ts";
import { type CellText, csvCell } from "../../lib/csv.ts";
import { numberBytesMax, writeInteger, writeNumber, writeSix } from "../../lib/number-text.ts";
import { bufferedChunks, prefetchedAll, streamOf } from "../../lib/streams.ts";
import { limits } from "../../limits.ts";
import type { Continuation } from "../../rest/continuation.ts";
import type { ApiVersion } from "../../rest/route.ts";
import type { SeriesAnswer } from "./datapoints.ts";
import type { Frame, FrameRows } from "./frame.ts";
import type { LimitedRows, Rows } from "./limited-rows.ts";
import { dataFieldHeader, writePoints } from "./protobuf.ts";
import { aggregateNames, membersOfAggregate } from "./queries.rest.ts";

const jsonType = "application/json; charset=utf-8";
export const protobufType = "application/protobuf";
export const csvType = "text/csv";

/** The member that names a series. */
const keyMember = (version: ApiVersion) => (version === "0.4" ? "tagId" : "name");

export const pointShape = Type.Object(
  { timestamp: Type.Integer(), value: Type.Union([Type.Number(), Type.String()]) },
  { title: "Datapoint", additionalProperties: false },
);

/** A point has a time and a value alone, an aggregate its time and the requested members. */
export const pointsShape = (version: ApiVersion): TSchema => {
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
      datapoints: Type.Array(Type.Union([pointShape, aggregate])),
    },
    { title: "SeriesDatapoints" },
  );
};

/** Rows under the name of a series, and the members that each of their columns is written as. */
export interface NamedRows {
  readonly name: string;
  readonly members: readonly (readonly string[])[];
  readonly rows: LimitedRows;
  /** The same rows, to be written once. */
  readonly read: () => AsyncGenerator<Rows>;
  /** How many bytes they have at most, about. */
  readonly bytesMax: number;
}

/** Of a row as it is written, about; a string can be as long as a limit allows. */
export const cellBytes = 64;

/** How many bytes the response for a series has at most, about. */
function bytesMaxOf({ series, question }: SeriesAnswer): number {
  const { limit, aggregates } = question;
  if (aggregates) return Math.min(limit, limits.bucketsPerReadMax) * aggregates.wanted.length * cellBytes;
  const valueBytes = series.isString ? limits.stringValueLengthMax : cellBytes;
  return Math.min(limit, limits.pointsPerReadMax) * valueBytes;
}

/** What a version calls the points or aggregates of a series. */
export function namedRows(response: SeriesAnswer, version: ApiVersion): NamedRows {
  const { series, question } = response;
  const members = question.aggregates?.wanted.map((name) => membersOfAggregate(name, version));
  const { rows } = response;
  const read = () => spentRows(rows);
  return { name: series.name, members: members ?? [["value"]], rows, read, bytesMax: bytesMaxOf(response) };
}

/** Columns may share a buffer. */
function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** The rows, whose memory is freed when they are written: the collector would have to run for it often. */
async function* spentRows(rows: LimitedRows): AsyncGenerator<Rows> {
  for await (const batch of rows.read()) {
    yield batch;
    for (const column of [batch.times, ...batch.columns])
      if (column instanceof Float64Array) free(column.buffer);
  }
}

/** `{"data":{"items":[{"name","datapoints":[...]}]}}`, in memory if it is short, otherwise streamed. */
export function jsonAnswer(
  ctx: RequestContext,
  answers: readonly NamedRows[],
  version: ApiVersion,
  continuation: Continuation,
) {
  const rows = answers.map((response) => response.rows);
  const bytesMax = answers.reduce((sum, response) => sum + response.bytesMax, 0);
  const write = (sheet: BufferWriter) => itemsJson(sheet, answers, keyMember(version));
  return written(ctx, jsonType, { rows, continuation, bytesMax, write });
}

/** One point or none, without the name of its series; minus zero keeps its sign. */
export function latestAnswer(
  found: { readonly timeMs: number; readonly value: number | string } | undefined,
) {
  const value = Object.is(found?.value, -0) ? "-0" : JSON.stringify(found?.value);
  const items = found ? `{"timestamp":${found.timeMs},"value":${value}}` : "";
  return { contentType: jsonType, bytes: `{"data":{"items":[${items}]}}` };
}

/** The response as one message `TimeseriesData` (docs/reference/datapoints.md#protobuf). */
export function protobufAnswer(ctx: RequestContext, response: SeriesAnswer, continuation: Continuation) {
  const write = (sheet: BufferWriter) => messageBytes(sheet, response);
  const bytesMax = bytesMaxOf(response);
  return written(ctx, protobufType, { rows: [response.rows], continuation, bytesMax, write });
}

/** The frame as CSV; a column is named by its series and its aggregate. */
export function frameAnswer(
  ctx: RequestContext,
  { columns, rows, limit }: Frame & { readonly limit: number },
  cellText: CellText,
  continuation: Continuation,
) {
  const header = columns.map(({ series, aggregate }) =>
    cellText(`${series.name}|${aggregate.toLowerCase()}`),
  );
  const write = (sheet: BufferWriter) => frameCsv(sheet, header, rows.read());
  const bytesMax = limit * columns.length * cellBytes;
  return written(ctx, `${csvType}; charset=utf-8`, { rows: [rows], continuation, bytesMax, write });
}

/** Bytes of an answer that are sent as one piece, about; the event loop is free between two of them. */
const pieceBytes = limits.responsePieceBytes;
/** The buffers of responses. Each takes the rows of one more step after it is long enough to be sent. */
export const datapointBuffers = (): BufferPool =>
  new BufferPool({ bytesMin: 2 * pieceBytes, idleBytesMax: 12 * 2 ** 20 });

/** What is written of a response, in rows that may go on in a further one. */
interface Content {
  readonly rows: readonly LimitedRows[];
  readonly continuation: Continuation;
  /** How many bytes it has at most, about. */
  readonly bytesMax: number;
  readonly write: (sheet: BufferWriter) => AsyncGenerator<Buffer>;
}

/**
 * A response has its cursor in front of its rows. It is therefore written before it is sent; rows that are
 * too many to be held are read twice, first to find where they end.
 */
async function written(
  ctx: RequestContext,
  contentType: string,
  { rows, continuation, bytesMax, write }: Content,
) {
  await ctx.memory.reserve(Math.min(bytesMax, limits.responseStreamBytes));
  const sheet = new BufferWriter(ctx.responseBuffers.datapoints);
  const release = () => sheet.release();
  const held = await bufferedChunks(write(sheet), limits.datapointsHeldBytesMax);
  if (held === undefined) {
    release();
    for (const one of rows) await one.count();
  }
  const nextCursor = continuation.cursorAfter(rows);
  const head = { contentType, release, ...(nextCursor !== undefined && { nextCursor }) };
  if (held?.length === 1) return { ...head, bytes: held[0]! };
  return { ...head, stream: streamOf(held ?? write(sheet)) };
}

/**
 * A message needs its length in front. Texts can be too many to be held, so beyond this many bytes the field
 * repeats, which readers must merge; numbers never come near, nor do texts in practice.
 */
const fieldBytesMax = 16 * 2 ** 20;

async function* messageBytes(sheet: BufferWriter, response: SeriesAnswer): AsyncGenerator<Buffer> {
  const { isString } = response.series;
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const { times, columns } of spentRows(response.rows)) {
    writePoints(sheet, { times, values: columns[0]! });
    if (sheet.at < pieceBytes / 2) continue;
    bytes += sheet.at;
    held.push(sheet.takeWritten());
    if (bytes < fieldBytesMax) continue;
    yield dataFieldHeader(isString, bytes);
    yield* held;
    held = [];
    bytes = 0;
  }
  bytes += sheet.at;
  if (bytes > 0) yield dataFieldHeader(isString, bytes);
  yield* held;
  if (sheet.at > 0) yield sheet.takeWritten();
}

/** Texts can be long, so that the piece is looked at after each of them. */
const rowsAtOnce = { numbers: 256, texts: 1 };
/** Series read while another one is written: each takes two pages of points, also while its reader waits. */
const seriesAhead = 2;

/** `{"data":{"items":[{"name":...,"datapoints":[{"timestamp":...,...},...]},...]}}` */
async function* itemsJson(
  sheet: BufferWriter,
  answers: readonly NamedRows[],
  nameMember: string,
): AsyncGenerator<Buffer> {
  sheet.string('{"data":{"items":[');
  for await (const [{ name, members }, pieces] of prefetchedAll(answers, seriesAhead, (one) => one.read())) {
    sheet.string(`{"${nameMember}":${JSON.stringify(name)},"datapoints":[`);
    for await (const rows of pieces) {
      const { write, atOnce } = rowWriter(sheet, rows, members);
      for (let from = 0; from < rows.times.length; from += atOnce) {
        if (sheet.at >= pieceBytes) yield sheet.takeWritten();
        write({ from, to: Math.min(from + atOnce, rows.times.length) });
      }
    }
    dropComma(sheet);
    sheet.string("]},");
  }
  dropComma(sheet);
  sheet.string("]}}");
  yield sheet.takeWritten();
}

const commaByte = 44;
const closeBraceByte = 125;
const lineFeedByte = 10;

/** Every element is followed by a comma; the last one's goes again. It is never cut off before. */
function dropComma(sheet: BufferWriter): void {
  if (sheet.bytes[sheet.at - 1] === commaByte) sheet.at -= 1;
}

interface Part {
  readonly from: number;
  readonly to: number;
}

function rowWriter(sheet: BufferWriter, rows: Rows, members: readonly (readonly string[])[]) {
  const { times, columns } = rows;
  const [values] = columns;
  if (values !== undefined && !(values instanceof Float64Array))
    return { atOnce: rowsAtOnce.texts, write: (part: Part) => writeTexts(sheet, { times, values }, part) };
  const cells = (columns as readonly Float64Array[]).flatMap((column, i) =>
    members[i]!.map((member): Cell => ({ label: new BytesLiteral(`,"${member}":`), column })),
  );
  return { atOnce: rowsAtOnce.numbers, write: (part: Part) => writeNumbers(sheet, { times, cells }, part) };
}

interface Cell {
  readonly label: BytesLiteral;
  readonly column: Float64Array;
}

const rowStart = new BytesLiteral('{"timestamp":');
/** The times whose last six digits stand behind seven others: from 2001 to 2286. */
const usualMs = { from: 1e12, below: 1e13 };
const stemBytes = rowStart.length + 7;
const stemMs = 1e6;
/** The brace and the comma behind a row, as a word. */
const rowEnd = commaByte * 256 + closeBraceByte;

/**
 * A cell without a value (NaN), or with one that JSON cannot say, is left out. The stem of a row is its start
 * with all but the last six digits of its time: as a rule that of the row before, stored as the three words
 * it is made of (42 ns a row, where writing every digit anew took 70).
 */
function writeNumbers(
  sheet: BufferWriter,
  { times, cells }: { times: Float64Array; cells: readonly Cell[] },
  { from, to }: Part,
): void {
  const rowBytesMax = cells.reduce((sum, { label }) => sum + label.length + numberBytesMax, stemBytes + 20);
  sheet.ensure((to - from) * rowBytesMax);
  const { view } = sheet;
  let { at } = sheet;
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
      const isUsual = timeMs >= usualMs.from && timeMs < usualMs.below;
      stemStartMs = isUsual ? Math.floor(timeMs / stemMs) * stemMs : Number.NaN;
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
  sheet.at = at;
}

function writeTexts(
  sheet: BufferWriter,
  { times, values }: { times: Float64Array; values: readonly string[] },
  { from, to }: Part,
): void {
  for (let row = from; row < to; row += 1)
    sheet.string(`{"timestamp":${times[row]},"value":${JSON.stringify(values[row])}},`);
}

/**
 * A header of `timestamp` and the given cells, then a line for each row; an empty cell where there is no
 * value.
 */
async function* frameCsv(
  sheet: BufferWriter,
  header: readonly string[],
  batches: AsyncGenerator<FrameRows>,
): AsyncGenerator<Buffer> {
  sheet.string(`${["timestamp", ...header].map(csvCell).join(",")}\n`);
  for await (const { times, columns } of batches) {
    for (let row = 0; row < times.length; row += 1) {
      if (sheet.at >= pieceBytes) yield sheet.takeWritten();
      writeRow(sheet, times[row]!, { columns, row });
    }
  }
  yield sheet.takeWritten();
}

function writeRow(
  sheet: BufferWriter,
  timeMs: number,
  { columns, row }: { columns: readonly Float64Array[]; row: number },
): void {
  sheet.ensure((columns.length + 1) * (numberBytesMax + 1) + 1);
  const { view } = sheet;
  let at = writeInteger(view, sheet.at, timeMs);
  for (const column of columns) {
    view.setUint8(at, commaByte);
    at += 1;
    const value = column[row]!;
    if (Number.isFinite(value)) at = writeNumber(view, at, value);
  }
  view.setUint8(at, lineFeedByte);
  sheet.at = at + 1;
}
