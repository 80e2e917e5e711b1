// Runs a search in the compute thread: takes samples in parts, then returns the best matches.
import type { Computation } from "../../../compute/computation.ts";
import type { FoundWindow } from "./best-windows.ts";
import { type Grid, GridRows } from "./grid-rows.ts";
import { type Samples, type WindowQuery, WindowSearch } from "./window-search.ts";

export interface SearchStart extends WindowQuery {
  /** Absent for points, which have no grid. */
  readonly grid?: Grid;
}

export type SearchCall = { readonly kind: "samples"; readonly samples: Samples } | { readonly kind: "best" };

export interface SearchProgress {
  /** The samples so far, of all columns, with filled ones. */
  readonly samples: number;
  readonly best: readonly FoundWindow[];
}

export type WindowSearching = Computation<SearchStart, SearchCall, SearchProgress>;

export const computation: WindowSearching = ({ grid, ...wanted }) => {
  const search = new WindowSearch(wanted);
  const rows = grid && new GridRows(grid);
  let samples = 0;
  function* add(read: Samples) {
    samples += read.times.length * read.columns.length;
    yield* search.add(read);
  }
  return function* (question) {
    if (question.kind === "samples") {
      yield* add(rows ? rows.add(question.samples) : question.samples);
      return { samples, best: [] };
    }
    if (rows) yield* add(rows.end());
    return { samples, best: yield* search.best() };
  };
};
