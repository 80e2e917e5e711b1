// Writes rows of a result in commits: all rows of a commit or none, and in a plan none at all.
//
// A plan does the same writes in a transaction that is always rolled back, so that it finds every refusal of
// the resource.
import type { RequestContext } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import {
  type CatalogReader,
  type CatalogWriter,
  type ProjectCatalog,
  UniqueViolation,
} from "../../../storage/catalog.ts";
import {
  type Candidate,
  noRows,
  type RecordDestination,
  type RowComparison,
} from "../destinations/destination.ts";
import type { RowError, TransformationInput } from "../schema.ts";
import { rowErrorOf } from "./rows.ts";

export interface CommitWork extends Pick<TransformationInput, "action" | "onError"> {
  readonly destination: RecordDestination;
  /** Whether the writes are rolled back. */
  readonly isPlan: boolean;
  /** Refuses a run that has ended; for records that are written before the commit. */
  readonly requireRunning: () => Promise<void>;
  /**
   * Further writes of the same commit, in its transaction: the record of the run, and refused rows. Refuses a
   * run that has ended.
   */
  readonly alongside: (
    inside: RequestContext,
    tx: CatalogWriter,
    done: RowComparison,
    /** Whether the commit has all rows of the call. */
    isWhole: boolean,
  ) => Promise<void>;
}

/** Rows are refused, and the run ends at the first refused row. */
export class RowsRefused extends Error {
  readonly errors: readonly RowError[];
  constructor(errors: readonly RowError[]) {
    super("rows of the result were refused");
    this.errors = errors;
  }
}

/** A problem with the run rather than with its rows. */
class NotOfRows extends Error {
  constructor(cause: unknown) {
    super("the run cannot continue", { cause });
  }
}

/** Rolls a transaction back. */
class RolledBack extends Error {}

/**
 * Writes all of these rows in one commit. If the resource refuses some of them, a run that skips, and a plan,
 * find these by halves; a run that stops writes nothing and throws `RowsRefused`.
 */
export async function commitRows(
  ctx: RequestContext,
  work: CommitWork,
  rows: readonly Candidate[],
): Promise<readonly RowComparison[]> {
  if (work.destination.isWrittenBeforeCommit) return [await writeBeforeCommit(ctx, work, rows)];
  const assumed = new Set(work.isPlan ? rows.map(({ key }) => key) : []);
  const whole = await attempt(ctx, work, { rows, assumed }, true);
  if (!(whole instanceof Failure)) return [whole];
  const inOrder = work.destination.inOrder?.(rows) ?? rows;
  if (work.isPlan) return planParts(ctx, work, { rows: inOrder, assumed }, whole);
  if (work.onError === "skip") return halves(ctx, work, { rows: inOrder, assumed }, whole);
  const all = { rows: inOrder, assumed: keysOf(rows) };
  const parts = await planParts(ctx, { ...work, isPlan: true }, all, whole);
  throw new RowsRefused(parts.flatMap(({ refused }) => refused));
}

/**
 * Plans rows that the resource refuses as a whole. Rows may pass alone and be refused together, as two of one
 * name are: then the first row that those before it do not allow is refused.
 */
async function planParts(
  ctx: RequestContext,
  work: CommitWork,
  { rows, assumed }: Part,
  problem: Failure,
): Promise<readonly RowComparison[]> {
  const parts = await halves(ctx, work, { rows, assumed }, problem);
  const refused = parts.flatMap((part) => part.refused);
  const numbers = new Set(refused.map(({ row }) => row));
  const rest = rows.filter(({ row }) => !numbers.has(row));
  const together = numbers.size === 0 ? problem : await attempt(ctx, work, { rows: rest, assumed }, false);
  if (!(together instanceof Failure)) return [together, { ...noRows, refused }];
  const error = await firstRefused(ctx, work, { rows: rest, assumed }, together);
  const others = parts.map((part) => without(error.row, part));
  return [...others, { ...noRows, refused: [error] }];
}

/** Finds the shortest beginning of these rows that is refused, by halves: its last row is refused. */
async function firstRefused(
  ctx: RequestContext,
  work: CommitWork,
  { rows, assumed }: Part,
  problem: Failure,
): Promise<RowError> {
  let [passes, refused, why] = [0, rows.length, problem];
  while (refused - passes > 1) {
    ctx.signal.throwIfAborted();
    const middle = (passes + refused) >> 1;
    const result = await attempt(ctx, work, { rows: rows.slice(0, middle), assumed }, false);
    if (result instanceof Failure) [refused, why] = [middle, result];
    else passes = middle;
  }
  return rowErrorOf(rows[refused - 1]!, why);
}

function without(row: number, part: RowComparison): RowComparison {
  const isOther = (one: { readonly row: number }) => one.row !== row;
  return {
    ...part,
    creations: part.creations.filter(isOther),
    changes: part.changes.filter(isOther),
    deletions: part.deletions.filter(isOther),
    unchanged: part.unchanged.filter(isOther),
  };
}

/**
 * Writes records that are not in the catalog, then the commit that counts them. If that one fails, the
 * records are written and the next run finds them unchanged.
 */
async function writeBeforeCommit(
  ctx: RequestContext,
  { destination, action, onError, isPlan, requireRunning, alongside }: CommitWork,
  rows: readonly Candidate[],
): Promise<RowComparison> {
  const done = await destination.compare(ctx, action, rows);
  if (isPlan) return done;
  if (onError === "stop" && done.refused.length > 0) throw new RowsRefused(done.refused);
  await requireRunning();
  await destination.write(ctx, { ...done, assumed: new Set() });
  await ctx.catalog.write(ctx.projectId, (tx) => alongside(inside(ctx, tx), tx, done, true));
  return done;
}

