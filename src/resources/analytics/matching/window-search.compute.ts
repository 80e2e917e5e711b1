// A search for a window as a computation of the compute thread: takes samples piece by piece, then gives the
// best matches.
import type { Computation } from "../../../compute/computation.ts";
import type { FoundWindow } from "./best-windows.ts";
import { type Grid, GridRows } from "./grid-rows.ts";
import { type Samples, WindowSearch, type WindowWanted } from "./window-search.ts";

export interface SearchStart extends WindowWanted {
  /** Absent when samples come as they are. */
  readonly grid?: Grid;
}

export type SearchQuestion =
  | { readonly kind: "samples"; readonly samples: Samples }
  | { readonly kind: "best" };

export interface SearchAnswer {
  /** Samples so far, over all columns, filled ones included. */
  readonly samples: number;
  readonly best: readonly FoundWindow[];
}

export type WindowSearching = Computation<SearchStart, SearchQuestion, SearchAnswer>;

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
