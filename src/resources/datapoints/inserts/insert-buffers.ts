// Owns the memory that the decoder of inserts uses again: growing columns, names, and that of its kernel.
import { fail } from "../../../errors.ts";
import { StringCache } from "../../../lib/string-cache.ts";
import { limits } from "../../../limits.ts";
import { InsertKernel } from "./insert-kernel.ts";

/** The server has one. Only decoders that never wait may use it, since every other insert uses it as well. */
export class InsertBuffers {
  readonly columns = new InsertColumns();
  readonly names = new StringCache();
  readonly kernel = new InsertKernel();
}

/** An insert whose decoder waits needs columns of its own. */
export class InsertColumns {
  /** The builder that uses the columns. A builder that finishes must still be it. */
  user: unknown;
  times = new Float64Array(16_384);
  values = new Float64Array(16_384);
  /** Points in `times` and `values`. */
  count = 0;
  numberEnds = new Uint32Array(1024);
  stringEnds = new Uint32Array(1024);

  /** Columns do not grow beyond one insert's limit, so a body that is too long is not read to its end. */
  growPoints(): void {
    if (this.count > limits.pointsPerWriteMax) throw tooManyPoints();
    this.times = doubled(this.times);
    this.values = doubled(this.values);
  }

  growRuns(): void {
    const runs = this.numberEnds.length;
    if (runs > limits.pointsPerWriteMax) throw tooManyPoints();
    this.numberEnds = doubled(this.numberEnds);
    this.stringEnds = doubled(this.stringEnds);
  }
}

/** Without `got`, the decoder stopped before the end of the body. */
export const tooManyPoints = (got?: number) =>
  fail("too-many", { field: "items", limit: limits.pointsPerWriteMax, ...(got !== undefined && { got }) });

function doubled<Column extends Float64Array | Uint32Array>(column: Column): Column {
  const larger = new (column.constructor as new (length: number) => Column)(column.length * 2);
  larger.set(column);
  return larger;
}
