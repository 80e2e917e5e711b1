// The warning before an import of a CSV file with a quote that is not closed.
import { Alert } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { countText } from "../lib/format.ts";

/** Nothing when no row has such a quote. */
export function OpenQuote({ row }: { row: number | undefined }) {
  if (row === undefined) return null;
  return (
    <Alert
      color="orange"
      role="alert"
      icon={<TriangleAlert size={18} aria-hidden />}
      title={`A quote opens in row ${countText(row)} and is not closed`}
    >
      The rest of the file becomes one cell of this row. Close the quote in the file and choose the file
      again. A quote inside of quotes is written twice.
    </Alert>
  );
}
