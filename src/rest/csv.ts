// The option of CSV responses that disarms formulas in cells.
import { asItIs, type CellText, withoutFormula } from "../lib/csv.ts";
import { boolean } from "./parameters.ts";

export const csvQuery = {
  escapeFormulas: boolean(
    "CSV only: put an apostrophe before each string that a spreadsheet would run as a formula",
  ),
};

export const cellTextFor = ({
  escapeFormulas,
}: {
  readonly escapeFormulas: boolean | undefined;
}): CellText => (escapeFormulas ? withoutFormula : asItIs);