const keysOf = (rows: readonly Candidate[]): ReadonlySet<string> => new Set(rows.map(({ key }) => key));

interface Part {
  readonly rows: readonly Candidate[];
  readonly assumed: ReadonlySet<string>;
}

async function halves(
  ctx: RequestContext,
  work: CommitWork,
  { rows, assumed }: Part,
  problem: Failure,
): Promise<readonly RowComparison[]> {
  const [first] = rows;
  if (rows.length <= 1) return first ? [await refuseOne(ctx, work, rowErrorOf(first, problem))] : [];
  const middle = rows.length >> 1;
  const found: RowComparison[] = [];
  for (const half of [rows.slice(0, middle), rows.slice(middle)]) {
    ctx.signal.throwIfAborted();
    const result = await attempt(ctx, work, { rows: half, assumed }, false);
    if (result instanceof Failure) found.push(...(await halves(ctx, work, { rows: half, assumed }, result)));
    else found.push(result);
  }
  return found;
}

async function refuseOne(ctx: RequestContext, work: CommitWork, error: RowError): Promise<RowComparison> {
  const done = { ...noRows, refused: [error] };
  if (!work.isPlan)
    await ctx.catalog.write(ctx.projectId, (tx) => work.alongside(inside(ctx, tx), tx, done, false));
  return done;
}

/** Returns the refusal of the resource if there is one; the rows are then as they were. */
async function attempt(
  ctx: RequestContext,
  work: CommitWork,
  part: Part,
  isWhole: boolean,
): Promise<RowComparison | Failure> {
  const { rows } = part;
  const atOnce = limits.transformationWriteRows;
  // A deletion may delete records of later rows too, which these would not find.
  if (work.action !== "delete" && rows.length > atOnce) {
    const inOrder = work.destination.inOrder?.(rows) ?? rows;
    const done = await attemptBy(ctx, work, { ...part, rows: inOrder, atOnce }, isWhole).catch(refusalOfRows);
    if (!(done instanceof Failure || done instanceof RowsRefused)) return done;
    // Rows that are refused one after another may pass together, such as two that exchange a unique value.
  }
  return attemptBy(ctx, work, { ...part, atOnce: rows.length }, isWhole);
}

function refusalOfRows(problem: unknown): RowsRefused {
  if (problem instanceof RowsRefused) return problem;
  throw problem;
}

/** Compares and writes `atOnce` rows after another in one transaction, so that few records wait in memory. */
async function attemptBy(
  ctx: RequestContext,
  work: CommitWork,
  { rows, assumed, atOnce }: Part & { readonly atOnce: number },
  isWhole: boolean,
): Promise<RowComparison | Failure> {
  const { destination, action, onError, isPlan } = work;
  let done: RowComparison = noRows;
  let violation: UniqueViolation | undefined;
  const commit = () =>
    ctx.catalog.write(ctx.projectId, async (tx) => {
      const within = inside(ctx, tx, (problem) => {
        violation ??= problem;
      });
      const found: RowComparison[] = [];
      for (let from = 0; from < rows.length; from += atOnce) {
        const compared = await destination.compare(within, action, rows.slice(from, from + atOnce));
        if (onError === "stop" && !isPlan && compared.refused.length > 0)
          throw new RowsRefused(compared.refused);
        await destination.write(within, { ...compared, assumed });
        found.push(compared);
      }
      done = together(found);
      if (isPlan) throw new RolledBack();
      await work.alongside(within, tx, done, isWhole).catch((problem: unknown) => {
        throw new NotOfRows(problem);
      });
    });
  try {
    await (isPlan ? commit() : destination.guard(ctx, commit));
  } catch (problem) {
    if (problem instanceof NotOfRows) throw problem.cause;
    // A full disk or a catalog that is away is no fault of a row: a run that skips would leave the rows out.
    if (problem instanceof Failure && problem.status >= 500) throw problem;
    if (problem instanceof Failure) return problem;
    if (violation) return fail("transformation-row-taken", { columns: violation.columns });
    if (!(problem instanceof RolledBack)) throw problem;
  }
  return done;
}

const together = (parts: readonly RowComparison[]): RowComparison => ({
  creations: parts.flatMap(({ creations }) => creations),
  changes: parts.flatMap(({ changes }) => changes),
  deletions: parts.flatMap(({ deletions }) => deletions),
  unchanged: parts.flatMap(({ unchanged }) => unchanged),
  refused: parts.flatMap(({ refused }) => refused),
  repeated: 0,
});

/** The context of functions that read in this transaction, which cannot write. */
export function inTransaction(ctx: RequestContext, tx: CatalogReader): RequestContext {
  const catalog: ProjectCatalog = {
    read: (tenant, work) => (tenant === ctx.projectId ? work(tx) : ctx.catalog.read(tenant, work)),
    write: () => Promise.reject(new Error("a read transaction does not write")),
    lastId: () => ctx.catalog.lastId(),
    close: () => Promise.resolve(),
  };
  return { ...ctx, catalog };
}

/** The context of functions that read and write in this transaction. */
export function inside(
  ctx: RequestContext,
  tx: CatalogWriter,
  onViolation: (problem: UniqueViolation) => void = () => {},
): RequestContext {
  const { catalog, ...reading } = inTransaction(ctx, tx);
  const write: ProjectCatalog["write"] = (_project, work) =>
    work(tx).catch((problem: unknown) => {
      if (problem instanceof UniqueViolation) onViolation(problem);
      throw problem;
    });
  return { ...reading, catalog: { ...catalog, write } };
}
