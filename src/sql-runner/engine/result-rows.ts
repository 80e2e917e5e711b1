// Sends the rows of a query in batches.
import type { StatementSync } from "node:sqlite";
import { limits } from "../../limits.ts";
import type { EncodedValue, QueryTask } from "../frames.ts";
import { SqlFailure, type SqlSummary } from "../sql-runner.ts";

type Sent = Pick<SqlSummary, "rows" | "isCut" | "types">;

const valueTypes = ["integer", "real", "text"] as const;

type ValueType = (typeof valueTypes)[number];

export function sendRows(
  statement: StatementSync,
  { limits: bounds, firstRows = Number.POSITIVE_INFINITY }: QueryTask,
  send: (rows: readonly (readonly EncodedValue[])[]) => void,
): Sent {
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const names = statement.columns().map(({ name }) => name);
  const seen = names.map(() => new Set<ValueType>());
  let batch: EncodedValue[][] = [];
  let [rows, length, bytes] = [0, 0, 0];
  const flush = () => {
    if (batch.length > 0) send(batch);
    bytes += length;
    [batch, length] = [[], 0];
    if (bytes > bounds.bytes) throw beyond("bytes", bounds.bytes);
  };
  let isCut = false;
  for (const row of statement.iterate() as Iterable<unknown>) {
    if (rows >= firstRows) {
      isCut = true;
      break;
    }
    rows += 1;
    if (rows > bounds.rows) throw beyond("rows", bounds.rows);
    const encoded = (row as readonly unknown[]).map((value, at) => {
      const found = encode(value, () => `${names[at]} of row ${rows}`);
      if (found.type) seen[at]!.add(found.type);
      length += typeof found.value === "string" ? found.value.length + 3 : 9;
      return found.value;
    });
    batch.push(encoded);
    if (length >= limits.sqlBatchBytes) flush();
  }
  flush();
  return { rows, isCut, types: seen.map((types) => valueTypes.filter((type) => types.has(type))) };
}

interface Encoded {
  readonly value: EncodedValue;
  readonly type?: ValueType;
}

function encode(value: unknown, where: () => string): Encoded {
  if (value === null) return { value };
  if (typeof value === "string") return { value, type: "text" };
  if (typeof value === "bigint") {
    const number = Number(value);
    return { value: Number.isSafeInteger(number) ? number : [String(value)], type: "integer" };
  }
  if (typeof value === "number" && Number.isFinite(value)) return { value, type: "real" };
  const what = typeof value === "number" ? "not a finite number" : "binary: use hex() to make it a string";
  throw new SqlFailure({ kind: "value", message: `The value of ${where()} is ${what}` });
}

const beyond = (bound: "rows" | "bytes", limit: number): SqlFailure =>
  new SqlFailure({
    ...{ kind: "bound", bound, limit },
    message: `The query returns more than ${limit} ${bound === "rows" ? "rows" : "bytes"}`,
  });
