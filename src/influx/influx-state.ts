// The state that writes in line protocol share.
import { LineColumnsPool } from "./line-columns.ts";
import { SeriesNames } from "./series-names.ts";

/** One for each server. */
export class InfluxState {
  readonly names = new SeriesNames();
  readonly columns = new LineColumnsPool();
}
