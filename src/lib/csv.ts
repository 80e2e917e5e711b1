// Cells of CSV in responses and reports (RFC 4180).

/** A cell, in quotes only if they are needed (docs/reference/common.md#csv-for-spreadsheets). */
export const csvCell = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Converts a string of the data before it is quoted. */
export type CellText = (text: string) => string;

export const asItIs: CellText = (text) => text;

/** Puts an apostrophe before a string that a spreadsheet would run as a formula. Numbers are unchanged. */
export const withoutFormula: CellText = (text) =>
  formulaStart.test(text) && !plainNumber.test(text.trim()) ? `'${text}` : text;

/** Spreadsheets skip white space and control characters, and some accept the full-width forms. */
const formulaStart = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;
const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
