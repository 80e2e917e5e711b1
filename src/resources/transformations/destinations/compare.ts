// Compares the rows of a result with the existing records: which ones each row creates, changes or deletes.
import { isDeepStrictEqual } from "node:util";
import type { RequestContext } from "../../../context.ts";
import { Failure } from "../../../errors.ts";
import { TimeSlice } from "../../../lib/time-slice.ts";
import { limits } from "../../../limits.ts";
import type { RecordValues } from "../../../query/evaluate.ts";
import { rowErrorOf } from "../runs/rows.ts";
import type { RowError, TransformationAction } from "../schema.ts";
import type {
  Candidate,
  RecordChange,
  RecordCreation,
  RecordDestination,
  RowComparison,
} from "./destination.ts";

export interface RecordRules {
  /** Columns that a record keeps from its creation on. */
  readonly fixed: readonly string[];
  /** Throws the refusal of values that the resource does not take. */
  check(values: RecordValues): void;
  /** The records of these keys that the caller may read. */
  find(ctx: RequestContext, keys: readonly string[]): Promise<ReadonlyMap<string, RecordValues>>;
}

/** Compares rows with records that are found by their keys. */
export const comparing =
  (rules: RecordRules): RecordDestination["compare"] =>
  async (ctx, action, rows) => {
    const keys = rows.map(({ key }) => key);
    return compare(rules, action, rows, await rules.find(ctx, keys));
  };

/** Compares rows with the existing records of their keys. */
async function compare(
  rules: RecordRules,
  action: TransformationAction,
  rows: readonly Candidate[],
  existing: ReadonlyMap<string, RecordValues>,
): Promise<RowComparison> {
  const creations: RecordCreation[] = [];
  const changes: RecordChange[] = [];
  const deletions: RecordChange[] = [];
  const unchanged: Candidate[] = [];
  const refused: RowError[] = [];
  const slice = new TimeSlice(limits.timeSliceMs);
  for (const row of rows) {
    if (slice.isOver()) await slice.next();
    const current = existing.get(row.key);
    const refuse = (reason: string) => refused.push({ row: row.row, key: row.key, reason });
    if (action === "delete") {
      if (current) deletions.push({ row: row.row, key: row.key, current, values: {} });
      else unchanged.push(row);
    } else if (current && action === "create") refuse("A record with this key exists");
    else if (!current && action === "update") refuse("No record has this key");
    else {
      const result = current ? changeOf(rules, row, current) : creationOf(rules, row);
      if ("reason" in result) refused.push(result);
      else if (!isChange(result)) creations.push(result);
      else if (Object.keys(result.values).length === 0) unchanged.push(row);
      else changes.push(result);
    }
  }
  return { creations, changes, deletions, unchanged, refused, repeated: 0 };
}

const isChange = (result: RecordCreation | RecordChange): result is RecordChange => "current" in result;

function creationOf(rules: RecordRules, row: Candidate): RecordCreation | RowError {
  const { values } = withMetadata(row, {});
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  return checked(rules, row, given) ?? { row: row.row, key: row.key, values: given };
}

function changeOf(rules: RecordRules, row: Candidate, current: RecordValues): RecordChange | RowError {
  const { values } = withMetadata(row, current);
  const differing = Object.entries(values).filter(([name, value]) => differs(current[name], value));
  const fixed = differing.find(([name]) => rules.fixed.includes(name));
  if (fixed) {
    const [column, value] = fixed;
    const reason = `${column} cannot change: the record has ${JSON.stringify(current[column] ?? null)}`;
    return { row: row.row, key: row.key, column, value: JSON.stringify(value), reason };
  }
  const changed = Object.fromEntries(differing);
  const result = Object.entries({ ...current, ...changed }).filter(([, value]) => value !== null);
  const error = differing.length > 0 && checked(rules, row, Object.fromEntries(result));
  return error || { row: row.row, key: row.key, current, values: changed };
}

/** The values with the whole metadata: that of the row or of the record, with the pairs of the row. */
function withMetadata(
  { values, pairs }: Candidate,
  current: RecordValues,
): { readonly values: RecordValues } {
  if (Object.keys(pairs).length === 0) return { values };
  const whole = (values["metadata"] ?? current["metadata"] ?? {}) as RecordValues;
  const metadata = Object.entries({ ...whole, ...pairs }).filter(([, value]) => value !== null);
  return { values: { ...values, metadata: Object.fromEntries(metadata) } };
}

/** An absent value, an empty list and empty metadata are the same. */
function differs(current: unknown, value: unknown): boolean {
  if (isEmpty(current) || isEmpty(value)) return isEmpty(current) !== isEmpty(value);
  return !isDeepStrictEqual(current, value);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === "object" && Object.keys(value as object).length === 0);

function checked(rules: RecordRules, row: Candidate, values: RecordValues): RowError | undefined {
  try {
    rules.check(values);
    return undefined;
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return rowErrorOf(row, problem);
  }
}
