// Messages between the server and the process of a query: JSON after its length in four bytes.
import type {
  SqlColumn,
  SqlLimits,
  SqlMarks,
  SqlProblem,
  SqlRead,
  SqlSummary,
  SqlTable,
  SqlTableName,
} from "./sql-runner.ts";

/** The first message to the process. */
export interface QueryTask {
  readonly sql: string;
  readonly marks?: SqlMarks;
  readonly limits: SqlLimits;
  readonly firstRows?: number;
}

/** A message of the process. It waits for a reply to the first four. */
export type EngineMessage =
  /** The reply is an `SqlTable` or null. */
  | { readonly kind: "describe"; readonly name: SqlTableName }
  /** Starts to read a table. The reply is its first page. */
  | { readonly kind: "read"; readonly name: SqlTableName; readonly read: SqlRead }
  /** The reply is the next page; null at the end of the table. */
  | { readonly kind: "next" }
  /** The reply is a number. */
  | { readonly kind: "lastCommit" }
  | { readonly kind: "columns"; readonly columns: readonly SqlColumn[] }
  | { readonly kind: "rows"; readonly rows: readonly (readonly EncodedValue[])[] }
  | { readonly kind: "done"; readonly summary: SqlSummary }
  | { readonly kind: "failed"; readonly problem: SqlProblem };

export type DescribeReply = SqlTable | null;

/** A list has the digits of an integer beyond 2^53. */
export type EncodedValue = string | number | null | readonly [string];

/** No message is longer: a page has one record at least, which is shorter. */
const frameBytesMax = 256 * 2 ** 20;

/** The bytes of the length. */
export const headBytes = 4;

/** A message with its length. */
export function frameOf(json: string): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + Buffer.byteLength(json));
  frame.writeUInt32LE(frame.length - headBytes);
  frame.write(json, headBytes);
  return frame;
}

/** The messages of a stream, as JSON. */
export async function* framesIn(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  let wanted = headBytes;
  let isHead = true;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) continue;
    let all = Buffer.concat(chunks);
    while (all.length >= wanted) {
      const part = all.subarray(0, wanted);
      all = all.subarray(wanted);
      if (isHead) wanted = lengthIn(part);
      else {
        yield part.toString();
        wanted = headBytes;
      }
      isHead = !isHead;
    }
    chunks = [all];
    bytes = all.length;
  }
}

/** The length in the first bytes of a message. */
export function lengthIn(head: Buffer): number {
  const length = head.readUInt32LE();
  if (length > frameBytesMax) throw new Error(`A message of a query has ${length} bytes`);
  return length;
}
